// Rate: how often something happens in a second, from a count that is looked at now and then. Looked at by one thread,
// read by any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace kvarts::resp {

class Rate {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Of the time since it last was, if that is a second or more.
  void Look(uint64_t count, Time now) {
    if (now - since_ < std::chrono::seconds(1)) return;
    const double seconds = std::chrono::duration<double>(now - since_).count();
    // After a reset there is less than before.
    per_second_ = count < count_ ? 0 : static_cast<uint64_t>(static_cast<double>(count - count_) / seconds);
    count_ = count;
    since_ = now;
  }
  uint64_t per_second() const { return per_second_.load(std::memory_order_relaxed); }

 private:
  uint64_t count_ = 0;
  Time since_ = std::chrono::steady_clock::now();
  std::atomic<uint64_t> per_second_{0};
};

}  // namespace kvarts::resp
