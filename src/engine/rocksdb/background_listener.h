// Hears what RocksDB does in the background: counts it, and notes when something in it fails.
#pragma once

#include <rocksdb/listener.h>

#include <memory>

#include "engine/rocksdb/rocks_store.h"

namespace kvarts {

// The store outlives the database that it is given to.
std::shared_ptr<rocksdb::EventListener> MakeBackgroundListener(RocksStore& store);

}  // namespace kvarts
