// What the commands about projects, datasets and tables have in common: each of them has a name in a place, is listed,
// made, renamed and dropped.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/answers.h"
#include "cli/arguments.h"
#include "cli/client.h"

namespace kvarts::cli {

// --if-missing, for what may be there already.
OptionSyntax IfMissingOption();

// Everything in a place, page after page: a table, or with --json an object per line. `items` is the field of the
// answer that has them.
Result<int> ListNames(const Arguments& arguments, const std::string& path, std::string_view items);
// What GET says of it: a line per field.
Result<int> ShowFields(const Arguments& arguments, const std::string& path);
// Sends what makes it. It must be new; with --if-missing what is there stays as it is.
Result<int> Create(const Arguments& arguments, Request request);
// To the name that is the second argument.
Result<int> Rename(const Arguments& arguments, const std::string& path);
// It is gone at once; where there was something in it, a job takes that away.
Result<int> Drop(const Arguments& arguments, const std::string& path);

}  // namespace kvarts::cli
