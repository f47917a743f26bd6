#include "protocol/resp/arguments.h"

#include <algorithm>

#include "model/structure/refusals.h"
#include "model/structure/strings.h"

namespace kvarts::resp {

bool IsWord(std::string_view argument, std::string_view word) {
  return std::ranges::equal(argument, word, [](char given, char wanted) {
    return (given >= 'a' && given <= 'z' ? given - 'a' + 'A' : given) == wanted;
  });
}

Result<int64_t> IntegerOf(std::string_view argument) { return IntegerOf(argument, structure::kNotInteger); }

Result<int64_t> IntegerOf(std::string_view argument, const char* otherwise) {
  const std::optional<int64_t> number = structure::ParseInteger(argument);
  if (!number) return Wrong(otherwise);
  return *number;
}

Result<int64_t> RandomCountOf(std::string_view argument) {
  // Of the same ones nobody needs more; the answer has to fit into memory.
  constexpr int64_t kMostOfTheSame = 1'000'000;
  KVARTS_TRY(const int64_t count, IntegerOf(argument));
  if (count == INT64_MIN) {
    return Wrong("value is out of range, value must between -9223372036854775807 and 9223372036854775807");
  }
  if (count < -kMostOfTheSame) return Wrong("value is out of range");
  return count;
}

Result<int32_t> IntOf(std::string_view argument, const char* otherwise) {
  constexpr const char* kOutOfRange = "value is out of range, value must between -2147483648 and 2147483647";
  KVARTS_TRY(const int64_t number, IntegerOf(argument, otherwise != nullptr ? otherwise : structure::kNotInteger));
  if (number < INT32_MIN || number > INT32_MAX) return Wrong(otherwise != nullptr ? otherwise : kOutOfRange);
  return static_cast<int32_t>(number);
}

Result<uint32_t> CheckedDatabase(int32_t number) {
  const auto database = static_cast<uint32_t>(number);
  if (database >= structure::kDatabases) return Wrong("DB index is out of range");
  return database;
}

}  // namespace kvarts::resp
