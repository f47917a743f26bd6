// Does something again whenever it is asked to, on a thread of its own: for what reads an engine whose reads may wait,
// and is asked for by threads that may not. Requests that come while it is at work are one. What fails is tried again
// after a pause that grows, since nobody will ask again for what was missed.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/result.h"

namespace kvarts {

class Refresher {
 public:
  // After a failure, and after as many of them as there may be.
  struct Pauses {
    std::chrono::milliseconds first{50};
    std::chrono::milliseconds longest{2000};

    std::chrono::milliseconds After(std::chrono::milliseconds pause) const { return std::min(2 * pause, longest); }
  };

  explicit Refresher(std::function<Status()> work) : Refresher(std::move(work), Pauses()) {}
  Refresher(std::function<Status()> work, Pauses pauses)
      : work_(std::move(work)), pauses_(pauses), thread_([this](const std::stop_token& stop) { Loop(stop); }) {}

  // Waits for what it is at, but for no pause; nothing is done any more.
  void Stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

  // Also ends a pause: who asks may know that it will succeed.
  void Ask() {
    {
      const std::lock_guard lock(mutex_);
      asked_ = true;
    }
    wake_.notify_one();
  }

 private:
  void Loop(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (wake_.wait(lock, stop, [this] { return asked_; })) {
      for (auto pause = pauses_.first; !Done(&lock) && !stop.stop_requested(); pause = pauses_.After(pause)) {
        wake_.wait_for(lock, stop, pause, [this] { return asked_; });
        if (stop.stop_requested()) return;
      }
    }
  }
  bool Done(std::unique_lock<std::mutex>* lock) {
    asked_ = false;
    lock->unlock();
    const bool done = work_().has_value();
    lock->lock();
    return done;
  }

  const std::function<Status()> work_;
  const Pauses pauses_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool asked_ = false;
  std::jthread thread_;  // ends first
};

}  // namespace kvarts
