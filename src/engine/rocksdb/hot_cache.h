// The hot-value cache: the newest values of hot keys, found without touching the LSM tree.
//
// Eight-way sets, each under a lock of one byte and with a clock hand of its own. An entry is the newest value of its
// key with its version. The rules that keep it right, whatever readers and the committer do at the same time:
// - a reader at version v takes an entry only if the entry's version is at most v;
// - a value read from the LSM tree at v is refused if anything in its set changed after v, or a range was erased;
// - the committer tells the cache of every write after the LSM tree has it and before the version becomes visible.
// A range erase would have to visit every set. Instead the range is remembered, entries up to its version are held
// against it when found, and the committer sweeps a few sets per group until the range can be forgotten. (What the same
// commit put into the range after erasing it is missed by the cache for that long, and read from the LSM tree.)
#pragma once

#include <atomic>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "base/bytes.h"
#include "base/spin_lock.h"
#include "encoding/key_range.h"
#include "engine/record.h"
#include "engine/stats.h"

namespace kvarts {

class HotCache {
 public:
  // A capacity of zero makes a cache that never holds anything.
  HotCache(size_t capacity_bytes, size_t max_value_bytes);
  ~HotCache();

  // Copies the entry of `key` into `record` if there is one and its version is at most `at_most`.
  bool Find(uint64_t hash, BytesView key, Version at_most, Record* record);
  // Offers what was read at `read_at`.
  void Fill(uint64_t hash, BytesView key, const ValueHeader& header, BytesView value, Version read_at);

  // The rest is for the committer alone.

  // The key has a new newest value: an entry is brought up to date, and none is made.
  void Write(uint64_t hash, BytesView key, const ValueHeader& header, BytesView value);
  // The key's newest value is gone, or not known here.
  void Erase(uint64_t hash, BytesView key, Version version);
  void EraseRange(const KeyRange& range, Version version);
  // Does a bounded part of the work that range erases left behind.
  void Sweep();

  CacheStats Stats() const;

 private:
  static constexpr size_t kWays = 8;
  static constexpr size_t kExpectedEntryBytes = 192;
  static constexpr size_t kMaxErasedRanges = 16;
  static constexpr size_t kSweptSetsPerStep = 512;
  static constexpr int kMaxEvictionTries = 8;

  struct Block;
  struct Way {
    Block* block = nullptr;
    uint32_t tag = 0;
    bool used_lately = false;
  };
  struct alignas(64) Set {
    SpinLock lock;
    uint8_t hand = 0;
    Version changed;
    Way ways[kWays];
  };
  struct ErasedRange {
    KeyRange range;
    Version version;
    size_t sets_left;  // to sweep
  };
  struct alignas(64) Counter {
    std::atomic<uint64_t> hits{0};
    std::atomic<uint64_t> misses{0};
  };

  Set& SetOf(uint64_t hash) { return sets_[hash & (sets_.size() - 1)]; }
  static Way* FindWay(Set& set, uint64_t hash, BytesView key);
  bool Erased(BytesView key, Version version) const;
  void Drop(Way& way);
  bool EvictFrom(Set& set);
  bool MakeRoom(Set& set, size_t bytes);
  void Wipe(Version version);

  const size_t capacity_;
  const size_t max_value_;
  std::vector<Set> sets_;
  std::atomic<size_t> used_{0};
  std::atomic<size_t> hand_{0};  // the set that gives way next when a full set is not the one that grows
  std::atomic<Version> last_range_erase_{kNoVersion};
  std::atomic<Version> check_up_to_{kNoVersion};  // entries of later versions are not held against ranges_
  mutable std::shared_mutex ranges_lock_;
  std::vector<ErasedRange> ranges_;  // written by the committer under ranges_lock_
  size_t sweep_at_ = 0;
  static constexpr size_t kCounters = 16;
  std::unique_ptr<Counter[]> counters_;
};

}  // namespace kvarts
