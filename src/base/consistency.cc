#include "base/consistency.h"

#include <algorithm>
#include <array>

namespace kvarts {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"eventual", "session", "strong"};

}  // namespace

std::string_view ConsistencyName(Consistency consistency) { return kNames.at(static_cast<size_t>(consistency)); }

std::optional<Consistency> ParseConsistency(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Consistency>(found - kNames.begin());
}

}  // namespace kvarts
