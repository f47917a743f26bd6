#include "engine/rocksdb/rocks_stats.h"

#include <rocksdb/metadata.h>
#include <rocksdb/table_properties.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "engine/rocksdb/in_rocks.h"

namespace kvarts {
namespace {

using Properties = rocksdb::DB::Properties;

uint64_t IntProperty(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const std::string& name) {
  uint64_t value = 0;
  db.GetIntProperty(family, name, &value);
  return value;
}

Status AddLevels(RocksStore& store, Profile profile, ProfileStats* of_profile, EngineStats* stats) {
  rocksdb::ColumnFamilyHandle* family = store.families[static_cast<size_t>(profile)];
  rocksdb::TablePropertiesCollection tables;
  const rocksdb::Status status = store.db->GetPropertiesOfAllTables(family, &tables);
  if (!status.ok()) return FromRocks(status);
  std::map<std::string, std::shared_ptr<const rocksdb::TableProperties>> by_name;
  for (const auto& [path, properties] : tables) by_name[std::filesystem::path(path).filename()] = properties;
  rocksdb::ColumnFamilyMetaData metadata;
  store.db->GetColumnFamilyMetaData(family, &metadata);
  for (const rocksdb::LevelMetaData& level : metadata.levels) {
    if (level.files.empty()) continue;
    LevelStats figures{.profile = std::string(ProfileName(profile)),
                       .level = level.level,
                       .files = level.files.size(),
                       .bytes = level.size};
    for (const rocksdb::SstFileMetaData& file : level.files) {
      const auto found = by_name.find(std::filesystem::path(file.name).filename());
      if (found == by_name.end()) continue;
      figures.entries += found->second->num_entries;
      figures.tombstones += found->second->num_deletions;
    }
    of_profile->sorted_runs += level.level == 0 ? level.files.size() : 1;
    if (level.level == 0) of_profile->fresh_files = level.files.size();
    stats->levels.push_back(std::move(figures));
  }
  return {};
}

void AddFamily(RocksStore& store, Profile profile, ProfileStats* stats) {
  rocksdb::DB& db = *store.db;
  rocksdb::ColumnFamilyHandle* family = store.families[static_cast<size_t>(profile)];
  const uint64_t tables = IntProperty(db, family, Properties::kTotalSstFilesSize);
  const uint64_t live_tables = IntProperty(db, family, Properties::kEstimateLiveDataSize);
  const uint64_t blobs = IntProperty(db, family, Properties::kTotalBlobFileSize);
  const uint64_t dead_blobs = IntProperty(db, family, Properties::kLiveBlobFileGarbageSize);
  stats->live_bytes = std::min(tables, live_tables) + (blobs - std::min(blobs, dead_blobs));
  stats->stale_bytes = tables + blobs - stats->live_bytes;
  stats->keys_estimate = IntProperty(db, family, Properties::kEstimateNumKeys);
  stats->pending_compaction_bytes = IntProperty(db, family, Properties::kEstimatePendingCompactionBytes);
  stats->sealed_buffers = IntProperty(db, family, Properties::kNumImmutableMemTable);
  const uint64_t in_memory = IntProperty(db, family, Properties::kNumEntriesActiveMemTable);
  stats->sorted_runs += stats->sealed_buffers + (in_memory > 0 ? 1 : 0);
  stats->pressure = store.pressure.Of(profile);
  const BackgroundWork::Done done = store.activity.background.Of(profile);
  stats->flushes = done.flushes;
  stats->compactions = done.compactions;
}

Status AddProfile(RocksStore& store, Profile profile, EngineStats* stats) {
  ProfileStats of_profile;
  of_profile.profile = ProfileName(profile);
  KVARTS_CHECK_OK(AddLevels(store, profile, &of_profile, stats));
  AddFamily(store, profile, &of_profile);
  stats->live_bytes += of_profile.live_bytes;
  stats->stale_bytes += of_profile.stale_bytes;
  stats->keys_estimate += of_profile.keys_estimate;
  stats->pending_compaction_bytes += of_profile.pending_compaction_bytes;
  stats->sorted_runs += of_profile.sorted_runs;
  stats->flushes += of_profile.flushes;
  stats->compactions += of_profile.compactions;
  stats->profiles.push_back(std::move(of_profile));
  return {};
}

void AddCommitPath(RocksStore& store, CommitPathStats* stats) {
  const Activity& activity = store.activity;
  stats->log_sync = activity.log_sync.Take();
  stats->group_sizes = activity.group_sizes.Take();
  stats->stalls = activity.stalls.load();
  stats->stall_micros = activity.stall_micros.load();
  stats->refused = activity.refused.load();
  stats->stalled = store.stalled.load();
  stats->delayed_write_rate = IntProperty(*store.db, store.families[0], Properties::kActualDelayedWriteRate);
}

uint64_t FreeDisk(const std::string& dir) {
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(dir, error);
  return error ? 0 : space.available;
}

uint64_t LogBytes(RocksStore& store) {
  rocksdb::VectorLogPtr logs;
  uint64_t bytes = 0;
  if (!store.db->GetSortedWalFiles(logs).ok()) return 0;
  for (const auto& log : logs) bytes += log->SizeFileBytes();
  return bytes;
}

// What a walk from the start of a range counts before it gives up.
struct Walk {
  static constexpr size_t kMaxEntries = 1000;
  static constexpr size_t kMaxBytes = 256 << 10;
  static constexpr size_t kMaxDead = 64;  // from one entry to the next

  RangeEstimate counted;
  bool to_the_end = false;
};

Walk WalkThrough(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const rocksdb::Range& range) {
  rocksdb::ReadOptions how;
  how.iterate_upper_bound = &range.limit;
  how.max_skippable_internal_keys = Walk::kMaxDead;
  how.fill_cache = false;
  Walk walk;
  const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator(how, family));
  for (it->Seek(range.start); it->Valid(); it->Next()) {
    if (walk.counted.entries == Walk::kMaxEntries || walk.counted.bytes >= Walk::kMaxBytes) return walk;
    ++walk.counted.entries;
    walk.counted.bytes += it->key().size() + it->value().size();
  }
  walk.to_the_end = it->status().ok();
  return walk;
}

// From what RocksDB knows of its write buffers and files.
Result<RangeEstimate> ByFigures(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const rocksdb::Range& range) {
  uint64_t buffered_entries = 0;
  uint64_t buffered_bytes = 0;
  InRocks([&] { db.GetApproximateMemTableStats(family, range, &buffered_entries, &buffered_bytes); });
  uint64_t bytes = 0;
  rocksdb::SizeApproximationOptions how;
  how.include_files = true;
  rocksdb::Status status = db.GetApproximateSizes(how, family, &range, 1, &bytes);
  if (!status.ok()) return FromRocks(status);
  RangeEstimate estimate{.bytes = buffered_bytes + bytes, .entries = buffered_entries};
  if (bytes == 0) return estimate;
  // The files that the range touches tell how large their entries are.
  rocksdb::TablePropertiesCollection tables;
  status = db.GetPropertiesOfTablesInRange(family, &range, 1, &tables);
  if (!status.ok()) return FromRocks(status);
  uint64_t table_bytes = 0;
  uint64_t entries = 0;
  for (const auto& [path, table] : tables) {
    table_bytes += table->data_size;
    // A tombstone stands for itself and for what it hides.
    entries += table->num_entries - std::min(table->num_entries, 2 * table->num_deletions);
  }
  const double share =
      table_bytes == 0 ? 0 : std::min(1.0, static_cast<double>(bytes) / static_cast<double>(table_bytes));
  estimate.entries += static_cast<uint64_t>(share * static_cast<double>(entries));
  // Large values lie elsewhere; nobody knows which range's they are, so each has its share.
  const uint64_t all_tables = IntProperty(db, family, Properties::kTotalSstFilesSize);
  const uint64_t blobs = IntProperty(db, family, Properties::kLiveBlobFileSize);
  const uint64_t garbage = IntProperty(db, family, Properties::kLiveBlobFileGarbageSize);
  if (all_tables > 0 && blobs > garbage) {
    const double part = std::min(1.0, static_cast<double>(bytes) / static_cast<double>(all_tables));
    estimate.bytes += static_cast<uint64_t>(part * static_cast<double>(blobs - garbage));
  }
  return estimate;
}

// Of one segment, in its family.
Status AddEstimate(RocksStore& store, const Routing::Segment& segment, RangeEstimate* estimate) {
  rocksdb::ColumnFamilyHandle* family = store.families[static_cast<size_t>(segment.profile)];
  const Bytes last(store.options.limits.max_key_bytes + Limits::kKeyAllowance + 1, '\xff');
  const BytesView end = segment.range.HasEnd() ? BytesView(segment.range.end) : BytesView(last);
  const rocksdb::Range range(ToSlice(segment.range.start), ToSlice(end));
  // RocksDB finds nothing, or all there is, in one of ten ranges that are a small part of a write buffer.
  const Walk walk = InRocks([&] { return WalkThrough(*store.db, family, range); });
  RangeEstimate found = walk.counted;
  if (!walk.to_the_end) {
    KVARTS_TRY(found, ByFigures(*store.db, family, range));
    found.entries = std::max(found.entries, walk.counted.entries);
    found.bytes = std::max(found.bytes, walk.counted.bytes);
  }
  estimate->entries += found.entries;
  estimate->bytes += found.bytes;
  return {};
}

}  // namespace

Result<RangeEstimate> EstimateRange(RocksStore& store, const KeyRange& range) {
  RangeEstimate estimate;
  if (range.IsEmpty()) return estimate;
  const std::shared_ptr<const ReadPoint> point = store.CurrentPoint();
  for (const Routing::Segment& segment : point->routing->Segments(range)) {
    KVARTS_CHECK_OK(AddEstimate(store, segment, &estimate));
  }
  return estimate;
}

Result<EngineStats> CollectStats(RocksStore& store, const rocksdb::Cache& block_cache) {
  EngineStats stats;
  for (size_t i = 0; i < kProfiles; ++i) {
    KVARTS_CHECK_OK(AddProfile(store, static_cast<Profile>(i), &stats));
  }
  stats.log_bytes = LogBytes(store);
  stats.hot_values = store.cache.Stats();
  stats.block_cache_bytes = block_cache.GetUsage();
  stats.block_cache_capacity = block_cache.GetCapacity();
  // Write buffers are charged to the block cache.
  stats.memory_bytes = stats.hot_values.bytes + stats.block_cache_bytes;
  stats.memory_budget_bytes = store.options.memory_budget;
  stats.user_bytes_written = store.user_bytes.load();
  stats.storage_bytes_written = store.storage_bytes.load();
  stats.commits = store.commits.load();
  stats.expired_dropped = store.dropped_expired.load();
  stats.read_path = store.activity.reads.Take();
  AddCommitPath(store, &stats.commit_path);
  stats.disk_free_bytes = FreeDisk(store.dir);
  stats.open_views = store.views.size();
  if (const auto oldest = store.views.OldestTime()) {
    stats.oldest_view_age_ms = (store.Now().micros - oldest->micros) / 1000;
  }
  return stats;
}

}  // namespace kvarts
