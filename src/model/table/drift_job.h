// What a job that verifies or mends the indexes of a table is about.
#pragma once

#include <optional>
#include <vector>

#include "core/job.h"
#include "core/txn.h"
#include "model/table/table_info.h"

namespace kvarts {

struct DriftJob {
  ProjectId project;
  DatasetId dataset;
  TableId table;
  // Those that were ready when it was started; one that becomes ready on the way is for the next.
  std::vector<IndexNumber> indexes = {};
  // The job whose findings or journal it goes by, if it goes by one.
  std::optional<JobId> of = {};

  static DriftJob About(const TableInfo& table);
  Bytes Encode() const;
  // Any bytes are one or `corruption`.
  static Result<DriftJob> Decode(BytesView parameters);
  // The table as it is now; null when it is gone.
  Result<TablePtr> ReadTable(Txn& txn) const;
};

// How many rows, and entries of the job's indexes, there are by estimate: its total. Not for bodies.
Result<uint64_t> EstimateWalk(Engine& engine, const TableInfo& table, const DriftJob& job);

}  // namespace kvarts
