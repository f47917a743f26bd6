#include "protocol/http/stats_answer.h"

#include "encoding/json_writer.h"
#include "engine/stats_json.h"
#include "protocol/http/partitions.h"
#include "protocol/http/table_requests.h"

namespace kvarts::http {
namespace {

// With the counts at each boundary, so that whoever asks twice can tell what happened in between.
void WriteLatency(JsonWriter& json, const std::array<HistogramSnapshot, kOperations>& latency) {
  json.Name("latency").BeginObject();
  for (size_t i = 0; i < kOperations; ++i) {
    const HistogramSnapshot& its = latency[i];
    json.Name(kOperationNames[i]).BeginObject().Field("count", its.Count()).Field("sum", its.Sum());
    json.Field("p50", its.Quantile(0.5)).Field("p99", its.Quantile(0.99)).Field("p999", its.Quantile(0.999));
    json.Name("at_most").BeginArray();
    for (const double boundary : LatencyHistogram::Boundaries()) json.Number(its.CountAtMost(boundary));
    json.EndArray().EndObject();
  }
  json.EndObject();
}

void WriteAnswers(JsonWriter& json, const std::array<uint64_t, 6>& answers) {
  json.Name("answers").BeginObject().Field("1xx", answers[1]).Field("2xx", answers[2]).Field("3xx", answers[3]);
  json.Field("4xx", answers[4]).Field("5xx", answers[5]).EndObject();
}

template <class Totals>
void WriteKeysAndBytes(JsonWriter& json, const Totals& totals) {
  json.Field("keys_read", totals.keys_read).Field("bytes_read", totals.bytes_read);
  json.Field("keys_written", totals.keys_written).Field("bytes_written", totals.bytes_written);
  json.Field("tombstones_skipped", totals.tombstones_skipped);
}

void WriteRequests(JsonWriter& json, const LoopTotals& loops) {
  json.Name("requests").BeginObject();
  json.Name("boundaries").BeginArray();
  for (const double boundary : LatencyHistogram::Boundaries()) json.Number(boundary);
  json.EndArray();
  WriteLatency(json, loops.latency);
  WriteAnswers(json, loops.answers);
  WriteKeysAndBytes(json, loops);
  json.Field("tombstone_warnings", loops.tombstone_warnings).Field("malformed", loops.requests_malformed);
  json.Field("body_bytes", loops.bytes_in).Field("sent_bytes", loops.bytes_out).Field("slow", loops.slow_requests);
  json.Field("throttled", loops.throttled).Field("rate_limited", loops.rate_limited).EndObject();
}

void WriteNamespaces(JsonWriter& json, const std::vector<NamespaceTotals>& namespaces) {
  json.Name("namespaces").BeginArray();
  for (const NamespaceTotals& space : namespaces) {
    json.BeginObject().Field("name", space.name);
    WriteAnswers(json, space.answers);
    WriteKeysAndBytes(json, space);
    for (size_t i = 0; i < static_cast<size_t>(Operation::kOther); ++i) {
      AppendHistogram(&json, kOperationNames[i], space.latency[i]);
    }
    json.EndObject();
  }
  json.EndArray();
}

void WriteProcess(JsonWriter& json, const ProcessStats& process) {
  json.Name("process").BeginObject().Field("cpu_seconds", process.cpu_seconds);
  json.Field("resident_bytes", process.resident_bytes).Field("virtual_bytes", process.virtual_bytes);
  json.Field("threads", process.threads).Field("open_fds", process.open_fds).Field("max_fds", process.max_fds);
  json.EndObject();
}

void WriteServer(JsonWriter& json, const ServerFacts& facts, const Engine& engine, Timestamp now) {
  const double seconds = static_cast<double>(now.micros) * 1e-6;
  json.Name("server").BeginObject().Field("version", KVARTS_VERSION).Field("engine", engine.capabilities().name);
  json.Field("strongest", DurabilityName(engine.strongest())).Field("replicas", engine.capabilities().replicas);
  json.Field("time", seconds).Field("uptime_seconds", std::max(0.0, seconds - facts.process.start_seconds));
  json.Field("loops", facts.loop_threads);
  json.Name("connections").BeginObject().Field("open", facts.connections);
  json.Field("accepted", facts.connections_accepted).Field("refused", facts.connections_refused);
  json.Field("unknown", facts.connections_unknown).EndObject();
  json.Field("inflight_bytes", facts.inflight_bytes).Field("worker_queue", facts.work_queued);
  json.Field("watchers", facts.watchers);
  json.Field("log_dropped", facts.log_dropped);
  WriteProcess(json, facts.process);
  WriteRequests(json, facts.loops);
  WriteNamespaces(json, facts.namespaces);
  json.Name("jobs").BeginObject();
  for (size_t i = 0; i < kJobStates; ++i) {
    json.Field(JobStateName(static_cast<JobState>(i)), facts.store->jobs[i]);
  }
  json.EndObject().Name("widest_partitions").BeginArray();
  for (const Partition& partition : facts.store->partitions) {
    json.BeginObject().BytesField("prefix", partition.prefix).Field("bytes", partition.holds.bytes);
    json.Field("keys", partition.holds.entries).EndObject();
  }
  json.EndArray().Name("wide_table_partitions").BeginArray();
  for (const WidePartition& wide : facts.wide_partitions) {
    json.BeginObject().Field("table", ScopePath(wide.table));
    if (!wide.index.empty()) json.Field("index", wide.index);
    json.BytesField("partition", wide.partition).Field("bytes", wide.bytes).EndObject();
  }
  json.EndArray();
  json.Field("reads_per_second", facts.hot.reads_per_second());
  json.Field("writes_per_second", facts.hot.writes_per_second()).EndObject();
}

void WriteRates(JsonWriter& json, const HotKey& hot) {
  json.Field("reads_per_second", hot.reads.per_second).Field("writes_per_second", hot.writes.per_second);
  json.Field("bytes_per_second", hot.reads.bytes_per_second + hot.writes.bytes_per_second);
}

void WriteHottest(JsonWriter& json, std::string_view name, const std::vector<HotKey>& hottest,
                  const NamespaceTable& table, const HotQuery& query) {
  json.Name(name).BeginArray();
  size_t left = query.limit;
  for (const HotKey& hot : hottest) {
    const BytesView space = NamespaceOf(table, hot.key);
    if (query.name_space && space != *query.name_space) continue;
    if (left-- == 0) break;
    json.BeginObject().BytesField("key", hot.key);
    if (hot.cut) json.Field("cut", true);
    if (!space.empty()) json.Field("namespace", space);
    WriteRates(json, hot);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

void WriteStats(Bytes* out, const ServerFacts& facts, const Engine& engine, Timestamp now) {
  JsonWriter json(out);
  json.BeginObject();
  AppendStats(&json, facts.store->engine);
  WriteServer(json, facts, engine, now);
  json.EndObject();
}

void WriteHotKeys(Bytes* out, const HotKeys& hot, const NamespaceTable& table, const HotQuery& query) {
  JsonWriter json(out);
  json.BeginObject();
  WriteHottest(json, "keys", hot.Keys(query.order, SIZE_MAX), table, query);
  WriteHottest(json, "prefixes", hot.Prefixes(query.order, SIZE_MAX), table, query);
  json.Name("namespaces").BeginArray();
  for (const HotKey& space : hot.Groups(query.order, query.limit)) {
    json.BeginObject().BytesField("name", space.key);
    WriteRates(json, space);
    json.EndObject();
  }
  json.EndArray();
  json.Field("reads_per_second", hot.reads_per_second()).Field("writes_per_second", hot.writes_per_second());
  json.EndObject();
}

}  // namespace kvarts::http
