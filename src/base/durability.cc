#include "base/durability.h"

#include <array>

namespace kvarts {
namespace {

constexpr std::array<std::string_view, 5> kDurabilityNames = {"none", "interval", "sync", "quorum", "applied"};

}  // namespace

std::string_view DurabilityName(Durability durability) { return kDurabilityNames.at(static_cast<size_t>(durability)); }

std::optional<Durability> ParseDurability(std::string_view name) {
  for (size_t i = 0; i < kDurabilityNames.size(); ++i) {
    if (kDurabilityNames[i] == name) return static_cast<Durability>(i);
  }
  return std::nullopt;
}

}  // namespace kvarts
