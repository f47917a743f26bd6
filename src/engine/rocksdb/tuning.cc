#include "engine/rocksdb/tuning.h"

#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>

#include "engine/rocksdb/counter_merge.h"
#include "engine/rocksdb/memtable/rep.h"

namespace kvarts {
namespace {

constexpr size_t kKiB = 1 << 10;
constexpr size_t kMiB = 1 << 20;

rocksdb::BlockBasedTableOptions TableOptions(const SharedTuning& shared) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = shared.block_cache;
  table.block_size = 8 << 10;
  table.format_version = 5;
  table.checksum = rocksdb::kXXH3;  // the library's CRC is table-driven
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.optimize_filters_for_memory = true;
  // In the budget like everything else, but the last to go.
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  // In pieces: the filter of a file of small entries, whole, is larger than a shard of the cache, and would be read
  // from the file for every get.
  table.partition_filters = true;
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.metadata_block_size = 8 << 10;
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  return table;
}

// Files in which tombstones stand close together are compacted soon.
constexpr size_t kTombstoneWindow = 16 << 10;
constexpr size_t kTombstoneTrigger = 8 << 10;

}  // namespace

MemoryPlan::MemoryPlan(const RocksOptions& options) {
  const size_t budget = std::max(options.memory_budget, 8 * kMiB);
  hot_values = std::min(options.hot_cache_bytes, budget / 2);
  // Three sixteenths are left for what neither cache counts: readahead, blob buffers, table readers, and what the
  // allocator holds beyond what it was asked for.
  blocks_and_buffers = budget - budget / 16 * 3 - hot_values;
  write_buffers = blocks_and_buffers / 2;
  // Small buffers: what was written last should fit into the processor's caches, or nearly so.
  one_write_buffer = std::clamp(write_buffers / 4, kMiB, 64 * kMiB);
}

rocksdb::DBOptions DatabaseOptions(const RocksOptions& options, const MemoryPlan& plan, const SharedTuning& shared) {
  rocksdb::DBOptions db;
  db.create_if_missing = true;  // the directory's stamp has already said that it may be made
  db.create_missing_column_families = true;
  db.paranoid_checks = true;
  // A cut-off record at the end of the log is trimmed; damage before it stops the open (log_check.h decides which).
  db.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  db.track_and_verify_wals_in_manifest = true;
  db.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(plan.write_buffers, shared.block_cache);
  db.max_total_wal_size = std::max<uint64_t>(4 * plan.write_buffers, 64 * kMiB);
  // There is one writer.
  db.allow_concurrent_memtable_write = false;
  db.enable_write_thread_adaptive_yield = false;
  db.max_background_jobs = std::max(2, options.background_threads);
  db.max_subcompactions = 1;
  db.bytes_per_sync = kMiB;  // no burst of writeback when a file is finished
  // A compaction of level 0 reads dozens of files at once, each with a buffer of this size.
  db.compaction_readahead_size = std::clamp(options.memory_budget / 1024, 64 * kKiB, 2 * kMiB);
  db.max_open_files = 4096;
#if defined(__SANITIZE_THREAD__)
  // Files are opened by several threads at once, in code that ThreadSanitizer would misread (in_rocks.h).
  db.max_file_opening_threads = 1;
#endif
  db.stats_dump_period_sec = 0;
  db.stats_persist_period_sec = 0;
  db.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  db.keep_log_file_num = 4;
  db.max_log_file_size = 16 * kMiB;
  return db;
}

rocksdb::ColumnFamilyOptions FamilyOptions(Profile profile, const RocksOptions& options, const MemoryPlan& plan,
                                           const SharedTuning& shared) {
  rocksdb::ColumnFamilyOptions family;
  family.merge_operator = MakeCounterMerge();
  family.compaction_filter_factory = shared.expiry_filter;
  family.memtable_factory = MakeRadixMemtables();
  family.memtable_whole_key_filtering = true;
  family.memtable_prefix_bloom_size_ratio = 0.05;
  family.write_buffer_size = plan.one_write_buffer;
  // The commit thread is never delayed by RocksDB: with no_slowdown every refused attempt would be charged to the
  // delay, and retrying would put its end off for ever. Only the hard stops are left, which are polled.
  family.max_write_buffer_number = 3;  // from four on, the last but one delays
  family.level0_slowdown_writes_trigger = family.level0_stop_writes_trigger;
  family.soft_pending_compaction_bytes_limit = 0;
  family.compression = rocksdb::kLZ4Compression;
  family.bottommost_compression = rocksdb::kLZ4Compression;
  family.enable_blob_files = true;
  family.min_blob_size = options.blob_min_bytes;
  family.blob_compression_type = rocksdb::kLZ4Compression;
  family.enable_blob_garbage_collection = true;
  family.target_file_size_base = plan.one_write_buffer;
  family.max_bytes_for_level_base = 4 * plan.one_write_buffer;
  family.level_compaction_dynamic_level_bytes = true;
  family.compaction_pri = rocksdb::kMinOverlappingRatio;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(TableOptions(shared)));
  family.table_properties_collector_factories = {
      rocksdb::NewCompactOnDeletionCollectorFactory(kTombstoneWindow, kTombstoneTrigger)};
  switch (profile) {
    case Profile::kLookup:
      break;
    case Profile::kIngest:
      family.compaction_style = rocksdb::kCompactionStyleUniversal;
      break;
    case Profile::kWindow:
      // Levelled: what is written in key order moves down without being rewritten, and files below level 0 can be
      // dropped whole. Old files are looked at once a day, so that what expired in them goes.
      family.ttl = 24 * 60 * 60;
      break;
  }
  return family;
}

rocksdb::ColumnFamilyOptions MetaFamilyOptions(const SharedTuning& shared) {
  rocksdb::ColumnFamilyOptions family;
  family.write_buffer_size = kMiB;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(TableOptions(shared)));
  return family;
}

}  // namespace kvarts
