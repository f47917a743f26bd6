#include "engine/postgres/reader.h"

#include <algorithm>
#include <iterator>
#include <semaphore>

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
  Status outcome;
  std::binary_semaphore answered{0};
  Add({keys, out, options, [&](Status told) {
         outcome = std::move(told);
         answered.release();
       }});
  answered.acquire();
  return outcome;
}

void Reader::GetLater(std::unique_ptr<PendingGet> read) {
  struct Held {
    std::unique_ptr<PendingGet> read;
    std::vector<BytesView> keys;
  };
  auto held = std::make_shared<Held>(std::move(read));
  held->keys.assign(held->read->keys.begin(), held->read->keys.end());
  held->read->records.resize(held->keys.size());
  Add({held->keys, held->read->records, held->read->options,
       [held](Status outcome) { held->read->Done(std::move(outcome)); }});
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
  while (const size_t leaving = departures_.Await(lock, waiting, ending)) {
    for (size_t keys = 0; !waiting_.empty() && together.size() < leaving;) {
      keys += waiting_.front().keys.size();
      if (!together.empty() && keys > kMaxTogether) break;
      together.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    lock.unlock();
    if (primary_ != nullptr) {
      ReadOnReplica(std::move(together));
    } else {
      const Status outcome = ReadTogether(together);
      for (const Request& request : together) request.done(outcome);
    }
    together.clear();
    lock.lock();
    departures_.Back(leaving);
  }
}

Status Reader::ReadTogether(std::span<const Request> requests) {
  KVARTS_TRY(const Pool::Lease connection, servers_.Primary(Use::kReading, shared_.request_deadline()));
  if (requests.size() == 1) {
    const Request& request = requests.front();
    KVARTS_TRY(const uint64_t time, ReadKeys(*connection, request.keys, request.out, request.options,
                                             shared_.read_time(), std::nullopt, shared_.request_deadline()));
    shared_.SawTime(time);
    return {};
  }
  KVARTS_TRY(Found found, Read(*connection, requests, shared_.read_time(), nullptr));
  shared_.SawTime(found.time);
  std::span<std::optional<Record>> records = found.records;
  for (const Request& request : requests) {
    Answer(request, records.first(request.keys.size()), found.time);
    records = records.subspan(request.keys.size());
  }
  return {};
}

Result<Reader::Found> Reader::Read(Connection& connection, std::span<const Request> requests, const ReadTime& time,
                                   Replay* replay) {
  std::vector<BytesView> keys;
  for (const Request& request : requests) keys.insert(keys.end(), request.keys.begin(), request.keys.end());
  Found found;
  found.records.resize(keys.size());
  ReadOptions all;
  all.expired_too = true;  // each request judges for itself
  KVARTS_TRY(found.time,
             ReadKeys(connection, keys, found.records, all, time, std::nullopt, shared_.request_deadline(), replay));
  return found;
}

void Reader::Answer(const Request& request, std::span<std::optional<Record>> found, uint64_t time) {
  for (size_t i = 0; i < request.keys.size(); ++i) {
    std::optional<Record>& record = found[i];
    if (record && !request.options.expired_too && record->header.ExpiredAt({time})) record.reset();
    request.out[i] = std::move(record);
    if (request.options.cost == nullptr) continue;
    request.options.cost->keys += 1;
    if (request.out[i]) request.options.cost->bytes += request.keys[i].size() + request.out[i]->value.size();
  }
}

void Reader::ReadOnReplica(std::vector<Request> asked) {
  const auto leave = [this](Request& request) {
    left_ += request.keys.size();
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
  const auto connection = servers_.Replica(Use::kReading, shared_.NeedOf(newest), shared_.request_deadline());
  if (!connection.has_value() || !*connection) return leave_all();
  Replay replay;
  auto found = Read(**connection, requests, shared_.replica_time(), &replay);
  if (!found.has_value()) return leave_all();
  std::span<std::optional<Record>> records = found->records;
  const auto now = std::chrono::steady_clock::now();
  for (Request& request : requests) {
    const auto its = records.first(request.keys.size());
    records = records.subspan(request.keys.size());
    if (request.session().position <= replay.position) {
      answered_ += request.keys.size();
      Answer(request, its, found->time);
      request.done({});
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
