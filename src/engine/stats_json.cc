#include "engine/stats_json.h"

#include <fmt/format.h>

#include <cmath>

#include "engine/stats_figures.h"

namespace kvarts {
namespace {

void AppendWork(JsonWriter* json, std::string_view name, const WorkStats& work) {
  json->Name(name).BeginObject();
  json->Field("count", work.count).Field("bytes_read", work.bytes_read).Field("bytes_written", work.bytes_written);
  json->Field("micros", work.micros).EndObject();
}

void AppendProfiles(JsonWriter* json, const EngineStats& stats) {
  json->Name("profiles").BeginArray();
  for (const ProfileStats& profile : stats.profiles) {
    json->BeginObject().Field("profile", profile.profile).Field("keys_estimate", profile.keys_estimate);
    json->Field("live_bytes", profile.live_bytes).Field("stale_bytes", profile.stale_bytes);
    json->Field("sorted_runs", profile.sorted_runs).Field("fresh_files", profile.fresh_files);
    json->Field("sealed_buffers", profile.sealed_buffers);
    json->Field("pending_compaction_bytes", profile.pending_compaction_bytes).Field("pressure", profile.pressure);
    AppendWork(json, "flushes", profile.flushes);
    AppendWork(json, "compactions", profile.compactions);
    json->EndObject();
  }
  json->EndArray();
}

void AppendCommitPath(JsonWriter* json, const CommitPathStats& path) {
  json->Name("commit_path").BeginObject();
  AppendHistogram(json, "log_sync_seconds", path.log_sync);
  AppendHistogram(json, "group_sizes", path.group_sizes);
  json->Field("queued", path.queued).Field("queued_bytes", path.queued_bytes).Field("stalls", path.stalls);
  json->Field("stall_micros", path.stall_micros).Field("refused", path.refused).Field("stalled", path.stalled);
  json->Field("delayed_write_rate", path.delayed_write_rate).EndObject();
}

void AppendReadPath(JsonWriter* json, const EngineStats& stats) {
  const ReadPathStats& path = stats.read_path;
  json->Name("read_path").BeginObject();
  json->Field("filter_spared", path.filter_spared).Field("filter_passed", path.filter_passed);
  json->Field("filter_false_positives", path.filter_false_positives).Field("filter_effect", stats.FilterEffect());
  const auto blocks = [&](std::string_view name, const CacheStats& cache) {
    json->Name(name).BeginObject().Field("hits", cache.hits).Field("misses", cache.misses).EndObject();
  };
  blocks("data_blocks", path.data_blocks);
  blocks("index_blocks", path.index_blocks);
  blocks("filter_blocks", path.filter_blocks);
  json->EndObject();
}

void AppendFigure(JsonWriter* json, std::string_view name, const Figure& figure) {
  // More digits would only be noise.
  const auto rounded = [](double number) { return std::isfinite(number) ? fmt::format("{:.6g}", number) : "null"; };
  json->Name(name).BeginObject();
  json->Name("value").Raw(rounded(figure.value)).Name("worry_above").Raw(rounded(figure.high));
  json->Field("verdict", figure.Verdict()).EndObject();
}

void AppendServers(JsonWriter* json, const EngineStats& stats) {
  json->Name("servers").BeginArray();
  for (const DataServer& server : stats.servers) {
    json->BeginObject().Field("name", server.name).Field("role", server.role).Field("usable", server.usable);
    if (server.lag_seconds) json->Field("lag_seconds", *server.lag_seconds);
    json->Field("connections", server.connections).Field("standbys", server.standbys);
    if (!server.problem.empty()) json->Field("problem", server.problem);
    json->EndObject();
  }
  json->EndArray();
  json->Field("replica_reads", stats.replica_reads).Field("replica_misses", stats.replica_misses);
}

}  // namespace

void AppendHistogram(JsonWriter* json, std::string_view name, const HistogramSnapshot& histogram) {
  json->Name(name).BeginObject();
  json->Field("count", histogram.Count()).Field("sum", histogram.Sum()).Field("p50", histogram.Quantile(0.5));
  json->Field("p99", histogram.Quantile(0.99)).Field("p999", histogram.Quantile(0.999)).EndObject();
}

void AppendStats(JsonWriter* json, const EngineStats& stats) {
  json->Name("levels").BeginArray();
  for (const LevelStats& level : stats.levels) {
    json->BeginObject().Field("profile", level.profile).Field("level", level.level).Field("files", level.files);
    json->Field("bytes", level.bytes).Field("entries", level.entries).Field("tombstones", level.tombstones).EndObject();
  }
  json->EndArray();
  AppendProfiles(json, stats);
  AppendFigure(json, "write_amplification", WriteFigure(stats));
  AppendFigure(json, "read_amplification", ReadFigure(stats));
  AppendFigure(json, "space_amplification", SpaceFigure(stats));
  AppendFigure(json, "tombstone_ratio", TombstoneFigure(stats));
  json->Field("live_bytes", stats.live_bytes).Field("stale_bytes", stats.stale_bytes);
  json->Field("log_bytes", stats.log_bytes).Field("pending_compaction_bytes", stats.pending_compaction_bytes);
  json->Field("memory_bytes", stats.memory_bytes).Field("memory_budget_bytes", stats.memory_budget_bytes);
  json->Name("hot_values").BeginObject();
  json->Field("hits", stats.hot_values.hits).Field("misses", stats.hot_values.misses);
  json->Field("bytes", stats.hot_values.bytes).Field("capacity", stats.hot_values.capacity).EndObject();
  json->Field("block_cache_bytes", stats.block_cache_bytes).Field("block_cache_capacity", stats.block_cache_capacity);
  json->Field("keys_estimate", stats.keys_estimate).Field("commits", stats.commits);
  json->Field("user_bytes_written", stats.user_bytes_written);
  json->Field("storage_bytes_written", stats.storage_bytes_written);
  json->Field("sorted_runs", stats.sorted_runs).Field("open_views", stats.open_views);
  json->Field("oldest_view_age_ms", stats.oldest_view_age_ms);
  AppendWork(json, "flushes", stats.flushes);
  AppendWork(json, "compactions", stats.compactions);
  AppendReadPath(json, stats);
  AppendCommitPath(json, stats.commit_path);
  if (!stats.servers.empty()) AppendServers(json, stats);
  json->Field("expired_dropped", stats.expired_dropped).Field("collect_backlog", stats.collect_backlog);
  json->Field("writable", stats.writable);
  json->Field("not_writable_because", stats.not_writable_because).Field("pressure", stats.pressure);
  json->Field("disk_free_bytes", stats.disk_free_bytes);
}

std::string StatsJson(const EngineStats& stats) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject();
  AppendStats(&json, stats);
  json.EndObject();
  return text;
}

}  // namespace kvarts
