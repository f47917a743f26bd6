// Durations and points in time. A Timestamp counts microseconds since 1970 in UTC.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "kvarts/result.h"

namespace kvarts {

struct Duration {
  int64_t micros = 0;
  static constexpr Duration Micros(int64_t n) { return {n}; }
  static constexpr Duration Millis(int64_t n) { return {n * 1000}; }
  static constexpr Duration Seconds(int64_t n) { return {n * 1'000'000}; }
  friend constexpr auto operator<=>(Duration, Duration) = default;
};

struct Timestamp {
  uint64_t micros = 0;
  friend constexpr auto operator<=>(Timestamp, Timestamp) = default;
  // For people and JSON: 2026-07-05T10:15:30.000000Z.
  std::string ToString() const;
  // The inverse; the fraction may have up to six digits, or be missing. Nothing when it is no time from 1970 on.
  static std::optional<Timestamp> Parse(std::string_view text);
};

// Never: later than every time a clock can show. An expiry of kNever means that there is none.
constexpr Timestamp kNever{std::numeric_limits<uint64_t>::max()};
// The last time that a version can carry (see Version): in the year 2255.
constexpr Timestamp kLastTimestamp{(uint64_t{1} << 53) - 1};

// The instant `ttl` after `now`. A ttl that is not positive, or that ends after kLastTimestamp, is refused.
Result<Timestamp> ExpiryAfter(Timestamp now, Duration ttl);

}  // namespace kvarts
