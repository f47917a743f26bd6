#include "cli/stats_text.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "engine/stats_figures.h"

namespace kvarts::cli {
namespace {

using enum Table::Align;

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

// Without the profiles that nothing was ever written to.
std::string ProfileText(const EngineStats& stats) {
  Table table({kLeft, kRight, kRight, kRight, kRight, kRight});
  table.Add({"profile", "keys", "live", "stale", "runs", "pending"});
  size_t used = 0;
  for (const ProfileStats& profile : stats.profiles) {
    if (profile.sorted_runs == 0) continue;
    ++used;
    table.Add({profile.profile, HumanCount(profile.keys_estimate), HumanBytes(profile.live_bytes),
               HumanBytes(profile.stale_bytes), HumanCount(profile.sorted_runs),
               HumanBytes(profile.pending_compaction_bytes)});
  }
  return used < 2 ? "" : table.ToString(2) + "\n";
}

std::string FigureText(std::string_view name, const std::string& value, const Figure& figure, std::string_view meaning,
                       std::string_view worry) {
  const std::string verdict(figure.Verdict());
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
  if (stats.disk_free_bytes > 0) table.Add({"free", HumanBytes(stats.disk_free_bytes), "what the disk has left"});
  return table.ToString(2);
}

// Of a disk: far below what HumanDuration tells apart.
std::string ShortTime(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 0.1) return fmt::format("{:.1f} ms", seconds * 1e3);
  return HumanDuration(Duration::Micros(static_cast<int64_t>(seconds * 1e6)));
}

std::string WorkText(const WorkStats& work) {
  const std::string read = work.bytes_read == 0 ? "" : HumanBytes(work.bytes_read) + " read, ";
  return fmt::format("{}{} written, in {}", read, HumanBytes(work.bytes_written),
                     HumanDuration(Duration::Micros(static_cast<int64_t>(work.micros))));
}

std::string PressureText(const EngineStats& stats) {
  if (!stats.writable) return Red(stats.not_writable_because);
  if (stats.pressure == 0) return "flushes and compaction keep up";
  return "of the way to where writes stop: flushes or compaction fall behind";
}

// What happened on the way to the disk since the store was opened.
std::string WritingText(const EngineStats& stats) {
  const CommitPathStats& path = stats.commit_path;
  Table table({kLeft, kRight, kLeft});
  table.Add({"pressure", HumanPercent(stats.pressure), PressureText(stats)});
  if (path.queued > 0) table.Add({"waiting", HumanCount(path.queued), "commits, " + HumanBytes(path.queued_bytes)});
  if (path.log_sync.Count() > 0) {
    table.Add({"log sync", ShortTime(path.log_sync.Quantile(0.5)),
               fmt::format("half take no longer; 1 in 100 takes {} or more", ShortTime(path.log_sync.Quantile(0.99)))});
  }
  if (path.group_sizes.Count() > 0) {
    table.Add({"together", fmt::format("{:.1f}", path.group_sizes.Mean()), "commits are written at once, on average"});
  }
  if (path.stalls > 0) {
    const Duration waited = Duration::Micros(static_cast<int64_t>(path.stall_micros));
    table.Add({"stalls", HumanCount(path.stalls),
               fmt::format("waited {} for compaction; {} given up", HumanDuration(waited),
                           Counted(path.refused, "was", "were"))});
  }
  if (stats.flushes.count > 0) table.Add({"flushes", HumanCount(stats.flushes.count), WorkText(stats.flushes)});
  if (stats.compactions.count > 0) {
    table.Add({"compactions", HumanCount(stats.compactions.count), WorkText(stats.compactions)});
  }
  if (stats.expired_dropped > 0) {
    table.Add({"expired", HumanCount(stats.expired_dropped), "values that compaction dropped"});
  }
  return table.ToString(2);
}

// Of reads that the hot-value cache did not answer.
std::string ReadingText(const EngineStats& stats) {
  const ReadPathStats& path = stats.read_path;
  Table table({kLeft, kRight, kLeft});
  if (path.filter_spared + path.filter_passed > 0) {
    table.Add({"filters", HumanPercent(stats.FilterEffect()),
               "of the files without the key were not looked into, thanks to Bloom filters"});
  }
  const auto add = [&](const char* name, const CacheStats& blocks, const char* what) {
    const uint64_t looked = blocks.hits + blocks.misses;
    if (looked > 0) table.Add({name, Ratio(blocks.hits, looked), what});
  };
  add("data", path.data_blocks, "of the data blocks that reads needed were in memory");
  add("index", path.index_blocks, "of the index blocks");
  add("filter", path.filter_blocks, "of the filter blocks");
  return table.empty() ? "  Nothing has been read from the files yet.\n" : table.ToString(2);
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

}  // namespace

std::string StatsText(const EngineStats& stats) {
  const auto title = [](std::string_view text) { return fmt::format("{}\n", Bold(text)); };
  return title("Levels") + LevelText(stats) + "\n" + ProfileText(stats) +     //
         title("Amplification") + AmplificationText(stats) + "\n" +           //
         title("Space on disk") + SpaceText(stats) + "\n" +                   //
         title("Writing, since it was opened") + WritingText(stats) + "\n" +  //
         title("Reading, since it was opened") + ReadingText(stats) + "\n" +  //
         title("Memory") + MemoryText(stats) + "\n" +                         //
         title("Totals") + TotalsText(stats);
}

}  // namespace kvarts::cli
