// Drops expired values while RocksDB compacts. A compaction filter knows nothing of snapshots, so what it may drop is
// asked of the engine: values that nobody owns and that expired before the time of the oldest open view.
//
// A value with adds on top of it must stay all the same: adds from before its expiry end with it, and would count again
// without it. Such keys are handed to the keeper, which erases them in commit order.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/version.h"

namespace rocksdb {
class CompactionFilterFactory;
}

namespace kvarts {

// Which keys may have adds on top of their values, by hash: the newest add of all keys that share a slot.
class AddedKeys {
 public:
  void Note(uint64_t hash, Version version) {
    any_.store(true, std::memory_order_relaxed);
    slots_[hash % kSlots].store(version.stamp, std::memory_order_release);
  }
  // Nothing is known of adds before `version`, except that there is none at or after it.
  void StartAt(Version version) {
    for (auto& slot : slots_) slot.store(version.stamp, std::memory_order_release);
  }
  // Whether the key may have been added to after `since`.
  bool MayHave(uint64_t hash, Version since) const {
    return slots_[hash % kSlots].load(std::memory_order_acquire) > since.stamp;
  }
  // Whether anything was added to since the store was opened.
  bool any() const { return any_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kSlots = 1 << 16;
  std::vector<std::atomic<uint64_t>> slots_ = std::vector<std::atomic<uint64_t>>(kSlots);
  std::atomic<bool> any_{false};
};

// Keys that compaction found expired and must not drop itself. Bounded: what finds no room comes up again.
class ExpiredCounters {
 public:
  void Offer(BytesView key);
  std::vector<Bytes> Take();
  bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }

 private:
  static constexpr size_t kMost = 1000;
  std::mutex mutex_;
  std::vector<Bytes> keys_;
  std::atomic<size_t> count_{0};
};

struct ExpiryFilterOptions {
  // What expired at or before this instant is gone for every reader there is or will be.
  std::function<Timestamp()> horizon;
  const AddedKeys* added = nullptr;
  ExpiredCounters* expired_counters = nullptr;
  // Whether large values with an expiry were ever written. Only then does compaction read blobs to look at theirs.
  const std::atomic<bool>* expiring_blobs = nullptr;
  // Counts what was dropped.
  std::atomic<uint64_t>* dropped = nullptr;
};

std::shared_ptr<rocksdb::CompactionFilterFactory> MakeExpiryFilterFactory(ExpiryFilterOptions options);

}  // namespace kvarts
