// Starting the jobs that take away rows whose time has come.
#include <algorithm>

#include "core/expiry.h"
#include "core/keyspace.h"
#include "model/table/table_jobs.h"
#include "model/table/tables.h"

namespace kvarts {
namespace {

Result<bool> AnyHasRetention(Engine& engine) {
  KVARTS_TRY(const std::unique_ptr<View> view, engine.OpenView());
  std::optional<Bytes> place = Bytes();
  while (place) {
    KVARTS_TRY(TablesPage page, ReadTables(*view, *place, 100));
    const auto wants = [](const TablePtr& table) { return table->spec().retention.has_value(); };
    if (std::ranges::any_of(page.tables, wants)) return true;
    place = std::move(page.rest);
  }
  return false;
}

}  // namespace

Result<std::optional<JobId>> Tables::StartExpiry() {
  KVARTS_TRY(const std::unique_ptr<View> view, store_.engine().OpenView());
  KVARTS_TRY(const bool due, MayBeDue(*view, SpaceRange(Space::kTables)));
  if (!due) return std::optional<JobId>();
  return Jobs(store_).StartUnlessQueued(RowExpiryJob());
}

Result<std::optional<JobId>> Tables::StartRetention() {
  // Where a range costs as much as what is in it, what has expired goes as well without.
  if (store_.engine().capabilities().shared) return std::optional<JobId>();
  KVARTS_TRY(const bool any, AnyHasRetention(store_.engine()));
  if (!any) return std::optional<JobId>();
  return Jobs(store_).StartUnlessQueued(TableRetentionJob());
}

}  // namespace kvarts
