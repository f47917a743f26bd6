// A bounded pool of threads for work that would keep an event loop from its other connections: scans, administration.
//
// Work comes in two lanes. What may take seconds or longer says so, and never holds all threads: where there are two or
// more, one is left for what is short, which so never waits for the end of something long. Within that the oldest is
// next.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kvarts {

class WorkerPool {
 public:
  using Work = std::move_only_function<void()>;
  enum class Lane : uint8_t { kShort, kLong };

  // More than `max_queued` pieces of work are not taken on, in either lane.
  WorkerPool(size_t threads, size_t max_queued);
  // As Stop.
  ~WorkerPool();
  // Does what was taken on, and ends: nothing is taken on any more.
  void Stop();

  // False when too much is waiting already; the work is dropped then.
  [[nodiscard]] bool Submit(Work work, Lane lane = Lane::kShort);
  // In both lanes.
  size_t queued() const;

 private:
  struct Piece {
    Work work;
    uint64_t number;  // in the order of submission
  };

  void Loop();
  std::deque<Piece>& queue(Lane lane) { return queues_[static_cast<size_t>(lane)]; }
  // The queue whose first piece is next; null when none may begin now.
  std::deque<Piece>* Next();

  const size_t max_queued_;
  const size_t max_long_;  // threads that long work may hold
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::array<std::deque<Piece>, 2> queues_;
  uint64_t submitted_ = 0;
  size_t long_running_ = 0;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace kvarts
