// Reads of the newest records, together: what arrives while round trips are under way shares the next one.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/postgres/departures.h"
#include "engine/postgres/servers.h"
#include "engine/postgres/shared.h"

namespace kvarts::postgres {

class Reader {
 public:
  // On the primary; or on replicas, with a reader that takes over what no replica can answer, and outlives this one.
  Reader(Shared& shared, Servers& servers, size_t connections, Reader* primary = nullptr);
  // Nobody reads any more.
  ~Reader();

  // Waits for the answer.
  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out, const ReadOptions& options);
  void GetLater(PendingGet& read) { Add({&read}); }

  // Of one on replicas: keys that were read there, and keys that were left to the primary.
  uint64_t answered() const { return answered_; }
  uint64_t left() const { return left_; }

 private:
  static constexpr std::chrono::microseconds kMoment{100};
  static constexpr std::chrono::microseconds kPatience{2'000};
  static constexpr std::chrono::milliseconds kTryAgain{5};
  static constexpr size_t kMaxTogether = 1000;  // keys of one round trip, unless one asks for more by itself

  struct Request {
    PendingGet* read;
    std::optional<Deadline> patience = {};  // since a replica was behind

    // What a replica must have replayed to answer it.
    SessionToken session() const {
      const Freshness& freshness = read->options.freshness;
      return freshness.consistency == Consistency::kSession ? freshness.session : SessionToken();
    }
  };

  void Add(Request request);
  void Loop();
  void ReadOnPrimary(std::span<const Request> requests);
  // Hands over to the primary's reader what cannot be answered, and sets aside what can be soon.
  void ReadOnReplica(std::vector<Request> asked);
  void TryAgainLoop();
  Result<FoundKeys> Find(Connection& connection, std::span<const Request> requests, const ReadTime& time,
                         Replay* replay = nullptr);

  Shared& shared_;
  Servers& servers_;
  Reader* const primary_;  // null: this is it
  std::mutex mutex_;
  Departures departures_{1, kMoment, kPatience};
  std::deque<Request> waiting_;
  std::vector<Request> behind_;  // no replica that was asked has what they must see; they are tried again soon
  std::condition_variable again_;
  std::atomic<uint64_t> answered_{0};
  std::atomic<uint64_t> left_{0};
  bool stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace kvarts::postgres
