#include "base/worker_pool.h"

#include <algorithm>

namespace kvarts {

WorkerPool::WorkerPool(size_t threads, size_t max_queued)
    : max_queued_(max_queued), max_long_(std::max<size_t>(threads, 2) - 1) {
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

WorkerPool::~WorkerPool() { Stop(); }

void WorkerPool::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_all();
  threads_.clear();
}

bool WorkerPool::Submit(Work work, Lane lane) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_ || queue(lane).size() >= max_queued_) return false;
    queue(lane).push_back({std::move(work), submitted_++});
  }
  arrived_.notify_one();
  return true;
}

size_t WorkerPool::queued() const {
  std::lock_guard lock(mutex_);
  return queues_[0].size() + queues_[1].size();
}

std::deque<WorkerPool::Piece>* WorkerPool::Next() {
  std::deque<Piece>& brief = queue(Lane::kShort);
  std::deque<Piece>& lengthy = queue(Lane::kLong);
  const bool may_be_long = !lengthy.empty() && long_running_ < max_long_;
  if (brief.empty()) return may_be_long ? &lengthy : nullptr;
  return may_be_long && lengthy.front().number < brief.front().number ? &lengthy : &brief;
}

void WorkerPool::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    arrived_.wait(lock, [this] { return stopping_ || Next() != nullptr; });
    std::deque<Piece>* const next = Next();
    // What may not begin yet is left to those who are at something long.
    if (next == nullptr) return;
    const bool is_long = next == &queue(Lane::kLong);
    Work work = std::move(next->front().work);
    next->pop_front();
    long_running_ += is_long ? 1 : 0;
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
    if (!is_long) continue;
    --long_running_;
    // Something long may begin now, and this thread may take something else.
    arrived_.notify_one();
  }
}

}  // namespace kvarts
