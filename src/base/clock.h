// Time, and the place where it comes from. A Timestamp counts microseconds since 1970 in UTC.
//
// Clocks never go back: expiry is exact only if nobody who saw a key gone can see it again. SystemClock follows the
// wall clock forwards and ignores its steps back; ManualClock is moved by a test. Both are safe from any thread.
#pragma once

#include <atomic>
#include <compare>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "base/result.h"

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
};

// Never: later than every time a clock can show. An expiry of kNever means that there is none.
constexpr Timestamp kNever{std::numeric_limits<uint64_t>::max()};
// The last time that a version can carry (see Version): in the year 2255.
constexpr Timestamp kLastTimestamp{(uint64_t{1} << 53) - 1};

// The instant `ttl` after `now`. A ttl that is not positive, or that ends after kLastTimestamp, is refused.
Result<Timestamp> ExpiryAfter(Timestamp now, Duration ttl);

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp Now() const = 0;
};

class SystemClock final : public Clock {
 public:
  SystemClock();
  Timestamp Now() const override;

 private:
  static constexpr int64_t kRecheckMicros = 10'000;  // how often the wall clock is looked at again

  mutable std::atomic<int64_t> offset_;        // wall clock minus monotonic clock; only grows
  mutable std::atomic<int64_t> next_recheck_;  // on the monotonic clock
};

class ManualClock final : public Clock {
 public:
  explicit ManualClock(Timestamp start) : now_(start.micros) {}
  Timestamp Now() const override { return {now_.load(std::memory_order_acquire)}; }
  void Advance(Duration by);
  // Moves to `to`, unless the clock is already past it.
  void MoveTo(Timestamp to);

 private:
  std::atomic<uint64_t> now_;
};

}  // namespace kvarts
