// The jobs of tables: what takes longer than a request, in chunks, each a commit of its own with the job's progress in
// it.
//
//   table_erase   takes away what was in a table that is dropped
//   index_build   adds the rows from before an index to it, and makes it ready
//   index_drop    takes away the entries of an index, and forgets it
//   row_expiry    takes away rows whose time has come, with all that hangs on them
#pragma once

#include "core/job.h"
#include "core/job_runner.h"
#include "core/store.h"
#include "model/table/table_info.h"

namespace kvarts {

JobSpec TableEraseJob(const KeyRange& range);
// Of a unique index, rows that cannot both be in it are listed in _findings, and the job fails once it has seen all of
// them, or kMaxFindings. Resumed, it looks at those again, and goes on.
JobSpec IndexBuildJob(const TableInfo::Stored& table, const TableIndex& index, uint32_t throttle);
JobSpec IndexDropJob(const TableInfo::Stored& table, const TableIndex& index);
JobSpec RowExpiryJob();

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

}  // namespace kvarts
