// Rows of a table as a command prints them: on a terminal as a table or field by field, into a pipe each row as a line
// of JSON, and with --json each with its version and all else that the server says about it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/json_object.h"

namespace kvarts::cli {

// Rows of a page, each as it is written in the answer: {"key": {…}, "value": {…}, …}.
Status PrintRows(const Arguments& arguments, const std::vector<std::string>& rows);
// One row, with more space for it.
Status PrintRow(const Arguments& arguments, const std::string& row);

// The fields of a key as words, with blanks between: "ada 17".
std::string KeyWords(const JsonObject& row);

}  // namespace kvarts::cli
