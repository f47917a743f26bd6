#include "engine/postgres/reader.h"

#include <algorithm>
#include <semaphore>

#include "base/held_wakeups.h"

namespace kvarts::postgres {

Reader::Reader(Shared& shared, Servers& servers, size_t connections, Reader* primary)
    : shared_(shared), servers_(servers), primary_(primary) {
  for (size_t i = 0; i < connections; ++i) threads_.emplace_back([this] { Loop(); });
  if (primary_ != nullptr) threads_.emplace_back([this] { TryAgainLoop(); });
}

Reader::~Reader() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  departures_.Ending();
  again_.notify_all();
}

Status Reader::Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out, const ReadOptions& options) {
  struct Waited final : PendingGet {
    void Done(Status told) override {
      outcome = std::move(told);
      answered.release();
    }
    Status outcome;
    std::binary_semaphore answered{0};
  };
  Waited read;
  read.keys = keys;
  read.records = out;
  read.options = options;
  GetLater(read);
  read.answered.acquire();
  return std::move(read.outcome);
}

void Reader::Add(Request request) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(request));
  departures_.Arrived(waiting_.size(), waiting_.size() - 1);
}

void Reader::Loop() {
  std::vector<Request> together;
  std::unique_lock lock(mutex_);
  const auto waiting = [this] { return waiting_.size(); };
  const auto ending = [this] { return stopping_; };
  while (departures_.Await(lock, waiting, ending)) {
    for (size_t keys = 0; !waiting_.empty();) {
      keys += waiting_.front().read->keys.size();
      if (!together.empty() && keys > kMaxTogether) break;
      together.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    const size_t count = together.size();
    const uint64_t number = departures_.Leave(count, waiting_.size());
    lock.unlock();
    if (primary_ != nullptr) {
      ReadOnReplica(std::move(together));
    } else {
      ReadOnPrimary(together);
    }
    together.clear();
    lock.lock();
    departures_.Back(number, count);
  }
}

void Reader::ReadOnPrimary(std::span<const Request> requests) {
  const auto find = [&]() -> Result<FoundKeys> {
    KVARTS_TRY(const Pool::Lease connection, servers_.Primary(Use::kReading, shared_.request_deadline()));
    return Find(*connection, requests, shared_.read_time());
  };
  const Result<FoundKeys> found = find();
  const HeldWakeups together;
  if (found.has_value()) shared_.SawTime(found->time());
  for (const Request& request : requests) {
    PendingGet& read = *request.read;
    if (found.has_value()) found->Answer(read.keys, read.records, read.options, {found->time()});
    read.Done(found.has_value() ? Status() : found.error());
  }
}

Result<FoundKeys> Reader::Find(Connection& connection, std::span<const Request> requests, const ReadTime& time,
                               Replay* replay) {
  std::vector<BytesView> keys;
  for (const Request& request : requests) keys.insert(keys.end(), request.read->keys.begin(), request.read->keys.end());
  const Deadline deadline = replay == nullptr ? shared_.request_deadline() : shared_.replica_deadline();
  return FindKeys(connection, keys, time, deadline, replay);
}

void Reader::ReadOnReplica(std::vector<Request> asked) {
  const auto leave = [this](Request& request) {
    left_ += request.read->keys.size();
    primary_->Add(std::move(request));
  };
  // A token of a timeline that nobody has heard of, made up or very new, costs nobody else the replicas.
  const uint32_t known = servers_.highest_timeline();
  std::vector<Request> requests;
  for (Request& request : asked) {
    if (request.session().timeline > known) {
      leave(request);
    } else {
      requests.push_back(std::move(request));
    }
  }
  if (requests.empty()) return;
  SessionToken newest;
  for (const Request& request : requests) {
    if (request.session().timeline > newest.timeline) newest = request.session();
  }
  const auto leave_all = [&] { std::ranges::for_each(requests, leave); };
  const auto connection = servers_.Replica(Use::kReading, shared_.NeedOf(newest), shared_.replica_deadline());
  if (!connection.has_value() || !*connection) return leave_all();
  Replay replay;
  const auto found = Find(**connection, requests, shared_.replica_time(), &replay);
  if (!found.has_value()) return leave_all();
  const HeldWakeups together;
  const auto now = std::chrono::steady_clock::now();
  for (Request& request : requests) {
    PendingGet& read = *request.read;
    if (request.session().position <= replay.position) {
      answered_ += read.keys.size();
      found->Answer(read.keys, read.records, read.options, {found->time()});
      read.Done({});
      continue;
    }
    if (!request.patience) request.patience = now + shared_.options.session_wait;
    std::unique_lock lock(mutex_);
    if (stopping_ || now + kTryAgain > *request.patience) {
      lock.unlock();
      leave(request);
    } else {
      behind_.push_back(std::move(request));
      again_.notify_one();
    }
  }
}

void Reader::TryAgainLoop() {
  std::unique_lock lock(mutex_);
  while (true) {
    again_.wait(lock, [this] { return stopping_ || !behind_.empty(); });
    if (behind_.empty()) return;
    again_.wait_for(lock, kTryAgain, [this] { return stopping_; });
    const size_t before = waiting_.size();
    for (Request& request : behind_) {
      // At the end nobody may be left to take them on here.
      if (stopping_) {
        primary_->Add(std::move(request));
      } else {
        waiting_.push_back(std::move(request));
      }
    }
    behind_.clear();
    departures_.Arrived(waiting_.size(), before);
  }
}

}  // namespace kvarts::postgres
