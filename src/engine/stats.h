// What an engine knows about itself: plain numbers, for `kvarts stats`, metrics and tests. An engine fills in what it
// has; what it has not stays empty.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/histogram.h"

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

// Work in the background, since the store was opened.
struct WorkStats {
  uint64_t count = 0;
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t micros = 0;  // over all threads

  WorkStats& operator+=(const WorkStats& other);
};

// What belongs to the keys of one profile.
struct ProfileStats {
  std::string profile;
  uint64_t keys_estimate = 0;
  uint64_t live_bytes = 0;
  uint64_t stale_bytes = 0;
  uint64_t sorted_runs = 0;
  uint64_t fresh_files = 0;     // of level 0
  uint64_t sealed_buffers = 0;  // write buffers that wait to be flushed
  uint64_t pending_compaction_bytes = 0;
  double pressure = 0;
  WorkStats flushes;
  WorkStats compactions;
};

// What reads that the hot-value cache did not answer found on their way. An engine may look at a sample of them and
// count each for those it stands for.
struct ReadPathStats {
  uint64_t filter_spared = 0;           // files that a Bloom filter kept a read from looking into
  uint64_t filter_passed = 0;           // files that it let a read look into
  uint64_t filter_false_positives = 0;  // of those, in vain
  CacheStats data_blocks;               // hits and misses only
  CacheStats index_blocks;
  CacheStats filter_blocks;
};

// Commits on their way to the disk, since the store was opened.
struct CommitPathStats {
  HistogramSnapshot log_sync;     // seconds that writing and syncing the log took
  HistogramSnapshot group_sizes;  // commits that were written together
  uint64_t queued = 0;            // waiting for their turn
  uint64_t queued_bytes = 0;
  uint64_t stalls = 0;  // groups that had to wait for compaction
  uint64_t stall_micros = 0;
  uint64_t refused = 0;  // groups that waited in vain
  bool stalled = false;
  uint64_t delayed_write_rate = 0;  // bytes a second that writes are held to; 0 when they are not
};

// A server that the engine keeps its data on.
struct DataServer {
  std::string name;
  std::string role;                   // "primary", "replica", "replaced", "refused" or "unknown"
  bool usable = false;                // it answers, and is not left alone because it failed
  std::optional<double> lag_seconds;  // of a replica
  uint64_t connections = 0;           // of this process
  uint64_t standbys = 0;              // that are connected to it
  std::string problem;                // empty when there is none
};

struct EngineStats {
  std::vector<LevelStats> levels;
  std::vector<ProfileStats> profiles;
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

  WorkStats flushes;
  WorkStats compactions;
  uint64_t expired_dropped = 0;  // values that compaction dropped because they had expired
  uint64_t collect_backlog = 0;  // dead entries that wait to be collected, where that is not compaction's work
  ReadPathStats read_path;
  CommitPathStats commit_path;

  std::vector<DataServer> servers;  // of an engine that has some
  uint64_t replica_reads = 0;       // keys, since the store was opened
  uint64_t replica_misses = 0;      // keys that could be read on a replica, and were read on the primary: none was fit

  bool writable = true;
  std::string not_writable_because;  // empty when it is
  double pressure = 0;               // see Engine::pressure
  uint64_t disk_free_bytes = 0;

  double WriteAmplification() const;
  double ReadAmplification() const { return static_cast<double>(sorted_runs); }
  double SpaceAmplification() const;
  double TombstoneRatio() const;
  // Of the files that a Bloom filter was asked about and that did not hold the key, the share it spared the read.
  double FilterEffect() const;
};

}  // namespace kvarts
