#include "model/table/drift_job.h"

#include <algorithm>

#include "core/fields.h"
#include "model/table/catalog_rows.h"
#include "model/table/table_jobs.h"

namespace kvarts {

DriftJob DriftJob::About(const TableInfo& table) {
  DriftJob job;
  job.project = table.stored().project;
  job.dataset = table.stored().dataset;
  job.table = table.stored().id;
  for (const TableIndex& index : table.indexes()) {
    if (index.state == IndexState::kReady) job.indexes.push_back(index.number);
  }
  return job;
}

Bytes DriftJob::Encode() const {
  Bytes bytes;
  AppendSized(&bytes, IndexPlace{project, dataset, table, kRowsNumber}.Encode());
  AppendSized(&bytes, of ? BytesView(reinterpret_cast<const char*>(of->uuid.bytes.data()), of->uuid.bytes.size())
                         : BytesView());
  AppendVarint(&bytes, indexes.size());
  for (const IndexNumber index : indexes) AppendVarint(&bytes, index.value);
  return bytes;
}

Result<DriftJob> DriftJob::Decode(BytesView parameters) {
  FieldReader fields(parameters);
  const BytesView place_bytes = fields.Sized();
  const BytesView of = fields.Sized(sizeof(Uuid::bytes));
  fields.Require(of.empty() || of.size() == sizeof(Uuid::bytes), "no id of a job");
  DriftJob job;
  for (uint64_t left = fields.Varint(TableSpec::kMaxIndexes); left != 0; --left)
    job.indexes.push_back({fields.Varint()});
  KVARTS_CHECK_OK(fields.Finish("the parameters of a job are damaged"));
  KVARTS_TRY(const IndexPlace place, IndexPlace::Decode(place_bytes));
  job.project = place.project;
  job.dataset = place.dataset;
  job.table = place.table;
  if (!of.empty()) std::ranges::copy(of, job.of.emplace().uuid.bytes.begin());
  return job;
}

Result<TablePtr> DriftJob::ReadTable(Txn& txn) const { return kvarts::ReadTable(txn, project, dataset, table); }

Result<uint64_t> EstimateWalk(Engine& engine, const TableInfo& table, const DriftJob& job) {
  KVARTS_TRY(const RangeEstimate rows, engine.Estimate(KeyRange::Prefix(table.rows())));
  uint64_t total = rows.entries;
  for (const IndexNumber index : job.indexes) {
    const KeyBuffer prefix = IndexPrefix(table.stored().number, index);
    KVARTS_TRY(const RangeEstimate entries, engine.Estimate(KeyRange::Prefix(prefix)));
    total += entries.entries;
  }
  return total;
}

}  // namespace kvarts
