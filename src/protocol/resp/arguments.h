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

// How many random elements somebody asks for; less than zero: they may be the same ones.
Result<int64_t> RandomCountOf(std::string_view argument);
// The same of 32 bits.
Result<int32_t> IntOf(std::string_view argument, const char* otherwise = nullptr);
Result<uint32_t> CheckedDatabase(int32_t number);
inline Result<uint32_t> DatabaseOf(std::string_view argument) {
  KVARTS_TRY(const int32_t number, IntOf(argument));
  return CheckedDatabase(number);
}

}  // namespace kvarts::resp
