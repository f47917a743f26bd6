// How the indexes of a table are verified and mended: what starts the jobs.
#include "model/table/drift_job.h"
#include "model/table/findings.h"
#include "model/table/job_rows.h"
#include "model/table/table_jobs.h"
#include "model/table/tables.h"

namespace kvarts {
namespace {

Error NoSuchJob(JobId id) {
  return Error(ErrorCode::kNotFound, "there is no such job of the table", {{"job", id.ToString()}});
}

// That the job is one of the kind, about the table, and has ended.
Status CheckOf(const JobRecord& of, const char* kind, const TableInfo& table) {
  if (of.kind != kind) return NoSuchJob(of.id);
  KVARTS_TRY(const DriftJob about, DriftJob::Decode(of.parameters));
  if (about.table != table.stored().id) return NoSuchJob(of.id);
  if (HasEnded(of.state)) return {};
  return Error(ErrorCode::kPreconditionFailed, "the job has not ended yet",
               {{"job", of.id.ToString()}, {"state", std::string(JobStateName(of.state))}});
}

// What a job has left in the journal outlives its record.
Result<bool> HasJournal(Txn& txn, const TableInfo& table, JobId job) {
  ScanRequest request;
  request.range = JobRows{*JournalTable(), table.stored().id, job}.range();
  request.keys_only = true;
  request.max_entries = 1;
  KVARTS_TRY(const ScanPage page, txn.Scan(request));
  return !page.empty();
}

}  // namespace

Result<JobId> Tables::StartVerify(const TablePath& path, uint32_t throttle, RunOptions options) {
  KVARTS_TRY(const TablePtr known, Find(path));
  KVARTS_TRY(const uint64_t total, EstimateWalk(store_.engine(), *known, DriftJob::About(*known)));
  return store_.Run(
      [&](Txn& txn) -> Result<JobId> {
        KVARTS_TRY(const TablePtr table, Use(txn, path));
        return StartJob(txn, TableVerifyJob(DriftJob::About(*table), throttle, total));
      },
      std::move(options));
}

Result<JobId> Tables::StartRepair(const TablePath& path, std::optional<JobId> verified, uint32_t throttle,
                                  RunOptions options) {
  KVARTS_TRY(const TablePtr known, Find(path));
  std::optional<uint64_t> total;
  if (!verified) {
    KVARTS_TRY(total, EstimateWalk(store_.engine(), *known, DriftJob::About(*known)));
  }
  return store_.Run(
      [&](Txn& txn) -> Result<JobId> {
        KVARTS_TRY(const TablePtr table, Use(txn, path));
        if (verified) {
          KVARTS_TRY(const JobRecord of, ReadJob(txn, *verified));
          KVARTS_CHECK_OK(CheckOf(of, kTableVerify, *table));
        }
        DriftJob job = DriftJob::About(*table);
        job.of = verified;
        return StartJob(txn, TableRepairJob(job, throttle, total));
      },
      std::move(options));
}

Result<JobId> Tables::UndoRepair(const TablePath& path, JobId repair, RunOptions options) {
  return store_.Run(
      [&](Txn& txn) -> Result<JobId> {
        KVARTS_TRY(const TablePtr table, Use(txn, path));
        const Result<JobRecord> of = ReadJob(txn, repair);
        if (of.has_value()) {
          KVARTS_CHECK_OK(CheckOf(*of, kTableRepair, *table));
        } else {
          if (of.error().code() != ErrorCode::kNotFound) return of.error();
          KVARTS_TRY(const bool has, HasJournal(txn, *table, repair));
          if (!has) return NoSuchJob(repair);
        }
        DriftJob job = DriftJob::About(*table);
        job.of = repair;
        return StartJob(txn, TableUndoJob(job));
      },
      std::move(options));
}

Result<std::vector<Finding>> Tables::FindingsOf(const TablePath& path, JobId job, uint64_t from, size_t limit) {
  KVARTS_TRY(const TablePtr table, Find(path));
  const TableId id = table->stored().id;
  return store_.Run([&](Txn& txn) -> Result<std::vector<Finding>> {
    KVARTS_TRY(std::vector<Finding> findings, PeekFindings(txn, id, job, from, limit));
    if (!findings.empty()) return findings;
    const Result<JobRecord> of = ReadJob(txn, job);
    if (of.has_value()) {
      const std::optional<IndexPlace> place = PlaceOfJob(*of);
      if (!place || place->table != id) return NoSuchJob(job);
      return findings;
    }
    if (of.error().code() != ErrorCode::kNotFound) return of.error();
    // Behind the last one.
    KVARTS_TRY(const std::vector<Finding> first, PeekFindings(txn, id, job, 0, 1));
    if (first.empty()) return NoSuchJob(job);
    return findings;
  });
}

}  // namespace kvarts
