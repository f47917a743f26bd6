// Every option of the server, typed. What each is called on a command line, in the environment and in a file, and what
// values it takes, stands in the table of options (server/option_table.h), which fills this.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/consistency.h"
#include "base/durability.h"
#include "base/log_sinks.h"
#include "engine/limits.h"

namespace kvarts {

enum class EngineKind : uint8_t { kRocksdb, kMemory, kPostgres };
enum class TlsVersion : uint8_t { k12, k13 };
// Whether a request must carry a token.
enum class TokenPolicy : uint8_t {
  kAuto,    // once there is one
  kAlways,  // even while there is none, so that nobody gets in before the first is made
};

struct ServerOptions {
  struct Http {
    // Request line and headers.
    uint64_t max_head_bytes = 40 << 10;
    uint64_t max_headers = 100;
    // Path and query; 0: as much as the longest key needs when it is percent-encoded.
    uint64_t max_target_bytes = 0;
    uint64_t max_body_bytes = 64 << 20;
    uint64_t max_connections = 20'000;
    // Bodies and answers of all connections together.
    uint64_t max_inflight_bytes = 256 << 20;
    // Of a connection between requests.
    Duration idle_timeout = Duration::Seconds(75);
    // For a head to arrive, once it has begun.
    Duration head_timeout = Duration::Seconds(10);
    // For the whole body to arrive and for the answer to be made.
    Duration request_timeout = Duration::Seconds(30);
    // For a client to take any of its answer.
    Duration write_timeout = Duration::Seconds(30);
    // Writes of one connection that are submitted together, and their bytes; one always fits.
    uint64_t max_pipelined = 64;
    uint64_t max_pipelined_bytes = 1 << 20;
    // Answers from this size on are compressed for clients that take it; 0 is off.
    uint64_t compress_min_bytes = 4 << 10;
    // Keys of one POST /keys/get.
    uint64_t max_batch_keys = 10'000;
    // Entries of a page that does not say how many, and the most it may ask for.
    uint64_t default_page_limit = 100;
    uint64_t max_page_limit = 10'000;
    // Origins whose scripts may call; none if empty.
    std::vector<std::string> cors_origins = {};
  };

  // Of Redis' protocol.
  struct Redis {
    // Where nothing else is served; as the `listen` of all protocols.
    std::vector<std::string> listen = {};
    bool debug_commands = false;
    // Of one argument, and of a string.
    uint64_t max_bulk_bytes = 512 << 20;
    // A larger string is written in parts, before the commit of its key.
    uint64_t staged_bytes = 8 << 20;
    // Commands on their way, what is queued, and large answers, of all connections together.
    uint64_t max_held_bytes = 1 << 30;
  };

  struct Scan {
    // Tombstones that one request may skip before it is logged, and before it fails.
    uint64_t tombstones_warn = 1'000;
    uint64_t tombstones_fail = 100'000;
    // Keys that one exact count looks at; it goes on with a cursor.
    uint64_t max_count = 1'000'000;
  };

  struct Tls {
    // PEM files; TLS is off while there is no certificate.
    std::string certificate;
    std::string key;
    // Clients must show a certificate signed by one of these.
    std::string client_ca;
    TlsVersion min_version = TlsVersion::k12;
  };

  struct Watch {
    uint64_t max_watchers = 10'000;
    // Changes that a watcher may be behind before it is cut off.
    uint64_t max_backlog = 10'000;
    // A sign of life when nothing changes.
    Duration heartbeat = Duration::Seconds(15);
  };

  // host:port, [host]:port, or unix:/path.
  std::vector<std::string> listen = {"127.0.0.1:7700"};
  std::string data = "./data";
  EngineKind engine = EngineKind::kRocksdb;
  // Of the postgres engine: the file that names its servers (shards.h).
  std::string shards;
  // Of writes that do not say otherwise.
  Durability durability = Durability::kSync;
  // How long after its acknowledgement an `interval` write may be lost with the machine.
  Duration sync_interval = Duration::Millis(100);
  // Event loops; 0 is one per core.
  uint64_t loops = 0;
  // Threads for what may wait: scans of cold data, jobs, compression.
  uint64_t worker_threads = 4;
  // Requests that may wait for one of them; as many again that take long.
  uint64_t worker_queue = 10'000;
  // For hot values, blocks, indexes, filters and write buffers together, and of that for hot values.
  uint64_t memory_budget = 512 << 20;
  uint64_t hot_cache = 128 << 20;
  // How long a stopping server waits for requests under way.
  Duration drain_timeout = Duration::Seconds(20);
  // How often what is older than its namespace keeps it is erased, the first time at the start; 0 is never.
  Duration retention_interval = Duration::Seconds(3600);
  // How often it is looked whether rows of tables have expired, and have to be taken away; 0 is never.
  Duration expiry_interval = Duration::Seconds(1);
  // How often it is looked for partitions of tables that have grown wide, and from which size on they have; 0 is never.
  Duration survey_interval = Duration::Seconds(3600);
  uint64_t wide_partition = 100 << 20;
  // How long after its last sign of life a process loses the jobs that it was at to others.
  Duration job_lease = Duration::Seconds(30);
  // Requests that take longer are logged.
  Duration slow_request = Duration::Millis(500);

  // Of keys, values, commits, pages and views.
  Limits limits;
  // How new what is read must be, unless the request says otherwise; with replicas.
  struct Reads {
    Consistency consistency = Consistency::kStrong;
    // A replica that is further behind is not read from.
    Duration max_lag = Duration::Seconds(10);
    // How long a read of a session waits for a replica that has what it must see.
    Duration session_wait = Duration::Millis(50);
  };
  Reads reads;
  // Of the postgres engine.
  struct Postgres {
    // To the primary, for commits; and for reads of keys, to the primary and to all replicas together.
    uint64_t commit_connections = 3;
    uint64_t read_connections = 2;
    // To each server, for pages, transactions and everything else.
    uint64_t other_connections = 20;
    Duration connect_timeout = Duration::Seconds(5);
    Duration request_timeout = Duration::Seconds(10);
    // How long after the loss of the primary requests wait for another.
    Duration primary_patience = Duration::Seconds(2);
    Duration probe_interval = Duration::Seconds(1);
    // Dead rows are taken away so many at a time, with a pause behind.
    uint64_t collect_batch = 1000;
    Duration collect_pause = Duration::Millis(50);
  };
  Postgres postgres;
  // How long a cursor can be resumed.
  Duration max_cursor_age = Duration::Seconds(3600);

  Http http;
  Redis redis;
  Scan scan;
  Watch watch;
  Tls tls;
  TokenPolicy require_tokens = TokenPolicy::kAuto;

  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kAuto;
  bool metrics_enabled = true;
  bool hotkeys_enabled = true;
};

// What a server goes by: a zero that stands for a number that follows from others, or from the machine, is that number.
ServerOptions Effective(ServerOptions options);

}  // namespace kvarts
