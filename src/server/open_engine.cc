#include "server/open_engine.h"

#include <chrono>

#include "engine/memory/memory_engine.h"
#include "engine/postgres/postgres_engine.h"
#include "engine/rocksdb/rocks_engine.h"
#include "server/shards.h"

namespace kvarts {
namespace {

// How long a transaction may be run where nothing can change under it, which nobody configures. Engines as such allow
// for what it takes; on a server that has more to do than it can, its thread may also have to wait for a processor.
constexpr Duration kSecondRun = Duration::Millis(250);

Limits LimitsOf(const ServerOptions& options) {
  Limits limits = options.limits;
  limits.max_second_run_time = kSecondRun;
  return limits;
}

std::chrono::milliseconds Millis(Duration duration) { return std::chrono::milliseconds(duration.micros / 1000); }

Result<std::unique_ptr<Engine>> OpenPostgres(const ServerOptions& from, bool create) {
  KVARTS_TRY(const std::vector<Shard> shards, ReadShards(from.shards));
  if (shards.size() != 1) {
    return Error(ErrorCode::kInvalidArgument, "the postgres engine takes one shard", {{"path", from.shards}});
  }
  PostgresOptions to;
  const Duration second_run = to.limits.max_second_run_time;  // longer: each read waits for the network
  to.limits = from.limits;
  to.limits.max_second_run_time = second_run;
  to.create_if_missing = create;
  to.servers = shards.front().servers;
  to.max_lag = Millis(from.reads.max_lag);
  to.session_wait = Millis(from.reads.session_wait);
  to.commit_connections = from.postgres.commit_connections;
  to.read_connections = from.postgres.read_connections;
  to.loop_connections = Effective(from).loops;
  to.other_connections = from.postgres.other_connections;
  to.connect_timeout = Millis(from.postgres.connect_timeout);
  to.request_timeout = Millis(from.postgres.request_timeout);
  to.primary_patience = Millis(from.postgres.primary_patience);
  to.probe_interval = Millis(from.postgres.probe_interval);
  to.collect_batch = from.postgres.collect_batch;
  to.collect_pause = Millis(from.postgres.collect_pause);
  return OpenPostgresEngine(to);
}

}  // namespace

Result<std::unique_ptr<Engine>> OpenEngine(const ServerOptions& options, IfMissing if_missing) {
  const bool create = if_missing == IfMissing::kCreate;
  if (options.engine == EngineKind::kMemory) {
    MemoryOptions memory;
    memory.limits = LimitsOf(options);
    return OpenMemoryEngine(memory);
  }
  if (options.engine == EngineKind::kPostgres) return OpenPostgres(options, create);
  RocksOptions rocks;
  rocks.limits = LimitsOf(options);
  rocks.create_if_missing = create;
  rocks.memory_budget = options.memory_budget;
  rocks.hot_cache_bytes = options.hot_cache;
  rocks.sync_interval = options.sync_interval;
  return OpenRocksEngine(options.data, rocks);
}

}  // namespace kvarts
