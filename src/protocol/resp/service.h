// What the connections of Redis' protocol work with; its parts outlive every connection.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/durability.h"
#include "base/worker_pool.h"
#include "core/store.h"
#include "model/access/tokens.h"
#include "model/structure/databases.h"
#include "model/structure/scan_cursors.h"
#include "protocol/common/loop_commits.h"
#include "protocol/resp/blocked_clients.h"
#include "protocol/resp/waiting_lines.h"

namespace kvarts::resp {

struct RespOptions {
  Durability durability = Durability::kSync;
  // Of one argument, and of a string: `proto-max-bulk-len`.
  int64_t max_bulk_bytes = 512 << 20;
  // A larger string is written in parts, before the commit of its key.
  uint64_t staged_bytes = 8 << 20;
  // What all connections hold together: commands that have not arrived as a whole, what is queued, large answers.
  uint64_t max_held_bytes = 1 << 30;
  size_t max_pipelined = 1024;  // commands in one transaction
  size_t max_pipelined_bytes = 1 << 20;
  std::chrono::milliseconds write_timeout{30'000};
  std::chrono::microseconds slow_command{10'000};
};

struct Service {
  Store& store;
  structure::Databases& databases;
  Tokens& tokens;
  WorkerPool& workers;
  const Clock& clock;
  const std::atomic<bool>& tokens_required;
  RespOptions options;
  structure::ScanCursors cursors{};
  BlockedClients blocked{};
  WaitingLines lines{};
  std::atomic<uint64_t> next_client{1};
  std::atomic<uint64_t> clients{0};
  std::atomic<uint64_t> commands{0};
  std::atomic<uint64_t> held_bytes{0};
  Timestamp started{};
  std::vector<std::unique_ptr<LoopCommits>> commits{};  // of each loop, by its number
};

}  // namespace kvarts::resp
