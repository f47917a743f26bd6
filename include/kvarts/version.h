// Version: the hybrid logical clock stamp that a commit gives to everything it writes.
//
// The upper bits are microseconds since 1970, the lower ten a count within the microsecond. So a version says when,
// and versions of later commits are larger even if the clock stands still. It fits a signed 64-bit column until 2255.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kvarts/time.h"

namespace kvarts {

struct Version {
  static constexpr int kCountBits = 10;

  uint64_t stamp = 0;

  static constexpr Version FromTime(Timestamp time) { return {time.micros << kCountBits}; }
  constexpr Timestamp time() const { return {stamp >> kCountBits}; }
  constexpr Version Next() const { return {stamp + 1}; }
  // The version after `last` for a commit made at `now`.
  static constexpr Version After(Version last, Timestamp now) {
    return {std::max(last.stamp + 1, FromTime(now).stamp)};
  }
  friend constexpr auto operator<=>(Version, Version) = default;

  std::string ToString() const { return std::to_string(stamp); }
  // The inverse of ToString: decimal digits that fit, or nothing.
  static std::optional<Version> Parse(std::string_view text);
};

// Before everything: the version of a store to which nothing was ever written.
constexpr Version kNoVersion{};

}  // namespace kvarts
