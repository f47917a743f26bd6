// For what other threads, processes or servers bring about in their own time.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace kvarts::test {

// Whether it becomes so within that time.
inline bool Eventually(const std::function<bool()>& holds, std::chrono::milliseconds time = std::chrono::seconds(20)) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace kvarts::test
