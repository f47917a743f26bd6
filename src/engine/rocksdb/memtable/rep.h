// The memtable of the rocksdb engine, in RocksDB's own terms: a radix tree in place of its skip list.
//
// What that saves: an insert into a skip list of a million keys meets some thirty of them, each somewhere else in
// memory; the radix tree meets about six nodes. Only for the order of bytes, and for one writer at a time.
#pragma once

#include <rocksdb/memtablerep.h>

#include <memory>

namespace kvarts {

std::shared_ptr<rocksdb::MemTableRepFactory> MakeRadixMemtables();

}  // namespace kvarts
