// Takes away what is dead: rows of erased keys, and of values that have expired and are nobody's.
//
// A row stays for as long as a view may be open, and then some: until then who decides by a range that it read may have
// to see that something was erased in it. All processes do this at once, in small batches, with a pause behind
// each; rows that another one is at are passed over.
//
// So do the waits for replicas of processes that are gone or out of reach: nothing else would end them before there is
// a replica again, and they keep the locks of their commits.
#pragma once

#include <atomic>
#include <thread>

#include "engine/postgres/servers.h"
#include "engine/postgres/shared.h"

namespace kvarts::postgres {

class Collector {
 public:
  Collector(Shared& shared, Servers& servers) : shared_(shared), servers_(servers) {}

  void Start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { Loop(stop); });
  }

  // Rows that this process has taken away, and those that wait for it, up to kMaxCounted.
  uint64_t collected() const { return collected_.load(std::memory_order_relaxed); }
  uint64_t backlog() const { return backlog_.load(std::memory_order_relaxed); }
  static constexpr int64_t kMaxCounted = 100'000;

 private:
  void Loop(const std::stop_token& stop);
  // How many were taken away.
  Result<int64_t> Batch();
  Status EndWaits();
  Status CountBacklog();
  // The version up to which what is dead may go.
  int64_t DeadSince() const;

  Shared& shared_;
  Servers& servers_;
  std::atomic<uint64_t> collected_{0};
  std::atomic<uint64_t> backlog_{0};
  std::jthread thread_;  // ends first
};

}  // namespace kvarts::postgres
