#include "engine/postgres/read_channel.h"

#include <algorithm>
#include <utility>

namespace kvarts::postgres {

ChannelConnections::ChannelConnections(Shared& shared, Servers& servers)
    : shared_(shared), servers_(servers), thread_([this] { Loop(); }) {}

ChannelConnections::~ChannelConnections() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
}

std::shared_ptr<ChannelConnections::Order> ChannelConnections::Ask() {
  auto order = std::make_shared<Order>();
  {
    const std::lock_guard lock(mutex_);
    asked_.push_back(order);
  }
  changed_.notify_one();
  return order;
}

void ChannelConnections::Close(Pool::Lease lease) {
  {
    const std::lock_guard lock(mutex_);
    closing_.push_back(std::move(lease));
  }
  changed_.notify_one();
}

void ChannelConnections::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !asked_.empty() || !closing_.empty(); });
    const bool stopping = stopping_;
    std::vector<Pool::Lease> closing = std::exchange(closing_, {});
    const std::shared_ptr<Order> order = asked_.empty() ? nullptr : asked_.front();
    if (order != nullptr) asked_.pop_front();
    lock.unlock();
    closing.clear();
    if (order != nullptr && !stopping) {
      // Whoever waited here for one to be closed would wait for itself.
      auto lease = servers_.Primary(Use::kLoop, In(shared_.options.connect_timeout), Pool::WhenFull::kRefuse);
      if (lease.has_value()) order->lease_ = *std::move(lease);
      order->done_.store(true, std::memory_order_release);
    }
    if (stopping) return;
    lock.lock();
  }
}

PgReadChannel::~PgReadChannel() {
  LetGo();
  Reads left = std::exchange(gathered_, {});
  for (const Flight& flight : flights_) left.insert(left.end(), flight.reads.begin(), flight.reads.end());
  flights_.clear();
  for (PendingGet* const read : left) read->Done(Error(ErrorCode::kUnavailable, "the process is ending"));
}

void PgReadChannel::Add(PendingGet& read) {
  if (replica_reader_ != nullptr && read.options.freshness.consistency != Consistency::kStrong) {
    return replica_reader_->GetLater(read);
  }
  if (!HasConnection() || std::ranges::any_of(read.keys, IsLong)) return reader_.GetLater(read);
  gathered_.push_back(&read);
}

bool PgReadChannel::HasConnection() {
  if (connection_ && !connection_.current()) GiveUp();
  if (!connection_) Connect();
  return static_cast<bool>(connection_);
}

void PgReadChannel::Connect() {
  if (order_ == nullptr) {
    if (pause_ == 0) order_ = connections_.Ask();
    return;
  }
  if (!order_->done()) return;
  connection_ = std::exchange(order_, nullptr)->Take();
  if (connection_ && connection_.current() && host_.Watch(connection_->descriptor())) return;
  pause_ = kPauseTicks;
  if (connection_) connections_.Close(std::exchange(connection_, {}));
}

void PgReadChannel::Leave() {
  if (gathered_.empty() || !flights_.empty()) return;
  if (!HasConnection()) return GiveToReaders(std::exchange(gathered_, {}));
  if (IsEnough()) Depart();
}

bool PgReadChannel::IsEnough() {
  if (4 * gathered_.size() >= 3 * expected_) return true;
  const auto now = std::chrono::steady_clock::now();
  if (!leave_by_) leave_by_ = now + kMoment;
  if (now >= *leave_by_) return true;
  host_.LeaveWithin(std::chrono::ceil<std::chrono::microseconds>(*leave_by_ - now));
  return false;
}

void PgReadChannel::Depart() {
  leave_by_.reset();
  keys_.clear();
  size_t count = 0;
  for (; count < gathered_.size(); ++count) {
    const auto& keys = gathered_[count]->keys;
    if (count != 0 && keys_.size() + keys.size() > kMaxTogether) break;
    keys_.insert(keys_.end(), keys.begin(), keys.end());
  }
  Flight& flight = flights_.emplace_back();
  flight.deadline = shared_.request_deadline();
  const auto end = gathered_.begin() + static_cast<ptrdiff_t>(count);
  flight.reads.assign(gathered_.begin(), end);
  gathered_.erase(gathered_.begin(), end);
  if (!connection_->Depart(GetCall(keys_, shared_.read_time()))) return GiveUp();
  if (connection_->unsent()) host_.WantWrite(true);
}

void PgReadChannel::Ready() {
  if (!connection_) return;
  if (!connection_.current() || !connection_->Receive()) return GiveUp();
  if (connection_->unsent()) {
    if (!connection_->SendOn()) return GiveUp();
    if (!connection_->unsent()) host_.WantWrite(false);
  }
  Land();
}

void PgReadChannel::Land() {
  while (!flights_.empty()) {
    auto landed = connection_->TryLand();
    if (landed.has_value() && !*landed) return;
    if (!connection_->usable() || !connection_.current()) return GiveUp();
    const Flight flight = std::move(flights_.front());
    flights_.pop_front();
    expected_ = flight.reads.size() + gathered_.size();
    // The server may have something to say against one of them: the readers will hear it, too.
    if (!landed.has_value()) {
      GiveToReaders(flight.reads);
    } else {
      Answer(flight.reads, **std::move(landed));
    }
    // Those who were answered may have asked again, and met a connection that had to be given up.
    if (!connection_) return;
  }
}

void PgReadChannel::Answer(const Reads& reads, Rows rows) {
  const FoundKeys found(std::move(rows));
  shared_.SawTime(found.time());
  for (PendingGet* const read : reads) {
    found.Answer(read->keys, read->records, read->options, {found.time()});
    read->Done({});
  }
}

void PgReadChannel::Tick() {
  if (pause_ > 0) --pause_;
  if (!connection_) return;
  if (!connection_.current()) return GiveUp();
  if (flights_.empty()) return;
  if (std::chrono::steady_clock::now() < flights_.front().deadline) return Ready();
  // They have waited for as long as a reader would have.
  connection_->Abandon();
  const auto late = std::exchange(flights_, {});
  GiveUp();
  for (const Flight& flight : late) {
    for (PendingGet* const read : flight.reads) {
      read->Done(Error(ErrorCode::kUnavailable, "the server does not answer in time"));
    }
  }
}

void PgReadChannel::GiveToReaders(Reads reads) {
  for (PendingGet* const read : reads) reader_.GetLater(*read);
}

void PgReadChannel::LetGo() {
  leave_by_.reset();
  if (!connection_) return;
  host_.Unwatch();
  connections_.Close(std::exchange(connection_, {}));
}

void PgReadChannel::GiveUp() {
  LetGo();
  for (Flight& flight : std::exchange(flights_, {})) GiveToReaders(std::move(flight.reads));
  GiveToReaders(std::exchange(gathered_, {}));
}

}  // namespace kvarts::postgres
