#include "protocol/http/metrics_text.h"

#include <array>
#include <string>

#include "protocol/http/service.h"

namespace kvarts::http {
namespace {

constexpr double kMicro = 1e-6;
constexpr size_t kPrefixesLookedAt = 32;

constexpr std::array<std::string_view, 6> kClasses = {"", "1xx", "2xx", "3xx", "4xx", "5xx"};

// Every fourth power of two of the latencies' boundaries: there may be many namespaces.
std::span<const double> CoarseBoundaries() {
  static const std::vector<double> boundaries = [] {
    std::vector<double> coarse;
    const std::span<const double> all = LatencyHistogram::Boundaries();
    for (size_t i = 3; i < all.size(); i += 2) coarse.push_back(all[i]);
    return coarse;
  }();
  return boundaries;
}

void WriteRequests(PrometheusWriter& out, const ServerFacts& facts) {
  const LoopTotals& loops = facts.loops;
  out.Histogram("kvarts_request_duration_seconds", "How long requests took, from their last byte to their answer.");
  for (size_t i = 0; i < kOperations; ++i) {
    out.Buckets(loops.latency[i], LatencyHistogram::Boundaries(), {{"operation", kOperationNames[i]}});
  }
  out.Counter("kvarts_http_responses_total", "Answers, by the class of their status.");
  for (size_t i = 1; i < kClasses.size(); ++i) out.Value(loops.answers[i], {{"code", kClasses[i]}});
  out.Counter("kvarts_http_malformed_total", "Requests that were no HTTP.").Value(loops.requests_malformed);
  out.Counter("kvarts_http_request_body_bytes_total", "Bytes of requests' bodies.").Value(loops.bytes_in);
  out.Counter("kvarts_http_sent_bytes_total", "Bytes sent.").Value(loops.bytes_out);
  out.Counter("kvarts_slow_requests_total", "Requests slower than slow_request.").Value(loops.slow_requests);
  out.Counter("kvarts_rate_limited_total", "Requests beyond their token's rate.").Value(loops.rate_limited);
  out.Counter("kvarts_throttled_writes_total", "Writes that were delayed because compaction falls behind.");
  out.Value(loops.throttled);
  out.Counter("kvarts_read_keys_total", "Keys read by requests.").Value(loops.keys_read);
  out.Counter("kvarts_read_bytes_total", "Bytes of keys and values read by requests.").Value(loops.bytes_read);
  out.Counter("kvarts_written_keys_total", "Keys written by requests.").Value(loops.keys_written);
  out.Counter("kvarts_written_bytes_total", "Bytes of keys and values written by requests.").Value(loops.bytes_written);
  out.Counter("kvarts_tombstones_skipped_total", "Tombstones and expired values that scans stepped over.");
  out.Value(loops.tombstones_skipped);
  out.Counter("kvarts_tombstone_warnings_total", "Requests that stepped over more than scan.tombstones_warn.");
  out.Value(loops.tombstone_warnings);
}

void WriteNamespaces(PrometheusWriter& out, const ServerFacts& facts) {
  out.Gauge("kvarts_namespaces", "Namespaces declared.").Value(facts.namespaces_declared);
  out.Counter("kvarts_namespace_responses_total", "Answers, by namespace and the class of their status.");
  for (const NamespaceTotals& space : facts.namespaces) {
    for (size_t i = 2; i < kClasses.size(); ++i) {
      out.Value(space.answers[i], {{"namespace", space.name}, {"code", kClasses[i]}});
    }
  }
  out.Histogram("kvarts_namespace_request_duration_seconds", "How long requests took, by namespace.");
  for (const NamespaceTotals& space : facts.namespaces) {
    for (size_t i = 0; i < static_cast<size_t>(Operation::kOther); ++i) {
      out.Buckets(space.latency[i], CoarseBoundaries(), {{"namespace", space.name}, {"operation", kOperationNames[i]}});
    }
  }
  const auto each = [&](std::string_view name, std::string_view help, uint64_t NamespaceTotals::*member) {
    out.Counter(name, help);
    for (const NamespaceTotals& space : facts.namespaces) out.Value(space.*member, {{"namespace", space.name}});
  };
  each("kvarts_namespace_read_keys_total", "Keys read, by namespace.", &NamespaceTotals::keys_read);
  each("kvarts_namespace_read_bytes_total", "Bytes read, by namespace.", &NamespaceTotals::bytes_read);
  each("kvarts_namespace_written_keys_total", "Keys written, by namespace.", &NamespaceTotals::keys_written);
  each("kvarts_namespace_written_bytes_total", "Bytes written, by namespace.", &NamespaceTotals::bytes_written);
  each("kvarts_namespace_tombstones_skipped_total", "Tombstones stepped over, by namespace.",
       &NamespaceTotals::tombstones_skipped);
}

void WriteHot(PrometheusWriter& out, const ServerFacts& facts) {
  out.Gauge("kvarts_tracked_rate", "Reads and writes a second, as the sketch of hot keys sees them.");
  out.Value(facts.hot.reads_per_second(), {{"operation", "read"}});
  out.Value(facts.hot.writes_per_second(), {{"operation", "write"}});
  const HotShares shares = HotSharesOf(facts.hot);
  out.Gauge("kvarts_hottest_share", "The share of all reads or writes that the hottest key or prefix gets.");
  out.Value(shares.key_reads, {{"operation", "read"}, {"of", "key"}});
  out.Value(shares.key_writes, {{"operation", "write"}, {"of", "key"}});
  out.Value(shares.partition_reads, {{"operation", "read"}, {"of", "prefix"}});
  out.Value(shares.partition_writes, {{"operation", "write"}, {"of", "prefix"}});
  const std::vector<Partition>& widest = facts.store->partitions;
  out.Gauge("kvarts_partition_bytes",
            "Bytes of the widest partitions that were written to, by estimate; /stats names them.");
  for (size_t i = 0; i < widest.size(); ++i) out.Value(widest[i].holds.bytes, {{"rank", std::to_string(i + 1)}});
  out.Gauge("kvarts_wide_table_partitions",
            "Partitions of tables that hold more than wide_partition; /stats names them.");
  out.Value(uint64_t{facts.wide_partitions.size()});
  out.Gauge("kvarts_partition_keys", "Keys of the same partitions, by estimate.");
  for (size_t i = 0; i < widest.size(); ++i) out.Value(widest[i].holds.entries, {{"rank", std::to_string(i + 1)}});
}

void WriteConnections(PrometheusWriter& out, const ServerFacts& facts) {
  out.Gauge("kvarts_connections", "Connections open.").Value(facts.connections);
  out.Counter("kvarts_connections_accepted_total", "Connections taken.").Value(facts.connections_accepted);
  out.Counter("kvarts_connections_refused_total", "Connections beyond http.max_connections.");
  out.Value(facts.connections_refused);
  out.Counter("kvarts_connections_unknown_total", "Connections that spoke no protocol of ours.");
  out.Value(facts.connections_unknown);
  out.Gauge("kvarts_inflight_bytes", "Bytes that requests under way hold in memory.").Value(facts.inflight_bytes);
  out.Gauge("kvarts_worker_queue", "Pieces of work that wait for a worker.").Value(facts.work_queued);
  out.Gauge("kvarts_watchers", "Watches open.").Value(facts.watchers);
  out.Gauge("kvarts_loops", "Event loops.").Value(facts.loop_threads);
  out.Counter("kvarts_log_dropped_total", "Log entries lost because nobody took them.").Value(facts.log_dropped);
  out.Gauge("kvarts_jobs", "Jobs, by state; of the first ten thousand.");
  for (size_t i = 0; i < kJobStates; ++i) {
    out.Value(facts.store->jobs[i], {{"state", JobStateName(static_cast<JobState>(i))}});
  }
}

void WriteCommits(PrometheusWriter& out, const EngineStats& stats) {
  const CommitPathStats& path = stats.commit_path;
  out.Histogram("kvarts_wal_sync_seconds", "How long writing and syncing the write-ahead log took.");
  out.Buckets(path.log_sync, LatencyHistogram::Boundaries());
  out.Histogram("kvarts_commit_group_size", "Commits that were written together.");
  out.Buckets(path.group_sizes, SizeHistogram::Boundaries());
  out.Counter("kvarts_commits_total", "Commits since the store was made.").Value(stats.commits);
  out.Gauge("kvarts_commits_queued", "Commits that wait for their turn.").Value(path.queued);
  out.Gauge("kvarts_commits_queued_bytes", "Their bytes.").Value(path.queued_bytes);
  out.Counter("kvarts_write_stalls_total", "Groups of commits that had to wait for compaction.").Value(path.stalls);
  out.Counter("kvarts_write_stall_seconds_total", "How long they waited.");
  out.Value(static_cast<double>(path.stall_micros) * kMicro);
  out.Counter("kvarts_write_stalls_given_up_total", "Groups that waited in vain.").Value(path.refused);
  out.Gauge("kvarts_write_stalled", "1 while writes wait for compaction.").Value(uint64_t{path.stalled});
  out.Gauge("kvarts_delayed_write_rate_bytes", "Bytes a second that writes are held to; 0 when they are not.");
  out.Value(path.delayed_write_rate);
  out.Gauge("kvarts_pressure", "How near writes are to being refused because compaction falls behind, 0 to 1.");
  out.Value(stats.pressure);
  out.Gauge("kvarts_writable", "1 while the store takes writes.").Value(uint64_t{stats.writable});
}

void WriteProfiles(PrometheusWriter& out, const EngineStats& stats) {
  const auto each = [&](std::string_view name, std::string_view help, auto value) {
    out.Gauge(name, help);
    for (const ProfileStats& profile : stats.profiles) out.Value(value(profile), {{"profile", profile.profile}});
  };
  each("kvarts_keys", "Keys, by estimate.", [](const auto& p) { return p.keys_estimate; });
  each("kvarts_live_bytes", "What a full rewrite would leave.", [](const auto& p) { return p.live_bytes; });
  each("kvarts_stale_bytes", "Overwritten, deleted or expired, until compaction.",
       [](const auto& p) { return p.stale_bytes; });
  each("kvarts_sorted_runs", "Places that a read may have to look into.", [](const auto& p) { return p.sorted_runs; });
  each("kvarts_fresh_files", "Files of level 0.", [](const auto& p) { return p.fresh_files; });
  each("kvarts_sealed_buffers", "Write buffers that wait to be flushed.",
       [](const auto& p) { return p.sealed_buffers; });
  each("kvarts_pending_compaction_bytes", "What compaction has yet to rewrite.",
       [](const auto& p) { return p.pending_compaction_bytes; });
  const auto work = [&](std::string_view name, std::string_view help, auto value) {
    out.Counter(name, help);
    for (const ProfileStats& profile : stats.profiles) {
      out.Value(value(profile.flushes), {{"profile", profile.profile}, {"kind", "flush"}});
      out.Value(value(profile.compactions), {{"profile", profile.profile}, {"kind", "compaction"}});
    }
  };
  work("kvarts_background_total", "Flushes and compactions.", [](const WorkStats& w) { return w.count; });
  work("kvarts_background_read_bytes_total", "What they read.", [](const WorkStats& w) { return w.bytes_read; });
  work("kvarts_background_written_bytes_total", "What they wrote.", [](const WorkStats& w) { return w.bytes_written; });
  work("kvarts_background_seconds_total", "How long they took, over all threads.",
       [](const WorkStats& w) { return static_cast<double>(w.micros) * kMicro; });
}

void WriteReads(PrometheusWriter& out, const EngineStats& stats) {
  const ReadPathStats& path = stats.read_path;
  out.Counter("kvarts_filter_files_total", "Files that a Bloom filter was asked about, by what came of it.");
  out.Value(path.filter_spared, {{"outcome", "spared"}});
  out.Value(path.filter_passed - std::min(path.filter_passed, path.filter_false_positives), {{"outcome", "needed"}});
  out.Value(path.filter_false_positives, {{"outcome", "in_vain"}});
  out.Gauge("kvarts_filter_effect", "Of the files without the key, the share that filters spared reads.");
  out.Value(stats.FilterEffect());
  out.Counter("kvarts_block_cache_lookups_total", "Blocks that reads needed, by kind and whether they were in memory.");
  const auto blocks = [&](std::string_view kind, const CacheStats& cache) {
    out.Value(cache.hits, {{"kind", kind}, {"outcome", "hit"}});
    out.Value(cache.misses, {{"kind", kind}, {"outcome", "miss"}});
  };
  blocks("data", path.data_blocks);
  blocks("index", path.index_blocks);
  blocks("filter", path.filter_blocks);
  out.Gauge("kvarts_block_cache_bytes", "Bytes of blocks and write buffers in memory.").Value(stats.block_cache_bytes);
  out.Gauge("kvarts_block_cache_capacity_bytes", "What they may use.").Value(stats.block_cache_capacity);
  out.Counter("kvarts_hot_cache_lookups_total", "Reads, by whether the cache of hot values answered them.");
  out.Value(stats.hot_values.hits, {{"outcome", "hit"}});
  out.Value(stats.hot_values.misses, {{"outcome", "miss"}});
  out.Gauge("kvarts_hot_cache_bytes", "Bytes of hot values.").Value(stats.hot_values.bytes);
  out.Gauge("kvarts_hot_cache_capacity_bytes", "What they may use.").Value(stats.hot_values.capacity);
  out.Gauge("kvarts_views_open", "Views open.").Value(stats.open_views);
  out.Gauge("kvarts_oldest_view_age_seconds", "How long the oldest is open: what it can see is not given back.");
  out.Value(static_cast<double>(stats.oldest_view_age_ms) * 1e-3);
}

// Of an engine that keeps its data on servers; others have none to tell of.
void WriteServers(PrometheusWriter& out, const EngineStats& stats) {
  const auto each = [&](std::string_view name, std::string_view help, auto value) {
    out.Gauge(name, help);
    for (const DataServer& server : stats.servers) {
      out.Value(value(server), {{"server", server.name}, {"role", server.role}});
    }
  };
  each("kvarts_data_server_usable", "1 while the server answers.",
       [](const DataServer& server) { return uint64_t{server.usable}; });
  each("kvarts_data_server_connections", "Connections to it.",
       [](const DataServer& server) { return server.connections; });
  each("kvarts_data_server_standbys", "Replicas that are connected to it.",
       [](const DataServer& server) { return server.standbys; });
  out.Gauge("kvarts_data_server_lag_seconds", "How far a replica is behind.");
  for (const DataServer& server : stats.servers) {
    if (server.lag_seconds) out.Value(*server.lag_seconds, {{"server", server.name}, {"role", server.role}});
  }
  out.Counter("kvarts_replica_reads_total", "Keys that were to be read on a replica, by where they were.");
  out.Value(stats.replica_reads, {{"outcome", "replica"}});
  out.Value(stats.replica_misses, {{"outcome", "primary"}});
}

void WriteStorage(PrometheusWriter& out, const EngineStats& stats) {
  out.Gauge("kvarts_write_amplification", "Bytes written to disk for each byte committed, since the store was made.");
  out.Value(stats.WriteAmplification());
  out.Gauge("kvarts_read_amplification", "Places that one read may have to look into.")
      .Value(stats.ReadAmplification());
  out.Gauge("kvarts_space_amplification", "Bytes in the data files for each byte of live data.");
  out.Value(stats.SpaceAmplification());
  out.Gauge("kvarts_tombstone_ratio", "Of the stored entries the share that only marks a deletion.");
  out.Value(stats.TombstoneRatio());
  out.Counter("kvarts_user_written_bytes_total", "Bytes committed since the store was made.");
  out.Value(stats.user_bytes_written);
  out.Counter("kvarts_storage_written_bytes_total", "Bytes written to disk since then.");
  out.Value(stats.storage_bytes_written);
  out.Counter("kvarts_expired_dropped_total",
              "Expired values that compaction dropped; without it, dead entries that were collected.")
      .Value(stats.expired_dropped);
  out.Gauge("kvarts_collect_backlog", "Dead entries that wait to be collected, on an engine without compaction.");
  out.Value(stats.collect_backlog);
  out.Gauge("kvarts_wal_bytes", "The write-ahead log on disk.").Value(stats.log_bytes);
  out.Gauge("kvarts_disk_free_bytes", "What the disk has left.").Value(stats.disk_free_bytes);
  out.Gauge("kvarts_memory_bytes", "Caches and write buffers.").Value(stats.memory_bytes);
  out.Gauge("kvarts_memory_budget_bytes", "What they may use together.").Value(stats.memory_budget_bytes);
}

void WriteProcess(PrometheusWriter& out, const ProcessStats& process) {
  out.Gauge("kvarts_build_info", "1, with the version.").Value(uint64_t{1}, {{"version", KVARTS_VERSION}});
  out.Counter("process_cpu_seconds_total", "Processor time, in the process and in the kernel for it.");
  out.Value(process.cpu_seconds);
  out.Gauge("process_resident_memory_bytes", "Memory in use.").Value(process.resident_bytes);
  out.Gauge("process_virtual_memory_bytes", "Address space.").Value(process.virtual_bytes);
  out.Gauge("process_threads", "Threads.").Value(process.threads);
  out.Gauge("process_open_fds", "File descriptors open.").Value(process.open_fds);
  out.Gauge("process_max_fds", "File descriptors that may be open.").Value(process.max_fds);
  out.Gauge("process_start_time_seconds", "When the process began, since 1970.").Value(process.start_seconds);
}

double Share(double part, double whole) { return whole > 0 ? std::min(1.0, part / whole) : 0; }

}  // namespace

HotShares HotSharesOf(const HotKeys& hot) {
  const double reads = hot.reads_per_second();
  const double writes = hot.writes_per_second();
  HotShares shares;
  for (const HotKey& key : hot.Keys(HotOrder::kReads, 1)) shares.key_reads = Share(key.reads.per_second, reads);
  for (const HotKey& key : hot.Keys(HotOrder::kWrites, 1)) shares.key_writes = Share(key.writes.per_second, writes);
  for (const HotKey& prefix : Innermost(hot.Prefixes(HotOrder::kReads, kPrefixesLookedAt))) {
    shares.partition_reads = std::max(shares.partition_reads, Share(prefix.reads.per_second, reads));
  }
  for (const HotKey& prefix : Innermost(hot.Prefixes(HotOrder::kWrites, kPrefixesLookedAt))) {
    shares.partition_writes = std::max(shares.partition_writes, Share(prefix.writes.per_second, writes));
  }
  return shares;
}

void WriteMetrics(Bytes* out, MetricsForm form, const ServerFacts& facts) {
  PrometheusWriter writer(out, form);
  const EngineStats& engine = facts.store->engine;
  WriteProcess(writer, facts.process);
  WriteConnections(writer, facts);
  WriteRequests(writer, facts);
  WriteNamespaces(writer, facts);
  WriteHot(writer, facts);
  WriteCommits(writer, engine);
  WriteProfiles(writer, engine);
  WriteReads(writer, engine);
  WriteStorage(writer, engine);
  WriteServers(writer, engine);
  writer.End();
}

}  // namespace kvarts::http
