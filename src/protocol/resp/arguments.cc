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

Result<uint32_t> DatabaseOf(std::string_view argument, const char* otherwise) {
  KVARTS_TRY(const int64_t number, IntegerOf(argument, otherwise));
  if (number < 0 || number >= structure::kDatabases) return Wrong("DB index is out of range");
  return static_cast<uint32_t>(number);
}

}  // namespace kvarts::resp
