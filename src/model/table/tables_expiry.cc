// Starting the job that takes away rows whose time has come.
#include "core/expiry.h"
#include "core/keyspace.h"
#include "model/table/table_jobs.h"
#include "model/table/tables.h"

namespace kvarts {

Result<std::optional<JobId>> Tables::StartExpiry() {
  KVARTS_TRY(const std::unique_ptr<View> view, store_.engine().OpenView());
  KVARTS_TRY(const bool due, MayBeDue(*view, SpaceRange(Space::kTables)));
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
