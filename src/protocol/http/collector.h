// Collector: gathers what there is to know about a server, for /metrics and /stats. It takes a millisecond or a few,
// and asks the engine, so it belongs on a worker; what is dear is not gathered more often than kKeptMillis, whoever
// asks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/process_stats.h"
#include "core/job_record.h"
#include "model/table/survey.h"
#include "protocol/common/loop_totals.h"
#include "protocol/http/partitions.h"

namespace kvarts::http {

struct Service;

constexpr size_t kJobStates = 6;

// What is dear.
struct StoreFacts {
  EngineStats engine;
  std::array<uint64_t, kJobStates> jobs{};  // by their state
  std::vector<Partition> partitions;        // the widest first
};

struct ServerFacts {
  std::shared_ptr<const StoreFacts> store;
  LoopTotals loops;
  std::vector<NamespaceTotals> namespaces;
  ProcessStats process;
  HotKeys hot;
  uint64_t loop_threads = 0;
  uint64_t connections = 0;
  uint64_t connections_accepted = 0;
  uint64_t connections_refused = 0;
  uint64_t connections_unknown = 0;  // spoke no protocol of ours
  uint64_t inflight_bytes = 0;
  uint64_t work_queued = 0;
  uint64_t watchers = 0;
  uint64_t log_dropped = 0;
  uint64_t namespaces_declared = 0;
  std::vector<WidePartition> wide_partitions;
};

// The hot keys of all loops.
HotKeys HotKeysOf(const Service& service);

class Collector {
 public:
  // Jobs are counted up to so many.
  static constexpr size_t kMaxJobsCounted = 10'000;

  Result<ServerFacts> Take(Service& service);

 private:
  static constexpr uint64_t kKeptMicros = 250'000;

  Result<std::shared_ptr<const StoreFacts>> TakeStore(Service& service, const HotKeys& hot);

  std::mutex mutex_;
  std::shared_ptr<const StoreFacts> kept_;
  uint64_t kept_at_us_ = 0;
  WidestPartitions widest_;
};

}  // namespace kvarts::http
