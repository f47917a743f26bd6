#include "engine/rocksdb/rocks_stats.h"

#include <rocksdb/metadata.h>
#include <rocksdb/table_properties.h>

#include <filesystem>
#include <map>

namespace kvarts {
namespace {

using Properties = rocksdb::DB::Properties;

uint64_t IntProperty(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const std::string& name) {
  uint64_t value = 0;
  db.GetIntProperty(family, name, &value);
  return value;
}

Status AddLevels(RocksStore& store, Profile profile, EngineStats* stats) {
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
    stats->sorted_runs += level.level == 0 ? level.files.size() : 1;
    stats->levels.push_back(std::move(figures));
  }
  return {};
}

void AddFamily(RocksStore& store, Profile profile, EngineStats* stats) {
  rocksdb::DB& db = *store.db;
  rocksdb::ColumnFamilyHandle* family = store.families[static_cast<size_t>(profile)];
  const uint64_t tables = IntProperty(db, family, Properties::kTotalSstFilesSize);
  const uint64_t live_tables = IntProperty(db, family, Properties::kEstimateLiveDataSize);
  const uint64_t blobs = IntProperty(db, family, Properties::kTotalBlobFileSize);
  const uint64_t dead_blobs = IntProperty(db, family, Properties::kLiveBlobFileGarbageSize);
  const uint64_t live = std::min(tables, live_tables) + (blobs - std::min(blobs, dead_blobs));
  stats->live_bytes += live;
  stats->stale_bytes += tables + blobs - live;
  stats->keys_estimate += IntProperty(db, family, Properties::kEstimateNumKeys);
  stats->pending_compaction_bytes += IntProperty(db, family, Properties::kEstimatePendingCompactionBytes);
  stats->memory_bytes += IntProperty(db, family, Properties::kCurSizeAllMemTables);
  const uint64_t in_memory = IntProperty(db, family, Properties::kNumEntriesActiveMemTable);
  stats->sorted_runs += IntProperty(db, family, Properties::kNumImmutableMemTable) + (in_memory > 0 ? 1 : 0);
}

uint64_t LogBytes(RocksStore& store) {
  rocksdb::VectorLogPtr logs;
  uint64_t bytes = 0;
  if (!store.db->GetSortedWalFiles(logs).ok()) return 0;
  for (const auto& log : logs) bytes += log->SizeFileBytes();
  return bytes;
}

}  // namespace

Result<EngineStats> CollectStats(RocksStore& store, const rocksdb::Cache& block_cache) {
  EngineStats stats;
  for (size_t i = 0; i < kProfiles; ++i) {
    const auto profile = static_cast<Profile>(i);
    KVARTS_CHECK_OK(AddLevels(store, profile, &stats));
    AddFamily(store, profile, &stats);
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
  stats.open_views = store.views.size();
  if (const auto oldest = store.views.OldestTime()) {
    stats.oldest_view_age_ms = (store.Now().micros - oldest->micros) / 1000;
  }
  return stats;
}

}  // namespace kvarts
