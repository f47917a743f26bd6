// Projects, datasets and tables as words of a command line: acme, acme/shop and acme/shop/orders. Names need no
// encoding in a path, so a word that was checked becomes one as it is.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/arguments.h"

namespace kvarts::cli {

// "/projects/acme", "/projects/acme/datasets/shop", "/projects/acme/datasets/shop/tables/orders". `invalid_argument`
// for a word with more or fewer names, or with something that is no name.
Result<std::string> ProjectUrl(std::string_view word);
Result<std::string> DatasetUrl(std::string_view word);
Result<std::string> TableUrl(std::string_view word);

// That the first argument is such a word: for Syntax::check.
Status CheckProjectWord(const Arguments& arguments);
Status CheckDatasetWord(const Arguments& arguments);
Status CheckTableWord(const Arguments& arguments);

// A field as it is declared: NAME[:TYPE][:desc], and of an index also [:lower][:trim]. A key's field is a name at the
// top of a row, an index's a path. As JSON; what has a colon in its name is declared in JSON.
enum class FieldOf : unsigned char { kKey, kIndex };
Result<std::string> FieldJson(FieldOf what, const std::string& word);
// The fields of an option, as a JSON array.
Result<std::string> FieldsJson(FieldOf what, const Arguments& arguments, std::string_view option);

}  // namespace kvarts::cli
