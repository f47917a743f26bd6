#include "protocol/resp/sizes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/lower_case.h"
#include "model/structure/strings.h"

namespace kvarts::resp {

std::optional<int64_t> ParseSize(std::string_view text) {
  constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"", 1},          {"b", 1},        {"k", 1000},          {"kb", 1 << 10},
      {"m", 1'000'000}, {"mb", 1 << 20}, {"g", 1'000'000'000}, {"gb", 1 << 30},
  };
  const size_t digits = std::min(text.find_first_not_of("-0123456789"), text.size());
  const auto number = structure::ParseInteger(text.substr(0, digits));
  const std::string unit = LowerCase(text.substr(digits));
  const auto found = std::ranges::find(kUnits, std::string_view(unit), &std::pair<std::string_view, int64_t>::first);
  int64_t bytes = 0;
  if (!number || *number < 0 || found == std::end(kUnits) || __builtin_mul_overflow(*number, found->second, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

}  // namespace kvarts::resp
