#include "cli/stats_text.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <vector>

#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "encoding/json_writer.h"

namespace kvarts::cli {
namespace {

using enum Table::Align;

// Below these a ratio says more about rounding than about the store.
constexpr uint64_t kEnoughBytes = 1 << 20;
constexpr uint64_t kEnoughEntries = 1000;

// From here on a figure is worth a look.
constexpr double kHighWrite = 30;
constexpr double kHighRead = 12;
constexpr double kHighSpace = 2;
constexpr double kHighTombstones = 0.3;

std::string Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? "-" : HumanPercent(static_cast<double>(part) / static_cast<double>(whole));
}

std::string LevelText(const EngineStats& stats) {
  if (stats.levels.empty()) return "  No data files yet: what was written is in the log and in memory.\n";
  std::map<std::string, std::vector<LevelStats>> profiles;
  for (const LevelStats& level : stats.levels) profiles[level.profile].push_back(level);
  Table table({kLeft, kRight, kRight, kRight, kRight, kRight});
  table.Add({"profile", "level", "files", "size", "entries", "tombstones"});
  for (const auto& [profile, levels] : profiles) {
    std::string name = profile;
    for (const LevelStats& level : levels) {
      table.Add({name, std::to_string(level.level), HumanCount(level.files), HumanBytes(level.bytes),
                 HumanCount(level.entries), Ratio(level.tombstones, level.entries)});
      name.clear();
    }
  }
  return table.ToString(2);
}

// A figure, and whether it is one to worry about.
struct Figure {
  double value;
  double high;
  bool enough;  // data to say anything

  std::string Verdict() const {
    if (!enough) return "too little data to judge";
    return value > high ? "high" : "fine";
  }
};

uint64_t Entries(const EngineStats& stats) {
  uint64_t entries = 0;
  for (const LevelStats& level : stats.levels) entries += level.entries;
  return entries;
}

Figure WriteFigure(const EngineStats& stats) {
  return {stats.WriteAmplification(), kHighWrite, stats.user_bytes_written >= kEnoughBytes};
}
Figure ReadFigure(const EngineStats& stats) { return {stats.ReadAmplification(), kHighRead, true}; }
Figure SpaceFigure(const EngineStats& stats) {
  return {stats.SpaceAmplification(), kHighSpace, stats.live_bytes + stats.stale_bytes >= kEnoughBytes};
}
Figure TombstoneFigure(const EngineStats& stats) {
  return {stats.TombstoneRatio(), kHighTombstones, Entries(stats) >= kEnoughEntries};
}

std::string FigureText(std::string_view name, const std::string& value, const Figure& figure, std::string_view meaning,
                       std::string_view worry) {
  const std::string verdict = figure.Verdict();
  const std::string shown = verdict == "high" ? Red(verdict) : verdict;
  return fmt::format("  {:<11} {:>7}  {}\n{}\n{}\n", name, value, shown, Dim(fmt::format("      {}", meaning)),
                     Dim(fmt::format("      {}", worry)));
}

std::string AmplificationText(const EngineStats& stats) {
  const uint64_t stored = stats.live_bytes + stats.stale_bytes;
  const std::string write = stats.commits == 0 ? "-" : fmt::format("{:.1f}", stats.WriteAmplification());
  const std::string space = stored == 0 ? "-" : fmt::format("{:.2f}", stats.SpaceAmplification());
  return FigureText("write", write, WriteFigure(stats),
                    "Bytes written to disk for each byte committed: log, flushes, compactions.",
                    "Worry above 30: the disk works more for compaction than for you.") +
         FigureText("read", std::to_string(stats.sorted_runs), ReadFigure(stats),
                    "Places that a read may have to look into: buffers, fresh files, levels.",
                    "Worry above 12: compaction is behind the writes.") +
         FigureText("space", space, SpaceFigure(stats), "Bytes in the data files for each byte of live data.",
                    "Worry above 2: half of them are overwritten, deleted or expired.") +
         FigureText("tombstones", HumanPercent(stats.TombstoneRatio()), TombstoneFigure(stats),
                    "Stored entries that only mark a deletion.",
                    "Worry above 30 %: scans have to step over each of them.");
}

std::string SpaceText(const EngineStats& stats) {
  Table table({kLeft, kRight, kLeft});
  table.Add({"live", HumanBytes(stats.live_bytes), "what a full rewrite of the files would leave"});
  table.Add({"stale", HumanBytes(stats.stale_bytes), "the rest: overwritten, deleted or expired, until compaction"});
  table.Add({"log", HumanBytes(stats.log_bytes), "the write-ahead log: what a crash would replay"});
  table.Add({"pending", HumanBytes(stats.pending_compaction_bytes), "what compaction has yet to rewrite"});
  return table.ToString(2);
}

std::string HitsText(const CacheStats& cache) {
  const uint64_t reads = cache.hits + cache.misses;
  if (reads == 0) return "";
  return fmt::format("{} of {} found there", Ratio(cache.hits, reads), Counted(reads, "read", "reads"));
}

std::string MemoryText(const EngineStats& stats) {
  Table table({kLeft, kRight, kRight, kLeft});
  const auto add = [&](const char* name, uint64_t used, uint64_t of, const std::string& more) {
    table.Add({name, HumanBytes(used), "of " + HumanBytes(of), more});
  };
  add("all", stats.memory_bytes, stats.memory_budget_bytes,
      "caches and write buffers; the rest is for what they do not count");
  add("hot values", stats.hot_values.bytes, stats.hot_values.capacity, HitsText(stats.hot_values));
  add("blocks", stats.block_cache_bytes, stats.block_cache_capacity, "of data files, and write buffers");
  return table.ToString(2);
}

std::string TotalsText(const EngineStats& stats) {
  Table table({kLeft, kRight, kLeft});
  table.Add({"keys", HumanCount(stats.keys_estimate), "by estimate"});
  table.Add({"commits", HumanCount(stats.commits), "since the store was made"});
  table.Add({"committed", HumanBytes(stats.user_bytes_written), "keys and values, since then"});
  table.Add({"written", HumanBytes(stats.storage_bytes_written), "to disk, since then"});
  if (stats.open_views > 0) {
    table.Add(
        {"views", HumanCount(stats.open_views),
         "open, the oldest for " + HumanDuration(Duration::Millis(static_cast<int64_t>(stats.oldest_view_age_ms)))});
  }
  return table.ToString(2);
}

void AppendFigure(JsonWriter* json, std::string_view name, const Figure& figure) {
  // More digits would only be noise.
  const auto rounded = [](double number) { return std::isfinite(number) ? fmt::format("{:.6g}", number) : "null"; };
  json->Name(name).BeginObject();
  json->Name("value").Raw(rounded(figure.value)).Name("worry_above").Raw(rounded(figure.high));
  json->Field("verdict", figure.Verdict()).EndObject();
}

}  // namespace

std::string StatsText(const EngineStats& stats) {
  const auto title = [](std::string_view text) { return fmt::format("{}\n", Bold(text)); };
  return title("Levels") + LevelText(stats) + "\n" +                 //
         title("Amplification") + AmplificationText(stats) + "\n" +  //
         title("Space on disk") + SpaceText(stats) + "\n" +          //
         title("Memory") + MemoryText(stats) + "\n" +                //
         title("Totals") + TotalsText(stats);
}

std::string StatsJson(const EngineStats& stats) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Name("levels").BeginArray();
  for (const LevelStats& level : stats.levels) {
    json.BeginObject().Field("profile", level.profile).Field("level", level.level).Field("files", level.files);
    json.Field("bytes", level.bytes).Field("entries", level.entries).Field("tombstones", level.tombstones).EndObject();
  }
  json.EndArray();
  AppendFigure(&json, "write_amplification", WriteFigure(stats));
  AppendFigure(&json, "read_amplification", ReadFigure(stats));
  AppendFigure(&json, "space_amplification", SpaceFigure(stats));
  AppendFigure(&json, "tombstone_ratio", TombstoneFigure(stats));
  json.Field("live_bytes", stats.live_bytes).Field("stale_bytes", stats.stale_bytes);
  json.Field("log_bytes", stats.log_bytes).Field("pending_compaction_bytes", stats.pending_compaction_bytes);
  json.Field("memory_bytes", stats.memory_bytes).Field("memory_budget_bytes", stats.memory_budget_bytes);
  json.Name("hot_values").BeginObject();
  json.Field("hits", stats.hot_values.hits).Field("misses", stats.hot_values.misses);
  json.Field("bytes", stats.hot_values.bytes).Field("capacity", stats.hot_values.capacity).EndObject();
  json.Field("block_cache_bytes", stats.block_cache_bytes).Field("block_cache_capacity", stats.block_cache_capacity);
  json.Field("keys_estimate", stats.keys_estimate).Field("commits", stats.commits);
  json.Field("user_bytes_written", stats.user_bytes_written);
  json.Field("storage_bytes_written", stats.storage_bytes_written);
  json.Field("sorted_runs", stats.sorted_runs).Field("open_views", stats.open_views);
  json.Field("oldest_view_age_ms", stats.oldest_view_age_ms);
  json.EndObject();
  return text;
}

}  // namespace kvarts::cli
