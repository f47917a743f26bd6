// The jobs of tables: what takes longer than a request, in chunks, each a commit of its own with the job's progress in
// it.
//
//   table_erase   takes away what was in a table that is dropped, and what jobs have left about it
//   index_build   adds the rows from before an index to it, and makes it ready
//   index_drop    takes away the entries of an index, and forgets it
//   row_expiry    takes away rows whose time has come, with all that hangs on them
//   table_retention  takes away the rows of time buckets that are not kept any more
//   table_verify  compares the indexes of a table with its rows (index_verify.h)
//   table_repair  mends them (index_repair.h)
//   table_undo    takes such a repair back
#pragma once

#include "core/job.h"
#include "core/job_runner.h"
#include "core/store.h"
#include "model/table/drift_job.h"
#include "model/table/table_info.h"

namespace kvarts {

// `total` is by estimate, of what the job goes through one by one: rows, entries, or keys of any kind.
JobSpec TableEraseJob(const TableInfo& table, std::optional<uint64_t> total = {});
// Of a unique index, rows that cannot both be in it are listed in _findings, and the job fails once it has seen all of
// them, or kMaxFindings. Resumed, it looks at those again, and goes on.
JobSpec IndexBuildJob(const TableInfo::Stored& table, const TableIndex& index, uint32_t throttle,
                      std::optional<uint64_t> total = {});
JobSpec IndexDropJob(const TableInfo::Stored& table, const TableIndex& index, std::optional<uint64_t> total = {});
JobSpec RowExpiryJob();
JobSpec TableRetentionJob();
inline constexpr const char* kTableVerify = "table_verify";
inline constexpr const char* kTableRepair = "table_repair";
inline constexpr const char* kTableUndo = "table_undo";
JobSpec TableVerifyJob(const DriftJob& job, uint32_t throttle, std::optional<uint64_t> total);
// Goes by the findings of a verification if it is of one, else over everything.
JobSpec TableRepairJob(const DriftJob& job, uint32_t throttle, std::optional<uint64_t> total);
// Of a repair.
JobSpec TableUndoJob(const DriftJob& job);

inline constexpr size_t kMaxFindings = 1000;

// The store outlives them.
std::vector<JobKind> TableJobKinds(Store& store);

// Which index of which table a job is about.
struct IndexPlace {
  ProjectId project;
  DatasetId dataset;
  TableId table;
  IndexNumber index;

  Bytes Encode() const;
  static Result<IndexPlace> Decode(BytesView parameters);
};

// Where a job works that is about one table: an index of it, or kRowsNumber. Nothing of any other job.
std::optional<IndexPlace> PlaceOfJob(const JobRecord& job);

}  // namespace kvarts
