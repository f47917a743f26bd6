// What the parts of the engine share.
#pragma once

#include <atomic>
#include <mutex>
#include <set>

#include "base/histogram.h"
#include "engine/postgres/group.h"
#include "engine/postgres/pool.h"
#include "engine/postgres/postgres_engine.h"
#include "engine/postgres/reading.h"
#include "engine/postgres/server_clock.h"
#include "engine/postgres/servers.h"

namespace kvarts::postgres {

struct Shared {
  explicit Shared(PostgresOptions opened) : options(std::move(opened)) {}

  const PostgresOptions options;
  Snapshots snapshots;
  KnownFollowed followed;
  std::atomic<CommitListener*> listener = nullptr;

  // The latest time that this process has seen, so that its own time never goes back.
  std::atomic<uint64_t> time_seen{0};
  ServerClock primary_clock;
  std::atomic<uint64_t> version_seen{0};
  // Of this process, and not yet among the totals on the server.
  std::atomic<uint64_t> commits{0};
  std::atomic<uint64_t> user_bytes{0};
  SizeHistogram group_sizes;     // commits of a round trip
  LatencyHistogram commit_time;  // of a round trip

  // The views that are open.
  class OpenViews {
   public:
    // False when there are as many as there may be.
    bool Add(Timestamp opened, size_t at_most);
    void Remove(Timestamp opened);
    size_t size() const;
    std::optional<Timestamp> oldest() const;

   private:
    mutable std::mutex mutex_;
    std::multiset<Timestamp> opened_;
  };
  OpenViews views;

  std::optional<uint64_t> given_time() const {
    if (options.clock == nullptr) return std::nullopt;
    return options.clock->Now().micros;
  }
  // The primary's time by what it last said and what has passed since: the clock of this machine decides nothing.
  Timestamp primary_now() const {
    if (const auto given = given_time()) return {*given};
    return {static_cast<uint64_t>(primary_clock.At(SteadyMicros()))};
  }
  ReadTime read_time() const { return {time_seen.load(std::memory_order_relaxed), given_time()}; }
  // What the primary's clock said; 0: nothing.
  void SawTime(uint64_t micros) {
    if (micros == 0) return;
    Raise(&time_seen, micros);
    primary_clock.Saw(static_cast<int64_t>(micros), SteadyMicros());
  }
  // For a replica, whose own clock may be another: the primary's time by what it last said, and never ahead of it.
  ReadTime replica_time() {
    ReadTime time = read_time();
    if (!time.given) {
      time.given = primary_now().micros;
      Raise(&time_seen, *time.given);
    }
    return time;
  }
  void SawVersion(Version version) {
    Raise(&version_seen, version.stamp);
    // It may be of long ago, when it is that of a state: no word about what the clock says now.
    Raise(&time_seen, version.time().micros);
  }
  bool has_replicas() const { return options.servers.size() > 1; }
  // What a replica must have at least for a read; how far it has replayed is asked of it when it reads.
  ReplicaNeed NeedOf(const SessionToken& session) const {
    return {.max_lag = options.max_lag, .replayed = {}, .timeline = session.timeline};
  }
  Deadline request_deadline() const { return In(options.request_timeout); }
  // Another can answer instead of a replica, so it has no longer than to say how it is.
  Deadline replica_deadline() const { return In(std::min(options.request_timeout, options.probe_timeout)); }

 private:
  static int64_t SteadyMicros() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  }
  static void Raise(std::atomic<uint64_t>* value, uint64_t to) {
    uint64_t now = value->load(std::memory_order_relaxed);
    while (now < to && !value->compare_exchange_weak(now, to, std::memory_order_relaxed)) {
    }
  }
};

inline bool Shared::OpenViews::Add(Timestamp opened, size_t at_most) {
  const std::lock_guard lock(mutex_);
  if (opened_.size() >= at_most) return false;
  opened_.insert(opened);
  return true;
}

inline void Shared::OpenViews::Remove(Timestamp opened) {
  const std::lock_guard lock(mutex_);
  opened_.erase(opened_.find(opened));
}

inline size_t Shared::OpenViews::size() const {
  const std::lock_guard lock(mutex_);
  return opened_.size();
}

inline std::optional<Timestamp> Shared::OpenViews::oldest() const {
  const std::lock_guard lock(mutex_);
  if (opened_.empty()) return std::nullopt;
  return *opened_.begin();
}

}  // namespace kvarts::postgres
