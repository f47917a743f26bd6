#include "api/row_convert.h"

#include "api/access.h"
#include "document/items.h"
#include "encoding/document_writer.h"
#include "model/table/query_range.h"

namespace kvarts {
namespace {

Row HeadOf(const FoundRow& found) {
  Row row;
  row.version = found.version;
  if (found.expiry != kNever) row.expiry = found.expiry;
  row.updated_by = found.envelope.actor;
  row.trace = found.envelope.trace;
  row.schema_version = found.envelope.schema;
  return row;
}

Result<std::optional<Condition>> ParseCondition(std::string_view text) {
  if (text.empty()) return std::optional<Condition>();
  KVARTS_TRY(Condition condition, Condition::Parse(text));
  return std::optional<Condition>(std::move(condition));
}

Result<std::optional<Projection>> ParseFields(const std::vector<std::string>& fields) {
  if (fields.empty()) return std::optional<Projection>();
  KVARTS_TRY(Projection projection, Projection::Parse(fields));
  return std::optional<Projection>(std::move(projection));
}

Result<Bytes> DocumentOf(const Item& item) {
  Bytes document;
  DocumentWriter writer(&document);
  KVARTS_CHECK_OK(WriteItem(item, &writer));
  return document;
}

// The partition of a query as a map: of the table's own fields, or those of a global index by the text of their paths.
Result<Bytes> PartitionOf(const TableInfo& table, const Query& query) {
  std::vector<std::string> names;
  const TableIndex* index = nullptr;
  if (!query.index.empty()) {
    KVARTS_TRY(index, ReadableIndex(table, query.index));
  }
  if (index != nullptr && !index->spec.local) {
    for (const IndexField& field : index->spec.partition) names.push_back(field.path.ToString());
  } else {
    for (const KeyField& field : table.key().partition) names.push_back(field.name);
  }
  if (names.size() != query.partition.size()) {
    return Error(ErrorCode::kInvalidArgument, "a query has a value for each partition field",
                 {{"expected", std::to_string(names.size())}, {"values", std::to_string(query.partition.size())}});
  }
  Bytes partition;
  DocumentWriter writer(&partition);
  writer.BeginMap();
  for (size_t i = 0; i < names.size(); ++i) KVARTS_CHECK_OK(WriteItem(query.partition[i], &writer.Name(names[i])));
  writer.EndMap();
  return partition;
}

Result<std::optional<SortBound>> BoundOf(const std::optional<Item>& value, bool inclusive) {
  if (!value) return std::optional<SortBound>();
  KVARTS_TRY(Bytes document, DocumentOf(*value));
  return std::optional<SortBound>({std::move(document), inclusive});
}

}  // namespace

std::optional<Row> ToRow(ReadRow read) {
  if (!read.record) return std::nullopt;
  return ToRow(std::move(read.record), read.row);
}

std::optional<Row> ToRow(std::optional<Record> record, const std::optional<FoundRow>& found) {
  if (!record || !found) return std::nullopt;
  Row row = HeadOf(*found);
  // Where the document stands in the value, which moves with it.
  const auto from = static_cast<size_t>(found->document.data() - record->value.data());
  row.document = DocumentAccess::Of(std::move(record->value), from, found->document.size());
  return row;
}

Rows ToRows(RowPage page) {
  Rows rows;
  rows.cursor = std::move(page.cursor);
  rows.examined = page.examined;
  rows.rows.reserve(page.rows.size());
  for (const FoundRow& found : page.rows) {
    Row& row = rows.rows.emplace_back(HeadOf(found));
    row.document = DocumentAccess::Of(std::string(found.document));
  }
  return rows;
}

Result<RowCondition> ConditionOf(const RowOptions& options) {
  RowCondition condition;
  const int stated = (options.if_version ? 1 : 0) + (options.if_absent ? 1 : 0) + (options.if_present ? 1 : 0);
  if (stated > 1) {
    return Error(ErrorCode::kInvalidArgument, "a write asks for one of if_version, if_absent and if_present");
  }
  if (options.if_version) condition.version = {WriteCondition::Kind::kVersionIn, {*options.if_version}};
  if (options.if_absent) condition.version.kind = WriteCondition::Kind::kAbsent;
  if (options.if_present) condition.version.kind = WriteCondition::Kind::kPresent;
  KVARTS_TRY(condition.where, ParseCondition(options.where));
  return condition;
}

Result<RowQuery> ToQuery(const TableInfo& table, const Query& query) {
  RowQuery to;
  to.index = query.index;
  KVARTS_TRY(to.partition, PartitionOf(table, query));
  for (const Item& item : query.sort) {
    KVARTS_TRY(Bytes value, DocumentOf(item));
    to.sort.push_back(std::move(value));
  }
  KVARTS_TRY(to.from, BoundOf(query.from, query.from_inclusive));
  KVARTS_TRY(to.to, BoundOf(query.to, query.to_inclusive));
  if (query.prefix) {
    KVARTS_TRY(to.prefix, DocumentOf(*query.prefix));
  }
  to.reverse = query.reverse;
  KVARTS_TRY(to.filter, ParseCondition(query.filter));
  KVARTS_TRY(to.projection, ParseFields(query.fields));
  to.limit = query.limit;
  to.max_bytes = query.max_bytes;
  to.cursor = query.cursor;
  return to;
}

Result<RowScan> ToScan(const TableScan& scan) {
  RowScan to;
  KVARTS_TRY(to.filter, ParseCondition(scan.filter));
  KVARTS_TRY(to.projection, ParseFields(scan.fields));
  to.limit = scan.limit;
  to.max_bytes = scan.max_bytes;
  to.cursor = scan.cursor;
  return to;
}

}  // namespace kvarts
