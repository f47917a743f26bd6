// What the engine can say about itself: figures for people and metrics, and the walk through everything stored.
#pragma once

#include <rocksdb/cache.h>

#include "engine/rocksdb/rocks_store.h"
#include "engine/rocksdb/tuning.h"

namespace kvarts {

Result<EngineStats> CollectStats(RocksStore& store, const rocksdb::Cache& block_cache);

// Reads every entry of every column family, blobs included: headers decode, versions were issued, and every key lies in
// the family that its profile names. `corruption` names the first key that does not.
Status VerifyEntries(RocksStore& store);

}  // namespace kvarts
