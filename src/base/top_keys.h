// Hot keys: which keys and prefixes are read and written most right now, known at any time at a fixed cost.
//
// A TopKeys belongs to one thread, which tells it of every read and write; anybody may Take a snapshot at any time, and
// those of several threads are merged. It looks at a sample: while little happens at everything, then at about
// 8,000 reads and 8,000 writes a second, each counting for those that were skipped (at random, so no rhythm of requests
// is missed or favoured). What is sampled goes into Space-Saving tables (space_saving.h), one of keys, one of prefixes
// and one of the groups that keys belong to, for reads and for writes. What was counted fades with a half-life of a
// minute, so that hot means now.
//
// What it costs: a decrement for a request that is skipped, and for one that is looked at up to six table updates,
// well below a microsecond; so under full load a few per mille of the thread. Memory: 4 tables of 512 entries and 2 of
// 128, at most 0.9 MiB with keys of 256 bytes and more, about 0.3 MiB with short ones. Keys longer than kKeptBytes are
// told apart by their hash; only their start is kept.
//
// Rates are estimates. Of each it is known that the true one, but for the luck of sampling, lies between per_second and
// per_second + error.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/space_saving.h"
#include "base/spin_lock.h"

namespace kvarts {

// Where the prefixes of a key end, shortest first.
using PrefixEnds = std::array<uint16_t, 4>;
// Behind each of the first four of / : # | within the bytes that are kept. Returns how many there are.
size_t CutAtDelimiters(BytesView key, PrefixEnds* ends);

struct HotRate {
  double per_second = 0;
  double error = 0;
  double bytes_per_second = 0;
};

struct HotKey {
  Bytes key;         // or the start of it, or a prefix with its delimiter
  bool cut = false;  // the key is longer than what is shown
  HotRate reads;
  HotRate writes;
};

enum class HotOrder : uint8_t { kReads, kWrites, kBytes };

// What one TopKeys knew at one instant, or several of them together.
class HotKeys {
 public:
  void Merge(const HotKeys& other);
  // The hottest first; those that hardly happen are left out.
  std::vector<HotKey> Keys(HotOrder order, size_t at_most) const { return Hottest(0, order, at_most); }
  std::vector<HotKey> Prefixes(HotOrder order, size_t at_most) const { return Hottest(1, order, at_most); }
  // Their names are in `key`.
  std::vector<HotKey> Groups(HotOrder order, size_t at_most) const { return Hottest(2, order, at_most); }
  // Of everything, so that a share can be told.
  double reads_per_second() const { return totals_[0]; }
  double writes_per_second() const { return totals_[1]; }

 private:
  friend class TopKeys;
  // Entries with rates instead of weights.
  struct Part {
    std::vector<SpaceSaving::Entry> entries;
    double floor = 0;
  };
  std::vector<HotKey> Hottest(size_t kind, HotOrder order, size_t at_most) const;

  std::array<double, 2> totals_{};              // reads, writes
  std::array<std::array<Part, 3>, 2> parts_{};  // reads, writes: keys, prefixes, groups
};

class TopKeys {
 public:
  static constexpr size_t kKeptBytes = 256;

  struct Options {
    uint32_t capacity = 512;  // of each table
    Duration half_life = Duration::Seconds(60);
    // How many reads, and how many writes, are looked at in a second.
    double samples_per_second = 8000;
    // Sets what is sampled; 0 for another one every time.
    uint64_t seed = 0;
    // Called for samples only: at most 4 prefixes of the key, each no longer than kKeptBytes.
    std::function<size_t(BytesView, PrefixEnds*)> cut = CutAtDelimiters;
    // Called for samples only: the name of the group that the key is counted for; empty for none.
    std::function<BytesView(BytesView)> group = [](BytesView) { return BytesView(); };
  };

  // The clock outlives it.
  explicit TopKeys(const Clock& clock) : TopKeys(clock, Options()) {}
  TopKeys(const Clock& clock, Options options);

  void Read(BytesView key, size_t bytes = 0) {
    if (--lanes_[0].skip == 0) [[unlikely]]
      Sample(&lanes_[0], key, bytes);
  }
  void Write(BytesView key, size_t bytes) {
    if (--lanes_[1].skip == 0) [[unlikely]]
      Sample(&lanes_[1], key, bytes);
  }

  // From any thread. The owner never waits for it.
  HotKeys Take() const;

 private:
  // At most one in so many is looked at, so that what follows a rush is seen soon.
  static constexpr double kMaxPeriod = 64;
  // More groups than this and the lightest share places.
  static constexpr uint32_t kGroups = 128;

  struct Lane {
    explicit Lane(uint32_t capacity) : tables{SpaceSaving(capacity), SpaceSaving(capacity), SpaceSaving(kGroups)} {}

    uint32_t skip = 1;  // until the next sample
    // Only the owner looks at these.
    double period = 1;     // one in so many is looked at
    double log_miss = 0;   // the logarithm of the chance to be skipped
    uint32_t skipped = 1;  // events that the next sample stands in for, itself among them
    double carried = 0;    // weight of samples that found the tables in use
    uint64_t events = 0;   // since `since`
    uint64_t since_us = 0;
    // Under the lock.
    std::array<SpaceSaving, 3> tables;  // keys, prefixes, groups
    double total = 0;
  };

  void Sample(Lane* lane, BytesView key, size_t bytes);
  void Schedule(Lane* lane, uint64_t now_us);
  void Count(Lane* lane, BytesView key, double weight, double bytes);
  // What one event at this instant weighs; brings everything down when that grows large.
  double WeightAt(uint64_t now_us);
  double Random();

  const Clock& clock_;
  const Options options_;
  const double half_life_us_;
  const uint64_t started_us_;
  uint64_t random_;
  std::array<Lane, 2> lanes_;  // reads, writes

  mutable SpinLock lock_;
  uint64_t epoch_us_;  // an event at this instant weighs 1
  uint64_t weighed_us_ = 0;
  double weight_ = 1;  // of an event at about weighed_us_
};

}  // namespace kvarts
