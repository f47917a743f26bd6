// Declarations of tables and indexes, as people read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/json_object.h"

namespace kvarts::cli {

// The fields of a key or an index under this name, as they are typed on a command line: "customer:text, n:number:desc".
std::string FieldWords(const JsonObject& declared, std::string_view name);
// A table with a line for each.
std::string IndexesText(const std::vector<JsonObject>& indexes);
// A table's declaration with its key in words and its indexes as a table behind it.
Result<std::string> DeclaredText(const JsonObject& table);

}  // namespace kvarts::cli
