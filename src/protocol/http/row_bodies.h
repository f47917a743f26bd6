// The JSON bodies of requests about tables and rows, as typed commands. Every input error that can be seen without the
// table is found here, with the way to the field that is wrong.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "encoding/json_reader.h"
#include "model/table/query.h"
#include "protocol/http/row_commands.h"

namespace kvarts::http {

// A body that is a row, or a merge patch of one.
Result<Bytes> ParseRow(std::string_view body);
// {"update": {…}} or {"patch": {…}}: a change of a row whose key is known otherwise.
Result<PatchRow> ParseRowPatch(std::string_view body);

// {"keys": [{…}, …], "fields": ["a", "b.c"]}, at most so many.
struct RowKeysBody {
  std::vector<Bytes> keys;
  std::optional<Projection> fields;
};
Result<RowKeysBody> ParseRowKeys(std::string_view body, size_t at_most);

// How large pages are.
struct PageBounds {
  size_t usual;
  size_t at_most;
  size_t max_bytes;
};
// {"index": …, "partition": {…}, "sort": […], "from": {"value": …, "inclusive": …}, "to": {…}, "prefix": …,
// "reverse": …, "filter": …, "fields": […], "limit": …, "maxBytes": …, "cursor": …}
Result<RowQuery> ParseRowQuery(std::string_view body, const PageBounds& bounds);
// {"parts": 4, "filter": …}
struct SplitBody {
  size_t parts = 0;
  std::optional<Condition> filter;
};
Result<SplitBody> ParseSplit(std::string_view body);

// {"commands": [{"op": "put", "table": {"project": …, "dataset": …, "table": …}, "row": {…}}, …]}
Result<std::vector<TableCommand>> ParseRowBatch(std::string_view body, size_t max_operations);

// What a command about a row may say besides its op; which of it belongs there is checked when it is made.
struct RowFields {
  std::optional<TablePath> table;
  std::optional<Bytes> key;
  std::optional<Bytes> row;
  std::optional<Bytes> patch;
  std::optional<std::vector<FieldUpdate>> update;
  std::optional<WriteCondition> condition;
  std::optional<Condition> where;
  std::optional<bool> make;
  std::optional<bool> missing_ok;
  TableCommand::Return shows = TableCommand::Return::kNone;
  bool any = false;  // there is one
};
// Reads a field if it is one of these.
bool ReadRowField(JsonReader& json, std::string_view name, RowFields* fields);
// `op` is put, patch or delete.
TableCommand MakeRowCommand(JsonReader& json, std::string_view op, RowFields fields);

}  // namespace kvarts::http
