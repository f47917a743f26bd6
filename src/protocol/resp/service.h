// What the connections of Redis' protocol work with; its parts outlive every connection.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/durability.h"
#include "base/worker_pool.h"
#include "core/store.h"
#include "model/access/tokens.h"
#include "model/structure/databases.h"
#include "model/structure/scan_cursors.h"
#include "net/listener.h"
#include "protocol/common/loop_commits.h"
#include "protocol/resp/acl.h"
#include "protocol/resp/blocked_clients.h"
#include "protocol/resp/channels.h"
#include "protocol/resp/clients.h"
#include "protocol/resp/latency_events.h"
#include "protocol/resp/notifications.h"
#include "protocol/resp/pause.h"
#include "protocol/resp/rate.h"
#include "protocol/resp/settings.h"
#include "protocol/resp/slow_log.h"
#include "protocol/resp/statistics.h"
#include "protocol/resp/tracking.h"
#include "protocol/resp/waiting_lines.h"

namespace kvarts::resp {

struct RespOptions {
  // What clients may change: as it is at the beginning.
  Durability durability = Durability::kSync;
  // A larger string is written in parts, before the commit of its key.
  uint64_t staged_bytes = 8 << 20;
  // What all connections hold together: commands that have not arrived as a whole, what is queued, large answers.
  uint64_t max_held_bytes = 1 << 30;
  size_t max_pipelined = 1024;  // commands in one transaction
  size_t max_pipelined_bytes = 1 << 20;
  std::chrono::milliseconds write_timeout{30'000};
  std::string directory = {};   // of the data
  bool debug_commands = false;  // whether DEBUG is carried out
};

// What was made durable at somebody's wish.
struct Saves {
  std::atomic<int64_t> last_seconds{0};  // when it was done
  std::atomic<int64_t> took_seconds{-1};
  std::atomic<uint64_t> count{0};
  std::atomic<bool> running{false};
  std::atomic<bool> failed{false};  // the last one
};

struct Service {
  Store& store;
  structure::Databases& databases;
  Tokens& tokens;
  WorkerPool& workers;
  const Clock& clock;
  const std::atomic<bool>& tokens_required;
  RespOptions options;
  std::unique_ptr<Acl> acl;
  structure::ScanCursors cursors{};
  BlockedClients blocked{};
  WaitingLines lines{};
  Pause pause{};
  std::atomic<uint64_t> next_client{1};
  std::atomic<uint64_t> held_bytes{0};
  Clients clients{};
  MessageBytes message_bytes{held_bytes};
  Channels channels{message_bytes};
  std::atomic<uint64_t> cut_off{0};  // clients that did not take what they were told
  Timestamp started{};
  std::vector<std::unique_ptr<LoopCommits>> commits{};  // of each loop, by its number
  Settings settings{};
  Statistics statistics{};
  Notifications notifications{databases.events(), channels};
  Tracking tracking{store, clients, settings, message_bytes};
  SlowLog slow_log{};
  LatencyEvents latency_events{};
  Saves saves{};
  std::atomic<bool> active_expiry{true};  // whether what has expired is taken away
  // Null until there is one.
  net::Listener* listener = nullptr;
  // Asks the process to end, as a signal would.
  std::function<void()> end_process = nullptr;
  Rate rate{};  // of commands
  std::atomic<uint64_t> bytes_in{0};
  std::atomic<uint64_t> bytes_out{0};
  std::atomic<uint64_t> peak_bytes{0};
  // The most that was ever allocated, of the times that it was looked at.
  uint64_t NotePeak(uint64_t bytes) {
    uint64_t peak = peak_bytes.load();
    while (peak < bytes && !peak_bytes.compare_exchange_weak(peak, bytes)) {
    }
    return std::max(peak, bytes);
  }
  std::atomic<uint16_t> port{0};  // on which it is served; zero: on none
};

}  // namespace kvarts::resp
