// Starting the job that takes away rows whose time has come.
#include "core/keyspace.h"
#include "model/table/table_jobs.h"
#include "model/table/tables.h"

namespace kvarts {
namespace {

// Whether the order of expiry begins with something whose time has come. It may have been written again since: who
// looks at it closely is the job.
Result<bool> SomethingIsDue(Engine& engine) {
  KVARTS_TRY(const std::unique_ptr<View> view, engine.OpenView());
  KeyBuffer first_later;
  BeginKey(&first_later, Space::kExpiry).Time({view->time().micros + 1});
  ScanRequest request;
  request.range = {SpaceRange(Space::kExpiry).start, Bytes(first_later.view())};
  request.keys_only = true;
  request.max_entries = 1;
  KVARTS_TRY(const ScanPage page, view->Scan(request));
  return !page.empty();
}

}  // namespace

Result<std::optional<JobId>> Tables::StartExpiry() {
  KVARTS_TRY(const bool due, SomethingIsDue(store_.engine()));
  if (!due) return std::optional<JobId>();
  return store_.Run([](Txn& txn) -> Result<std::optional<JobId>> {
    const JobSpec spec = RowExpiryJob();
    KVARTS_TRY(const bool queued, IsJobQueued(txn, spec.kind));
    if (queued) return std::optional<JobId>();
    KVARTS_TRY(const JobId job, StartJob(txn, spec));
    return std::optional<JobId>(job);
  });
}

}  // namespace kvarts
