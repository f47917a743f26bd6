// How long something has taken, on a clock that nothing sets: for limits on work, never for what is stored.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace kvarts {

class Stopwatch {
 public:
  Duration Elapsed() const {
    const auto passed = std::chrono::steady_clock::now() - started_;
    return Duration::Micros(std::chrono::duration_cast<std::chrono::microseconds>(passed).count());
  }

 private:
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace kvarts
