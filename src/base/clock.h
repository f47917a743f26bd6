// Where time comes from.
//
// Clocks never go back: expiry is exact only if nobody who saw a key gone can see it again. SystemClock follows the
// wall clock forwards and ignores its steps back; ManualClock is moved by a test. Both are safe from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "kvarts/time.h"

namespace kvarts {

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
