// Does something again whenever it is asked to, on a thread of its own: for what reads an engine whose reads may wait,
// and is asked for by threads that may not. Requests that come while it is at work are one.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace kvarts {

class Refresher {
 public:
  explicit Refresher(std::function<void()> work)
      : work_(std::move(work)), thread_([this](const std::stop_token& stop) { Loop(stop); }) {}

  // Waits for what it is at; nothing is done any more.
  void Stop() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

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
      asked_ = false;
      lock.unlock();
      work_();
      lock.lock();
    }
  }

  const std::function<void()> work_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool asked_ = false;
  std::jthread thread_;  // ends first
};

}  // namespace kvarts
