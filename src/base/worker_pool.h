// A bounded pool of threads for work that would keep an event loop from its other connections: long scans,
// administration.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kvarts {

class WorkerPool {
 public:
  using Work = std::move_only_function<void()>;

  // More than `max_queued` pieces of work are not taken on.
  WorkerPool(size_t threads, size_t max_queued);
  // Does what was taken on, and ends.
  ~WorkerPool();

  // False when too much is waiting already; the work is dropped then.
  [[nodiscard]] bool Submit(Work work);
  size_t queued() const;

 private:
  void Loop();

  const size_t max_queued_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Work> queue_;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace kvarts
