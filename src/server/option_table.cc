#include "server/option_table.h"

#include <array>

namespace kvarts {
namespace {

constexpr std::array<std::string_view, 3> kEngineNames = {"rocksdb", "memory", "postgres"};
constexpr std::array<std::string_view, 5> kDurabilityNames = {"none", "interval", "sync", "quorum", "applied"};
constexpr std::array<std::string_view, 3> kConsistencyNames = {"eventual", "session", "strong"};
constexpr std::array<std::string_view, 2> kTlsVersionNames = {"1.2", "1.3"};
constexpr std::array<std::string_view, 2> kTokenPolicyNames = {"auto", "always"};

template <class Value>
OptionRef Ref(Value& value) {
  return &value;
}
// The enumerations are of one byte, which may be seen as such.
template <class Enum, size_t N>
OptionRef Choice(Enum& value, const std::array<std::string_view, N>& names) {
  static_assert(sizeof(Enum) == 1);
  return ChoiceRef{reinterpret_cast<uint8_t*>(&value), names};
}

using enum OptionType;
using Of = ServerOptions&;

constexpr uint64_t kMillisecond = 1'000;
constexpr uint64_t kSecond = 1'000'000;
constexpr uint64_t kHour = 3'600 * kSecond;
constexpr uint64_t kKiB = 1 << 10;
constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kGiB = 1 << 30;
constexpr uint64_t kTiB = uint64_t{1} << 40;
constexpr uint64_t kMillion = 1'000'000;

// Those without a section come first, and those of a section stand together: a file is written in this order.
constexpr Option kTable[] = {
    {"listen", kList, [](Of o) { return Ref(o.listen); },
     "addresses to serve: host:port, [host]:port or unix:/path; without tokens only loopback"},
    {"data", kPath, [](Of o) { return Ref(o.data); }, "the data directory, made if it is not there"},
    {"engine", kChoice, [](Of o) { return Choice(o.engine, kEngineNames); },
     "what stores the data; memory forgets everything at the end"},
    {"shards", kPath, [](Of o) { return Ref(o.shards); }, "of the postgres engine: the file that names its servers"},
    {"durability", kChoice, [](Of o) { return Choice(o.durability, kDurabilityNames); },
     "what the acknowledgement of a write promises, unless the request says otherwise"},
    {"sync_interval", kDuration, [](Of o) { return Ref(o.sync_interval); },
     "how long after its acknowledgement a write with durability interval may be lost with the machine", kMillisecond,
     60 * kSecond},
    {"loops", kCount, [](Of o) { return Ref(o.loops); }, "event loops; 0 is one per core", 0, 1024},
    {"worker_threads", kCount, [](Of o) { return Ref(o.worker_threads); }, "threads for what may wait for a disk", 1,
     1024},
    {"worker_queue", kCount, [](Of o) { return Ref(o.worker_queue); },
     "requests that may wait for a worker thread, and as many again that take long", 1, kMillion},
    {"memory_budget", kSize, [](Of o) { return Ref(o.memory_budget); }, "for caches and write buffers together",
     8 * kMiB, 64 * kTiB},
    {"hot_cache", kSize, [](Of o) { return Ref(o.hot_cache); },
     "of the memory budget, for values that are read over and over; 0 is off", 0, 64 * kTiB},
    {"drain_timeout", kDuration, [](Of o) { return Ref(o.drain_timeout); },
     "how long a stopping server waits for requests under way", 0, kHour},
    {"retention_interval", kDuration, [](Of o) { return Ref(o.retention_interval); },
     "how often what is older than its namespace or table keeps it is erased; 0 is off", 0, 24 * kHour},
    {"expiry_interval", kDuration, [](Of o) { return Ref(o.expiry_interval); },
     "how often rows that have expired are taken away with what hangs on them; nobody sees them before; 0 is off", 0,
     24 * kHour},
    {"survey_interval", kDuration, [](Of o) { return Ref(o.survey_interval); },
     "how often is looked for partitions of tables that have grown wide; 0 is off", 0, 24 * kHour},
    {"wide_partition", kSize, [](Of o) { return Ref(o.wide_partition); },
     "partitions of tables that hold more are warned of", kMiB, 64 * kTiB},
    {"job_lease", kDuration, [](Of o) { return Ref(o.job_lease); },
     "how long a job waits for a process that was at it and has died, before another goes on with it",
     100 * kMillisecond, kHour},
    {"slow_request", kDuration, [](Of o) { return Ref(o.slow_request); },
     "requests that take longer are logged; 0 is off", 0, kHour},

    {"limits.max_key_bytes", kSize, [](Of o) { return Ref(o.limits.max_key_bytes); }, "the longest key", 16, 64 * kKiB},
    {"limits.max_value_bytes", kSize, [](Of o) { return Ref(o.limits.max_value_bytes); }, "the largest value", kKiB,
     kGiB},
    {"limits.max_commit_operations", kCount, [](Of o) { return Ref(o.limits.max_commit_operations); },
     "conditions and changes of one commit", 16, kMillion},
    {"limits.max_commit_bytes", kSize, [](Of o) { return Ref(o.limits.max_commit_bytes); },
     "keys and values of one commit", 64 * kKiB, 2 * kGiB},
    {"limits.max_page_entries", kCount, [](Of o) { return Ref(o.limits.max_page_entries); },
     "entries that one read of a range may return", 1, kMillion},
    {"limits.max_page_bytes", kSize, [](Of o) { return Ref(o.limits.max_page_bytes); },
     "bytes that one read of a range may return", 64 * kKiB, kGiB},
    {"limits.max_views", kCount, [](Of o) { return Ref(o.limits.max_views); },
     "views open at once: reads of ranges and transactions under way", 16, kMillion},
    {"limits.max_view_age", kDuration, [](Of o) { return Ref(o.limits.max_view_age); },
     "how old a view may become before it is closed", kSecond, 24 * kHour},
    {"limits.max_cursor_age", kDuration, [](Of o) { return Ref(o.max_cursor_age); },
     "how long the cursor of a page can be resumed", kSecond, 365 * 24 * kHour},

    {"consistency.default", kChoice, [](Of o) { return Choice(o.reads.consistency, kConsistencyNames); },
     "how new what is read must be, unless the request says otherwise; matters only with replicas"},
    {"consistency.max_lag", kDuration, [](Of o) { return Ref(o.reads.max_lag); },
     "a replica that is further behind is not read from", 0, 24 * kHour},
    {"consistency.session_wait", kDuration, [](Of o) { return Ref(o.reads.session_wait); },
     "how long a read of a session waits for a replica that has what it must see, before the primary is asked", 0,
     kHour},

    {"postgres.commit_connections", kCount, [](Of o) { return Ref(o.postgres.commit_connections); },
     "connections to the primary for commits", 1, 100},
    {"postgres.read_connections", kCount, [](Of o) { return Ref(o.postgres.read_connections); },
     "connections for reads of keys, to the primary and to all replicas together", 1, 100},
    {"postgres.other_connections", kCount, [](Of o) { return Ref(o.postgres.other_connections); },
     "connections to each server for pages, transactions and everything else; requests wait for one", 2, 1000},
    {"postgres.connect_timeout", kDuration, [](Of o) { return Ref(o.postgres.connect_timeout); },
     "how long a server may take to let a connection in", 100 * kMillisecond, 60 * kSecond},
    {"postgres.request_timeout", kDuration, [](Of o) { return Ref(o.postgres.request_timeout); },
     "how long a server may take to answer, waiting for a connection included", 100 * kMillisecond, kHour},
    {"postgres.primary_patience", kDuration, [](Of o) { return Ref(o.postgres.primary_patience); },
     "how long after the loss of the primary requests wait for another; later ones fail at once", 0, kHour},
    {"postgres.probe_interval", kDuration, [](Of o) { return Ref(o.postgres.probe_interval); },
     "how often each server is asked about itself", 10 * kMillisecond, 60 * kSecond},
    {"postgres.collect_batch", kCount, [](Of o) { return Ref(o.postgres.collect_batch); },
     "dead rows that are taken away at once", 1, 100'000},
    {"postgres.collect_pause", kDuration, [](Of o) { return Ref(o.postgres.collect_pause); },
     "how long the collection rests behind each batch", 0, 60 * kSecond},

    {"http.max_head_bytes", kSize, [](Of o) { return Ref(o.http.max_head_bytes); }, "request line and headers", kKiB,
     kMiB},
    {"http.max_headers", kCount, [](Of o) { return Ref(o.http.max_headers); }, "headers of a request", 8, 10'000},
    {"http.max_target_bytes", kSize, [](Of o) { return Ref(o.http.max_target_bytes); },
     "path and query of a request; 0 is three times limits.max_key_bytes, as percent-encoding needs, and 1KiB", 0,
     kMiB},
    {"http.max_body_bytes", kSize, [](Of o) { return Ref(o.http.max_body_bytes); }, "the body of a request", kKiB,
     2 * kGiB},
    {"http.max_connections", kCount, [](Of o) { return Ref(o.http.max_connections); }, "connections open at once", 1,
     kMillion},
    {"http.max_inflight_bytes", kSize, [](Of o) { return Ref(o.http.max_inflight_bytes); },
     "bodies and answers of all connections together", kMiB, 64 * kTiB},
    {"http.idle_timeout", kDuration, [](Of o) { return Ref(o.http.idle_timeout); },
     "how long a connection may rest between requests", 100 * kMillisecond, 24 * kHour},
    {"http.head_timeout", kDuration, [](Of o) { return Ref(o.http.head_timeout); },
     "how long the head of a request may take to arrive", 100 * kMillisecond, kHour},
    {"http.request_timeout", kDuration, [](Of o) { return Ref(o.http.request_timeout); },
     "how long the body of a request may take to arrive, and its answer to be made", 100 * kMillisecond, kHour},
    {"http.write_timeout", kDuration, [](Of o) { return Ref(o.http.write_timeout); },
     "how long a client may take none of its answer", 100 * kMillisecond, kHour},
    {"http.max_pipelined", kCount, [](Of o) { return Ref(o.http.max_pipelined); },
     "writes of one connection that are submitted together", 1, 10'000},
    {"http.max_pipelined_bytes", kSize, [](Of o) { return Ref(o.http.max_pipelined_bytes); },
     "their bytes; one write always fits", kKiB, kGiB},
    {"http.compress_min_bytes", kSize, [](Of o) { return Ref(o.http.compress_min_bytes); },
     "answers from this size on are compressed for clients that take it; 0 is off", 0, kGiB},
    {"http.max_batch_keys", kCount, [](Of o) { return Ref(o.http.max_batch_keys); }, "keys of one POST /keys/get", 1,
     kMillion},
    {"http.default_page_limit", kCount, [](Of o) { return Ref(o.http.default_page_limit); },
     "entries of a page whose request does not say how many", 1, kMillion},
    {"http.max_page_limit", kCount, [](Of o) { return Ref(o.http.max_page_limit); },
     "the most entries that a request may ask for", 1, kMillion},
    {"http.cors_origins", kList, [](Of o) { return Ref(o.http.cors_origins); },
     "web origins whose scripts may call, such as https://example.org; * is any"},

    {"redis.listen", kList, [](Of o) { return Ref(o.redis.listen); },
     "addresses that serve nothing but Redis' protocol, which those of listen serve, too"},
    {"redis.debug_commands", kBool, [](Of o) { return Ref(o.redis.debug_commands); },
     "carry out DEBUG of Redis' protocol: for tests, since it can make the server wait"},
    {"redis.max_bulk_bytes", kSize, [](Of o) { return Ref(o.redis.max_bulk_bytes); },
     "an argument, and a string: proto-max-bulk-len", kMiB, 512 * kMiB},
    {"redis.staged_bytes", kSize, [](Of o) { return Ref(o.redis.staged_bytes); },
     "a larger string is written in parts, before the commit of its key", kMiB, kGiB},
    {"redis.max_held_bytes", kSize, [](Of o) { return Ref(o.redis.max_held_bytes); },
     "commands on their way, what is queued, and large answers, of all connections together", kMiB, 64 * kTiB},

    {"scan.tombstones_warn", kCount, [](Of o) { return Ref(o.scan.tombstones_warn); },
     "a request that skips more tombstones than this is logged", 1},
    {"scan.tombstones_fail", kCount, [](Of o) { return Ref(o.scan.tombstones_fail); },
     "a page that skips more tombstones than this ends there, and fails if it has found nothing", 1},
    {"scan.max_count", kCount, [](Of o) { return Ref(o.scan.max_count); },
     "keys that one exact count looks at before it answers with a cursor", 1},

    {"watch.max_watchers", kCount, [](Of o) { return Ref(o.watch.max_watchers); }, "watches open at once", 0, kMillion},
    {"watch.max_backlog", kCount, [](Of o) { return Ref(o.watch.max_backlog); },
     "changes that a watch may be behind before it is cut off", 1, kMillion},
    {"watch.heartbeat", kDuration, [](Of o) { return Ref(o.watch.heartbeat); },
     "how often a watch is sent a sign of life when nothing changes", 100 * kMillisecond, kHour},

    {"tls.certificate", kPath, [](Of o) { return Ref(o.tls.certificate); },
     "PEM file with the server's certificate and those above it; TLS is off without"},
    {"tls.key", kPath, [](Of o) { return Ref(o.tls.key); }, "PEM file with the certificate's key"},
    {"tls.client_ca", kPath, [](Of o) { return Ref(o.tls.client_ca); },
     "PEM file; clients must show a certificate that one of these has signed"},
    {"tls.min_version", kChoice, [](Of o) { return Choice(o.tls.min_version, kTlsVersionNames); },
     "the oldest version of TLS that is spoken"},

    {"access.require_tokens", kChoice, [](Of o) { return Choice(o.require_tokens, kTokenPolicyNames); },
     "whether a request must carry a token; auto is once there is one"},

    {"log.level", kChoice, [](Of o) { return Choice(o.log_level, kLogLevelNames); }, "what is logged, and all above"},
    {"log.format", kChoice, [](Of o) { return Choice(o.log_format, kLogFormatNames); },
     "how; auto is journald when it reads the standard error, else text"},
    {"metrics.enabled", kBool, [](Of o) { return Ref(o.metrics_enabled); }, "serve /metrics"},
    {"hotkeys.enabled", kBool, [](Of o) { return Ref(o.hotkeys_enabled); }, "track the keys that are used most"},
};

}  // namespace

std::span<const Option> OptionTable() { return kTable; }

}  // namespace kvarts
