// Arguments of commands as values.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "protocol/resp/errors.h"

namespace kvarts::resp {

// In any case of letters; `word` is in upper case.
bool IsWord(std::string_view argument, std::string_view word);
// `invalid_argument` when it is none.
Result<int64_t> IntegerOf(std::string_view argument);
// One that no text but its own will do for, if it is none.
Result<int64_t> IntegerOf(std::string_view argument, const char* otherwise);

// A number of a database; `otherwise` when it is no number.
Result<uint32_t> DatabaseOf(std::string_view argument, const char* otherwise = "invalid DB index");

}  // namespace kvarts::resp
