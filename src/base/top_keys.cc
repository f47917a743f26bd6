#include "base/top_keys.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <random>
#include <unordered_map>

namespace kvarts {
namespace {

constexpr double kMicros = 1e6;
constexpr uint64_t kWindowMicros = 250'000;  // how often the sampling follows the load
constexpr uint64_t kWeighMicros = 10'000;    // how long a weight is good enough
constexpr double kMaxExponent = 64;          // weights are brought down before they grow beyond 2^64
constexpr double kHardlyEver = 1e-3;         // a second: not worth showing

// So that nobody can make keys that share a place; the same for all, so that snapshots can be merged.
uint64_t HashSeed() {
  static const uint64_t kSeed = (uint64_t{std::random_device()()} << 32) | std::random_device()();
  return kSeed;
}

uint64_t HashOf(BytesView bytes) { return XXH3_64bits_withSeed(bytes.data(), bytes.size(), HashSeed()); }

double BytesOf(const HotKey& key) { return key.reads.bytes_per_second + key.writes.bytes_per_second; }

double Heat(const HotKey& key, HotOrder order) {
  switch (order) {
    case HotOrder::kReads:
      return key.reads.per_second;
    case HotOrder::kWrites:
      return key.writes.per_second;
    case HotOrder::kBytes:
      return BytesOf(key);
  }
  return 0;
}

}  // namespace

size_t CutAtDelimiters(BytesView key, PrefixEnds* ends) {
  size_t count = 0;
  const size_t size = std::min(key.size(), TopKeys::kKeptBytes);
  for (size_t i = 0; i < size && count < ends->size(); ++i) {
    const char c = key[i];
    if (c == '/' || c == ':' || c == '#' || c == '|') (*ends)[count++] = static_cast<uint16_t>(i + 1);
  }
  return count;
}

TopKeys::TopKeys(const Clock& clock, Options options)
    : clock_(clock),
      options_(std::move(options)),
      half_life_us_(static_cast<double>(options_.half_life.micros)),
      started_us_(clock.Now().micros),
      random_(options_.seed != 0 ? options_.seed : std::random_device()()),
      lanes_{Lane(options_.capacity), Lane(options_.capacity)},
      epoch_us_(started_us_) {
  for (Lane& lane : lanes_) lane.since_us = started_us_;
}

// splitmix64, as a number in (0, 1].
double TopKeys::Random() {
  random_ += 0x9e3779b97f4a7c15;
  uint64_t z = random_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  z ^= z >> 31;
  return (static_cast<double>(z >> 11) + 1) * 0x1p-53;
}

void TopKeys::Sample(Lane* lane, BytesView key, size_t bytes) {
  const uint64_t now_us = std::max(clock_.Now().micros, started_us_);
  // Whoever takes a snapshot is not waited for: the next sample counts for this one too.
  const double weight = lane->period + lane->carried;
  if (lock_.try_lock()) {
    const std::lock_guard lock(lock_, std::adopt_lock);
    lane->carried = 0;
    const double unit = WeightAt(now_us);
    Count(lane, key, weight * unit, weight * unit * static_cast<double>(bytes));
  } else {
    lane->carried = weight;
  }
  lane->events += lane->skipped;
  Schedule(lane, now_us);
}

// Draws how many events are skipped, so that each has the same chance to be the next sample.
void TopKeys::Schedule(Lane* lane, uint64_t now_us) {
  const uint64_t elapsed = now_us - std::min(now_us, lane->since_us);
  if (elapsed >= kWindowMicros) {
    const double per_second = static_cast<double>(lane->events) * kMicros / static_cast<double>(elapsed);
    lane->period = std::clamp(per_second / options_.samples_per_second, 1.0, kMaxPeriod);
    lane->log_miss = lane->period == 1 ? 0 : std::log1p(-1 / lane->period);
    lane->events = 0;
    lane->since_us = now_us;
  }
  lane->skipped = 1;
  // Random() is at least 2^-53, so this is at most 37 periods.
  if (lane->log_miss != 0) lane->skipped += static_cast<uint32_t>(std::log(Random()) / lane->log_miss);
  lane->skip = lane->skipped;
}

void TopKeys::Count(Lane* lane, BytesView key, double weight, double bytes) {
  const auto add = [&](SpaceSaving* table, BytesView counted) {
    table->Add({HashOf(counted), static_cast<uint32_t>(counted.size()), counted.substr(0, kKeptBytes)}, weight, bytes);
  };
  add(&lane->tables[0], key);
  PrefixEnds ends;
  const size_t prefixes = options_.cut(key, &ends);
  for (size_t i = 0; i < prefixes; ++i) add(&lane->tables[1], key.substr(0, ends[i]));
  if (const BytesView group = options_.group(key); !group.empty()) add(&lane->tables[2], group);
  lane->total += weight;
}

double TopKeys::WeightAt(uint64_t now_us) {
  if (weighed_us_ != 0 && now_us - std::min(now_us, weighed_us_) < kWeighMicros) return weight_;
  double exponent = static_cast<double>(now_us - std::min(now_us, epoch_us_)) / half_life_us_;
  if (exponent > kMaxExponent) {
    for (Lane& lane : lanes_) {
      for (SpaceSaving& table : lane.tables) table.Scale(std::exp2(-exponent));
      lane.total *= std::exp2(-exponent);
    }
    epoch_us_ = now_us;
    exponent = 0;
  }
  weighed_us_ = now_us;
  weight_ = std::exp2(exponent);
  return weight_;
}

HotKeys TopKeys::Take() const {
  HotKeys taken;
  const uint64_t now_us = std::max(clock_.Now().micros, started_us_);
  uint64_t epoch_us;
  {
    const std::lock_guard lock(lock_);
    epoch_us = epoch_us_;
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      taken.totals_[lane] = lanes_[lane].total;
      for (size_t kind = 0; kind < lanes_[lane].tables.size(); ++kind) {
        const SpaceSaving& table = lanes_[lane].tables[kind];
        taken.parts_[lane][kind] = {table.entries(), table.Floor()};
      }
    }
  }
  // One event a second for ever would weigh half_life / ln 2 in all, and one since the start so much of that.
  const double age = static_cast<double>(now_us - started_us_) / half_life_us_;
  const double seconds = half_life_us_ / kMicros / std::numbers::ln2 * -std::expm1(-age * std::numbers::ln2);
  const double faded = std::exp2(-static_cast<double>(now_us - std::min(now_us, epoch_us)) / half_life_us_);
  const double to_rate = faded / std::max(seconds, 1.0);
  for (double& total : taken.totals_) total *= to_rate;
  for (auto& lane : taken.parts_) {
    for (HotKeys::Part& part : lane) {
      part.floor *= to_rate;
      for (SpaceSaving::Entry& entry : part.entries) {
        entry.weight *= to_rate;
        entry.error *= to_rate;
        entry.bytes *= to_rate;
      }
    }
  }
  return taken;
}

void HotKeys::Merge(const HotKeys& other) {
  for (size_t lane = 0; lane < parts_.size(); ++lane) {
    totals_[lane] += other.totals_[lane];
    for (size_t kind = 0; kind < parts_[lane].size(); ++kind) {
      Part& mine = parts_[lane][kind];
      const Part& theirs = other.parts_[lane][kind];
      std::unordered_map<uint64_t, const SpaceSaving::Entry*> by_hash;
      for (const SpaceSaving::Entry& entry : theirs.entries) by_hash.emplace(entry.hash, &entry);
      // Who does not hold a key may still have seen it as often as its floor says.
      for (SpaceSaving::Entry& entry : mine.entries) {
        const auto found = by_hash.find(entry.hash);
        if (found == by_hash.end()) {
          entry.error += theirs.floor;
          continue;
        }
        entry.weight += found->second->weight;
        entry.error += found->second->error;
        entry.bytes += found->second->bytes;
        by_hash.erase(found);
      }
      for (const auto& [hash, entry] : by_hash) mine.entries.emplace_back(*entry).error += mine.floor;
      mine.floor += theirs.floor;
    }
  }
}

std::vector<HotKey> HotKeys::Hottest(size_t kind, HotOrder order, size_t at_most) const {
  std::unordered_map<uint64_t, HotKey> by_hash;
  for (size_t lane = 0; lane < parts_.size(); ++lane) {
    for (const SpaceSaving::Entry& entry : parts_[lane][kind].entries) {
      const auto [at, is_new] = by_hash.try_emplace(entry.hash);
      HotKey& key = at->second;
      if (is_new) {
        key.key = entry.start;
        key.cut = entry.size > entry.start.size();
        key.reads.error = parts_[0][kind].floor;
        key.writes.error = parts_[1][kind].floor;
      }
      (lane == 0 ? key.reads : key.writes) = {entry.weight, entry.error, entry.bytes};
    }
  }
  std::vector<HotKey> hottest;
  for (auto& [hash, key] : by_hash) {
    if (Heat(key, order) >= kHardlyEver) hottest.push_back(std::move(key));
  }
  std::ranges::sort(hottest, [&](const HotKey& a, const HotKey& b) {
    return std::pair(Heat(b, order), BytesView(a.key)) < std::pair(Heat(a, order), BytesView(b.key));
  });
  if (hottest.size() > at_most) hottest.resize(at_most);
  return hottest;
}

}  // namespace kvarts
