#include "engine/postgres/pool.h"

#include <algorithm>

namespace kvarts::postgres {

Pool::Lease& Pool::Lease::operator=(Lease&& other) noexcept {
  if (this != &other) {
    GiveBack();
    pool_ = other.pool_;
    connection_ = std::move(other.connection_);
    generation_ = other.generation_;
  }
  return *this;
}

void Pool::Lease::GiveBack() {
  if (connection_ == nullptr) return;
  const bool broken = !connection_->usable() || connection_->misplaced();
  {
    const std::lock_guard lock(pool_->mutex_);
    if (!broken && connection_->idle() && generation_ == pool_->generation_) {
      pool_->idle_.push_back(std::move(connection_));
    } else {
      --pool_->open_;
    }
  }
  pool_->returned_.notify_one();
  connection_.reset();  // closing one takes its time
  if (broken && pool_->options_.on_broken) pool_->options_.on_broken();
}

Result<Pool::Lease> Pool::Take(Deadline deadline, WhenFull when_full) {
  const Error emptied(ErrorCode::kUnavailable, "the server has another role now");
  std::unique_lock lock(mutex_);
  const uint64_t generation = generation_;
  const auto full = [&] { return idle_.empty() && open_ >= options_.max_connections; };
  while (true) {
    if (full() && when_full == WhenFull::kWait) {
      returned_.wait_until(lock, deadline, [&] { return generation_ != generation || !full(); });
    }
    if (generation_ != generation) return emptied;
    if (full()) {
      return Error(ErrorCode::kOverloaded, "all connections to the server are in use",
                   {{"limit", options_.limit}, {"at_most", std::to_string(options_.max_connections)}});
    }
    if (idle_.empty()) break;
    std::unique_ptr<Connection> connection = std::move(idle_.back());
    idle_.pop_back();
    if (connection->Alive()) return Lease(this, std::move(connection), generation);
    --open_;
    lock.unlock();
    connection.reset();
    if (options_.on_broken) options_.on_broken();
    lock.lock();
  }
  ++open_;
  lock.unlock();
  auto opened =
      Connection::Open(target_, AllStatements(), std::min(deadline, In(options_.connect_timeout)), options_.longest);
  lock.lock();
  const bool current = generation_ == generation;
  if (opened.has_value() && current) return Lease(this, *std::move(opened), generation);
  --open_;
  lock.unlock();
  returned_.notify_one();
  if (!current) return emptied;
  return std::move(opened).error();
}

std::vector<std::unique_ptr<Connection>> Pool::Empty() {
  std::vector<std::unique_ptr<Connection>> idle;
  {
    const std::lock_guard lock(mutex_);
    ++generation_;
    open_ -= idle_.size();
    idle.swap(idle_);
  }
  returned_.notify_all();
  return idle;
}

size_t Pool::open() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

}  // namespace kvarts::postgres
