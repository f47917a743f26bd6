// A server's clock, by what its answers say of it and a steady clock here.
//
// An answer tells a time that has passed when it is read, and by how much nobody knows: the one that was read soonest
// is the best. So of the answers of the last few seconds that one counts by which the server's clock is furthest ahead,
// and it is not believed for ever, since clocks drift and are set. Safe from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <mutex>

namespace kvarts::postgres {

class ServerClock {
 public:
  // Microseconds on both clocks: what the server said, and when that was read.
  void Saw(int64_t said, int64_t read_at) {
    const int64_t ahead = said - read_at;
    const std::lock_guard lock(mutex_);
    if (const int64_t window = read_at / kWindow; window > window_) {
      best_ = {window == window_ + 1 ? best_[1] : kNothing, kNothing};
      window_ = window;
    }
    best_[1] = std::max(best_[1], ahead);
    ahead_.store(std::max(best_[0], best_[1]), std::memory_order_relaxed);
  }
  // What it says when the steady clock says that.
  int64_t At(int64_t steady) const { return steady + ahead_.load(std::memory_order_relaxed); }

 private:
  static constexpr int64_t kWindow = 2'000'000;
  static constexpr int64_t kNothing = std::numeric_limits<int64_t>::min();

  std::mutex mutex_;
  int64_t window_ = -1;
  std::array<int64_t, 2> best_ = {kNothing, kNothing};  // of the window before, and of this one
  std::atomic<int64_t> ahead_{0};
};

}  // namespace kvarts::postgres
