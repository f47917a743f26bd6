// At which version something was last seen to be as it is known: what rests on it is then found true without a read, if
// nothing was written since. It only grows. Safe from any thread.
#pragma once

#include <atomic>

#include "base/version.h"

namespace kvarts {

class SeenVersion {
 public:
  explicit SeenVersion(Version version) : stamp_(version.stamp) {}

  Version get() const { return {stamp_.load(std::memory_order_relaxed)}; }
  void Raise(Version version) {
    uint64_t known = stamp_.load(std::memory_order_relaxed);
    while (known < version.stamp && !stamp_.compare_exchange_weak(known, version.stamp, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<uint64_t> stamp_;
};

}  // namespace kvarts
