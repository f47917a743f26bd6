#include "model/table/job_rows.h"

#include "model/table/rows.h"

namespace kvarts {

void JobRows::WriteKey(uint64_t number, DocumentWriter* to) const {
  to->Name("table").Text(table.ToString()).Name("job").Text(job.ToString());
  to->Name("number").Int(static_cast<int64_t>(number));
}

void JobRows::WriteEnd(Timestamp now, DocumentWriter* to) {
  const Result<Timestamp> end = ExpiryAfter(now, kKeepJobRows);
  // Beyond the last instant that a clock can show, it is kept for good.
  if (end.has_value()) to->Name(kJobRowEnd).Text(end->ToString());
}

Result<uint64_t> JobRows::NumberOf(const DocumentView& row) {
  const std::optional<DocumentView> field = FieldOf(row, "number", DocumentKind::kNumber);
  const std::optional<int64_t> number = field ? field->Number().ToInt() : std::nullopt;
  if (number && *number >= 0) return static_cast<uint64_t>(*number);
  return Error(ErrorCode::kCorruption, "a row that a job has left is damaged", {{"field", "number"}});
}

Result<KeyBuffer> JobRows::KeyOf(uint64_t number) const {
  Bytes key;
  DocumentWriter writer(&key);
  writer.BeginMap();
  WriteKey(number, &writer);
  writer.EndMap();
  return RowKeyOf(in, DocumentView(key));
}

KeyRange JobRows::range() const {
  KeyBuffer partition;
  partition.append(in.rows());
  TupleWriter<KeyBuffer>(&partition).Begin().Uuid(table.uuid).Uuid(job.uuid).End();
  return KeyRange::Prefix(partition);
}

KeyRange JobRows::RangeOf(const TableInfo& in, TableId table) {
  KeyBuffer partitions;
  partitions.append(in.rows());
  TupleWriter<KeyBuffer>(&partitions).Begin().Uuid(table.uuid);
  return KeyRange::Prefix(partitions);
}

Status JobRows::Erase(Txn& txn, uint64_t number) const {
  KVARTS_TRY(const KeyBuffer key, KeyOf(number));
  txn.Erase(key);
  return {};
}

std::optional<DocumentView> FieldOf(const DocumentView& row, std::string_view name, DocumentKind kind) {
  std::optional<DocumentView> field = row.Find(name);
  if (field && field->kind() != kind) field.reset();
  return field;
}

}  // namespace kvarts
