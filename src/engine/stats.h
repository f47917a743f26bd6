// What an engine knows about itself: plain numbers, for `kvarts stats`, metrics and tests. An engine fills in what it
// has; what it has not stays empty.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvarts {

struct LevelStats {
  std::string profile;
  int level = 0;
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t entries = 0;     // keys, tombstones and merge operands
  uint64_t tombstones = 0;  // of those, deletions
};

struct CacheStats {
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t bytes = 0;
  uint64_t capacity = 0;
};

struct EngineStats {
  std::vector<LevelStats> levels;
  uint64_t keys_estimate = 0;
  uint64_t live_bytes = 0;           // what a full rewrite would leave
  uint64_t stale_bytes = 0;          // the rest of what the data files hold
  uint64_t log_bytes = 0;            // write-ahead log on disk
  uint64_t memory_bytes = 0;         // caches and write buffers
  uint64_t memory_budget_bytes = 0;  // what they may use together

  // Since the store was created, kept across restarts.
  uint64_t user_bytes_written = 0;     // keys and values as committed
  uint64_t storage_bytes_written = 0;  // log, flushes and compactions
  uint64_t commits = 0;

  // Structures that one read may have to look at: write buffers, files of level 0, levels.
  uint64_t sorted_runs = 0;
  uint64_t pending_compaction_bytes = 0;
  uint64_t open_views = 0;
  uint64_t oldest_view_age_ms = 0;
  CacheStats hot_values;
  uint64_t block_cache_bytes = 0;
  uint64_t block_cache_capacity = 0;

  double WriteAmplification() const;
  double ReadAmplification() const { return static_cast<double>(sorted_runs); }
  double SpaceAmplification() const;
  double TombstoneRatio() const;
};

}  // namespace kvarts
