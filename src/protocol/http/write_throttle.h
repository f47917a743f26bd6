// WriteThrottle: slows writers down, all of them together, so that the engine need not stall.
//
// While the engine keeps up nobody waits. As its pressure grows from kFrom to 1, what all connections together may
// write falls from kFastest to kSlowest, by the same factor at every step. Whatever a disk can sustain lies in between,
// so the pressure settles where the two meet. Writers stand in one line, each for as long as those before it need at
// that rate; how many connections they come by makes no difference.
//
// Safe from any thread, and without a lock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace kvarts::http {

class WriteThrottle {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr double kFrom = 0.5;           // pressure
  static constexpr double kFastest = 256 << 20;  // bytes a second
  static constexpr double kSlowest = 1 << 20;

  // When a write of so many bytes may begin: `now` while the pressure is low or nobody is before it. Nothing when it
  // would be after `by`; then it has no place in the line.
  std::optional<Time> Reserve(double pressure, uint64_t bytes, Time now, Time by);

 private:
  std::atomic<Time::duration::rep> line_{0};  // where it ends; the clock's ticks
};

}  // namespace kvarts::http
