// What the engine can say about itself: figures for people and metrics.
#pragma once

#include <rocksdb/cache.h>

#include "engine/rocksdb/rocks_store.h"
#include "engine/rocksdb/tuning.h"

namespace kvarts {

Result<RangeEstimate> EstimateRange(RocksStore& store, const KeyRange& range);

// All but what belongs to the committer.
Result<EngineStats> CollectStats(RocksStore& store, const rocksdb::Cache& block_cache);

}  // namespace kvarts
