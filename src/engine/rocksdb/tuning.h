// Every RocksDB option that Kvarts sets, in one place, with the reason beside it.
#pragma once

#include <rocksdb/options.h>

#include <memory>

#include "engine/engine.h"
#include "engine/rocksdb/rocks_engine.h"

namespace kvarts {

// How one memory budget is shared out. Write buffers are charged to the block cache, so they squeeze each other.
struct MemoryPlan {
  explicit MemoryPlan(const RocksOptions& options);

  size_t hot_values;
  size_t blocks_and_buffers;
  size_t write_buffers;  // of blocks_and_buffers, at most
  size_t one_write_buffer;
};

// What all column families share.
struct SharedTuning {
  std::shared_ptr<rocksdb::Cache> block_cache;
  std::shared_ptr<rocksdb::CompactionFilterFactory> expiry_filter;
};

rocksdb::DBOptions DatabaseOptions(const RocksOptions& options, const MemoryPlan& plan, const SharedTuning& shared);
rocksdb::ColumnFamilyOptions FamilyOptions(Profile profile, const RocksOptions& options, const MemoryPlan& plan,
                                           const SharedTuning& shared);
// For the small family of the engine's own records.
rocksdb::ColumnFamilyOptions MetaFamilyOptions(const SharedTuning& shared);

}  // namespace kvarts
