// Drops expired values while RocksDB compacts. A compaction filter knows nothing of snapshots, so what it may drop is
// asked of the engine: values that nobody owns and that expired before the time of the oldest open view.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "base/clock.h"

namespace rocksdb {
class CompactionFilterFactory;
}

namespace kvarts {

struct ExpiryFilterOptions {
  // What expired at or before this instant is gone for every reader there is or will be.
  std::function<Timestamp()> horizon;
  // Whether large values with an expiry were ever written. Only then does compaction read blobs to look at theirs.
  const std::atomic<bool>* expiring_blobs = nullptr;
  // Counts what was dropped.
  std::atomic<uint64_t>* dropped = nullptr;
};

std::shared_ptr<rocksdb::CompactionFilterFactory> MakeExpiryFilterFactory(ExpiryFilterOptions options);

}  // namespace kvarts
