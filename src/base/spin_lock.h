// A lock of one byte for critical sections of a few dozen instructions, where a mutex would be most of the cost. A
// holder that was put to sleep is waited for by yielding.
#pragma once

#include <sched.h>

#include <atomic>

namespace kvarts {

class SpinLock {
 public:
  void lock() {
    for (int round = 0; held_.exchange(true, std::memory_order_acquire); ++round) {
      while (held_.load(std::memory_order_relaxed)) {
        if (++round < kSpins) {
          __builtin_ia32_pause();
        } else {
          sched_yield();
        }
      }
    }
  }
  bool try_lock() { return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire); }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  static constexpr int kSpins = 64;
  std::atomic<bool> held_{false};
};

}  // namespace kvarts
