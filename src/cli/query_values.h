// The values of a query, which a command line has as texts, in the types that the table declares: 17 is a number in one
// field and a text in another. Where nothing is declared, what is a JSON number, text, true, false or null is that, and
// everything else a text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/json_object.h"
#include "model/table/key_value.h"

namespace kvarts::cli {

// A field that a query has a value for.
struct QueryField {
  std::string name;                  // or the path, of an index
  std::optional<KeyType> type = {};  // nothing: any
};

// By what rows are found: the fields of a table's key, or those of one of its indexes.
struct QueryFields {
  std::vector<QueryField> partition;
  std::vector<QueryField> sort;

  // Of the answer that describes the table; `index` is empty for its own key. `not_found` when it has no such index.
  static Result<QueryFields> Of(const JsonObject& table, const std::string& index);

  // A value as JSON. `invalid_argument` when the text is none of the type.
  static Result<std::string> ValueJson(const QueryField& field, const std::string& text);
  // "NAME=VALUE" of every partition field, as a JSON object.
  Result<std::string> PartitionJson(const std::vector<std::string>& words) const;
  // The sort field at a place; `invalid_argument` when there are fewer.
  Result<QueryField> SortAt(size_t place) const;
};

}  // namespace kvarts::cli
