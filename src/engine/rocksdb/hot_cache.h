// The hot-value cache: the newest values of hot keys, found without touching the LSM tree.
//
// Eight-way sets, each under a lock of one byte and with a clock hand of its own. An entry is the newest value of its
// key with its version. The rules that keep it right, whatever readers and the committer do at the same time:
// - a reader at version v takes an entry only if the entry's version is at most v;
// - a value read from the LSM tree at v is refused if anything in its set changed after v, or a range was erased;
// - the committer tells the cache of every write after the LSM tree has it and before the version becomes visible.
// What would displace an entry is taken in only when it was turned away once before, lately. That, and most misses, are
// decided by a summary of sixteen bytes a set, without the lock: values that are read once pass by almost for free.
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

  // Asks for the memory that a Find of this hash will want: at first for where entries are noted, and then, once that
  // is here, for the entry. For who finds many.
  void FetchSet(uint64_t hash) const;
  void FetchEntry(uint64_t hash);
  // Copies the entry of `key` into `record` if there is one and its version is at most `at_most`.
  bool Find(uint64_t hash, BytesView key, Version at_most, Record* record);
  // Offers what was read at `read_at`.
  void Fill(uint64_t hash, BytesView key, const ValueHeader& header, BytesView value, Version read_at);

  // The rest is for the committer alone.

  // A write or an erasure follows shortly.
  void Prefetch(uint64_t hash) const { __builtin_prefetch(&sets_[IndexOf(hash)], 1); }

  // The key has a new newest value: an entry is brought up to date, and none is made.
  void Write(uint64_t hash, BytesView key, const ValueHeader& header, BytesView value);
  // The key's newest value is gone, or not known here.
  void Erase(uint64_t hash, BytesView key, Version version);
  void EraseRange(const KeyRange& range, Version version);
  // Forgets everything, as if every key had changed. Cheaper than more than kMaxErasedRanges ranges at once.
  void Wipe(Version version);
  static constexpr size_t kMaxErasedRanges = 16;
  // Does a bounded part of the work that range erases left behind.
  void Sweep();

  CacheStats Stats() const;

 private:
  static constexpr size_t kWays = 8;
  static constexpr size_t kNoWay = kWays;
  static constexpr size_t kExpectedEntryBytes = 192;
  static constexpr size_t kSweptSetsPerStep = 512;
  static constexpr int kMaxEvictionTries = 8;

  struct Block;
  struct alignas(64) Set {
    SpinLock lock;
    uint8_t hand = 0;
    uint8_t used_lately = 0;  // a bit for each way
    Version changed;
    uint32_t tags[kWays] = {};
    Block* blocks[kWays] = {};
  };
  // Written under the lock of the set, but for turned_away; read without it. A reader who is misled by a change under
  // way takes a hit for a miss, or fills what another one has just filled.
  struct alignas(16) Summary {
    std::atomic<uint64_t> tags{0};         // a byte for each way, zero when it is free
    std::atomic<uint32_t> turned_away{0};  // likewise, the newest in the lowest byte
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

  size_t IndexOf(uint64_t hash) const { return hash & (sets_.size() - 1); }
  Set& SetOf(uint64_t hash) { return sets_[IndexOf(hash)]; }
  Summary& SummaryOf(const Set& set) { return summaries_[static_cast<size_t>(&set - sets_.data())]; }
  static size_t FindWay(const Set& set, uint64_t hash, BytesView key);
  static size_t FreeWay(const Set& set);
  bool Erased(BytesView key, Version version) const;
  // Whether a key that would displace an entry is to be turned away: the first time it is.
  bool TurnAway(uint64_t hash, size_t bytes);
  void Put(Set& set, size_t way, uint64_t hash, Block* block);
  void Drop(Set& set, size_t way);
  bool EvictFrom(Set& set);
  bool MakeRoom(Set& set, size_t bytes);

  const size_t capacity_;
  const size_t max_value_;
  std::vector<Set> sets_;
  std::unique_ptr<Summary[]> summaries_;
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
