// What the handlers of HTTP work with: the store and its models, and what each loop has of its own.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/log_limit.h"
#include "base/top_keys.h"
#include "base/worker_pool.h"
#include "core/store.h"
#include "model/access/tokens.h"
#include "model/catalog/catalog.h"
#include "model/keys/pages.h"
#include "model/table/survey.h"
#include "model/table/tables.h"
#include "net/http/response_head.h"
#include "protocol/common/loop_metrics.h"
#include "protocol/common/loop_reads.h"
#include "protocol/common/namespace_metrics.h"
#include "protocol/common/redis_commands.h"
#include "protocol/http/collector.h"
#include "protocol/http/options.h"
#include "protocol/http/write_throttle.h"

namespace kvarts::net {
class Listener;
}  // namespace kvarts::net

namespace kvarts::http {

// Belongs to one loop; metrics and hot keys may be read by anybody.
struct LoopState {
  LoopState(const Clock& clock, Catalog& catalog, NamespacePlaces& places, net::Loop& loop, Engine& engine);

  std::unique_ptr<LoopReads> reads;  // ends before the engine
  HttpDate date;
  LoopMetrics metrics;
  NamespaceMetrics namespaces;
  TopKeys hot;
  // What is logged of requests, so that a flood of them is none in the log.
  LogLimit slow_log{kLoggedPerSecond};
  LogLimit tombstone_log{kLoggedPerSecond};

  static constexpr uint32_t kLoggedPerSecond = 10;
};

// What there is of a process, for everybody who serves it. Its parts outlive every connection.
struct Service {
  Store& store;
  Catalog& catalog;
  Tables& tables;
  Tokens& tokens;
  WorkerPool& workers;
  const Clock& clock;
  HttpOptions options;
  keys::CursorSetting cursors;
  NamespacePlaces places{};  // outlives the loops that count by them
  std::vector<std::unique_ptr<LoopState>> loops{};
  std::atomic<uint64_t> inflight_bytes{0};
  std::atomic<bool> ready{false};
  std::atomic<size_t> watchers{0};
  // Of inflight_bytes, what streams hold for clients that have not taken it yet.
  std::atomic<uint64_t> stream_bytes{0};
  WriteThrottle throttle{};
  // Whether requests must bear a token. Set once there is one, and never taken back: tokens that have all expired do
  // not open the door.
  std::atomic<bool> tokens_required{false};
  // Nobody but this process can ask: its owner needs no token.
  bool local_only = false;
  // Of every process that serves.
  RedisCommands* redis = nullptr;
  const net::Listener* listener = nullptr;  // for its counts
  Collector collector{};
  Survey survey{};

  Engine& engine() const { return store.engine(); }
  // Streams hold memory for clients that are slow to take it only up to this much in all: the rest is for those who
  // send and are served at once.
  uint64_t stream_room() const { return options.max_inflight_bytes / 2; }
};

}  // namespace kvarts::http
