// Consistency: how new what is read must be. A word of every layer, as durability is; it matters where there are
// replicas.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvarts {

enum class Consistency : uint8_t {
  kEventual,  // any replica that is not too far behind
  kSession,   // at least what the session has written
  kStrong,    // everything that was acknowledged before
};

std::string_view ConsistencyName(Consistency consistency);
std::optional<Consistency> ParseConsistency(std::string_view name);

}  // namespace kvarts
