#include "engine/rocksdb/hot_cache.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace kvarts {

// One allocation: this, then the key, then the value.
struct HotCache::Block {
  ValueHeader header;
  uint32_t key_size;
  uint32_t value_size;
  uint32_t value_room;

  char* data() { return reinterpret_cast<char*>(this + 1); }
  BytesView key() { return {data(), key_size}; }
  BytesView value() { return {data() + key_size, value_size}; }
  static size_t BytesFor(size_t key, size_t value) { return sizeof(Block) + key + value; }
  size_t bytes() const { return BytesFor(key_size, value_room); }

  static Block* Make(BytesView key, const ValueHeader& header, BytesView value) {
    void* memory = std::malloc(BytesFor(key.size(), value.size()));
    if (memory == nullptr) throw std::bad_alloc();
    auto* block = new (memory) Block{header, static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size()),
                                     static_cast<uint32_t>(value.size())};
    std::memcpy(block->data(), key.data(), key.size());
    std::memcpy(block->data() + key.size(), value.data(), value.size());
    return block;
  }
  void Set(const ValueHeader& new_header, BytesView value) {
    header = new_header;
    value_size = static_cast<uint32_t>(value.size());
    std::memcpy(data() + key_size, value.data(), value.size());
  }
};

namespace {

uint32_t TagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }

size_t SetsFor(size_t capacity, size_t entry_bytes, size_t ways) {
  return std::bit_ceil(std::max<size_t>(1, capacity / (entry_bytes * ways)));
}

}  // namespace

HotCache::HotCache(size_t capacity_bytes, size_t max_value_bytes)
    : capacity_(capacity_bytes),
      max_value_(max_value_bytes),
      sets_(SetsFor(capacity_bytes, kExpectedEntryBytes, kWays)),
      used_(sets_.size() * sizeof(Set)),
      counters_(std::make_unique<Counter[]>(kCounters)) {}

HotCache::~HotCache() {
  for (Set& set : sets_) {
    for (Way& way : set.ways) std::free(way.block);
  }
}

HotCache::Way* HotCache::FindWay(Set& set, uint64_t hash, BytesView key) {
  for (Way& way : set.ways) {
    if (way.tag == TagOf(hash) && way.block != nullptr && way.block->key() == key) return &way;
  }
  return nullptr;
}

bool HotCache::Erased(BytesView key, Version version) const {
  if (version > check_up_to_.load(std::memory_order_acquire)) return false;
  std::shared_lock lock(ranges_lock_);
  return std::ranges::any_of(
      ranges_, [&](const ErasedRange& erased) { return version <= erased.version && erased.range.Contains(key); });
}

bool HotCache::Find(uint64_t hash, BytesView key, Version at_most, Record* record) {
  Counter& counter = counters_[hash % kCounters];
  Set& set = SetOf(hash);
  {
    std::lock_guard lock(set.lock);
    Way* way = FindWay(set, hash, key);
    if (way != nullptr && way->block->header.version <= at_most && !Erased(key, way->block->header.version)) {
      way->used_lately = true;
      record->header = way->block->header;
      record->value.assign(way->block->value());
      counter.hits.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
  }
  counter.misses.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void HotCache::Drop(Way& way) {
  used_.fetch_sub(way.block->bytes(), std::memory_order_relaxed);
  std::free(way.block);
  way = Way{};
}

// Gives up one entry of the set: the first from the clock hand on that was not used since the hand came by.
bool HotCache::EvictFrom(Set& set) {
  for (size_t step = 0; step < 2 * kWays; ++step) {
    Way& way = set.ways[set.hand];
    set.hand = (set.hand + 1) % kWays;
    if (way.block == nullptr) continue;
    if (!std::exchange(way.used_lately, false)) {
      Drop(way);
      return true;
    }
  }
  return false;
}

// Takes `bytes` of the capacity. The set at hand gives way first, then sets in turn; false when none would soon.
bool HotCache::MakeRoom(Set& set, size_t bytes) {
  if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= capacity_) return true;
  for (int tries = 0; tries < kMaxEvictionTries; ++tries) {
    if (!EvictFrom(set)) {
      Set& other = sets_[hand_.fetch_add(1, std::memory_order_relaxed) & (sets_.size() - 1)];
      if (&other != &set && other.lock.try_lock()) {
        EvictFrom(other);
        other.lock.unlock();
      }
    }
    if (used_.load(std::memory_order_relaxed) <= capacity_) return true;
  }
  used_.fetch_sub(bytes, std::memory_order_relaxed);
  return false;
}

void HotCache::Fill(uint64_t hash, BytesView key, const ValueHeader& header, BytesView value, Version read_at) {
  if (value.size() > max_value_) return;
  Set& set = SetOf(hash);
  std::lock_guard lock(set.lock);
  if (set.changed > read_at || last_range_erase_.load(std::memory_order_acquire) > read_at) return;
  if (Way* way = FindWay(set, hash, key); way != nullptr) {
    if (way->block->header.version >= header.version) return;  // another reader was faster
    Drop(*way);                                                // it was erased with a range
  }
  if (!MakeRoom(set, Block::BytesFor(key.size(), value.size()))) return;
  Way* free_way = std::ranges::find(set.ways, nullptr, &Way::block);
  if (free_way == std::end(set.ways)) {
    EvictFrom(set);
    free_way = std::ranges::find(set.ways, nullptr, &Way::block);
  }
  *free_way = {Block::Make(key, header, value), TagOf(hash), false};
}

void HotCache::Write(uint64_t hash, BytesView key, const ValueHeader& header, BytesView value) {
  Set& set = SetOf(hash);
  std::lock_guard lock(set.lock);
  set.changed = std::max(set.changed, header.version);
  Way* way = FindWay(set, hash, key);
  if (way == nullptr) return;
  if (value.size() <= way->block->value_room) {
    way->block->Set(header, value);
    return;
  }
  Drop(*way);
  if (value.size() > max_value_ || !MakeRoom(set, Block::BytesFor(key.size(), value.size()))) return;
  *way = {Block::Make(key, header, value), TagOf(hash), true};
}

void HotCache::Erase(uint64_t hash, BytesView key, Version version) {
  Set& set = SetOf(hash);
  std::lock_guard lock(set.lock);
  set.changed = std::max(set.changed, version);
  Way* way = FindWay(set, hash, key);
  if (way != nullptr) Drop(*way);
}

void HotCache::EraseRange(const KeyRange& range, Version version) {
  if (ranges_.size() >= kMaxErasedRanges) return Wipe(version);
  std::unique_lock lock(ranges_lock_);
  ranges_.push_back({range, version, sets_.size()});
  last_range_erase_.store(version, std::memory_order_release);
  check_up_to_.store(version, std::memory_order_release);
}

// Too many ranges at once: cheaper to forget every entry than to hold each against all of them.
void HotCache::Wipe(Version version) {
  last_range_erase_.store(version, std::memory_order_release);
  for (Set& set : sets_) {
    std::lock_guard lock(set.lock);
    for (Way& way : set.ways) {
      if (way.block != nullptr) Drop(way);
    }
  }
  std::unique_lock lock(ranges_lock_);
  ranges_.clear();
  check_up_to_.store(kNoVersion, std::memory_order_release);
}

void HotCache::Sweep() {
  if (ranges_.empty()) return;
  const size_t steps = std::min(kSweptSetsPerStep, sets_.size());
  for (size_t i = 0; i < steps; ++i, sweep_at_ = (sweep_at_ + 1) & (sets_.size() - 1)) {
    Set& set = sets_[sweep_at_];
    std::lock_guard lock(set.lock);
    for (Way& way : set.ways) {
      if (way.block != nullptr && Erased(way.block->key(), way.block->header.version)) Drop(way);
    }
  }
  std::unique_lock lock(ranges_lock_);
  for (ErasedRange& erased : ranges_) erased.sets_left -= std::min(erased.sets_left, steps);
  std::erase_if(ranges_, [](const ErasedRange& erased) { return erased.sets_left == 0; });
  if (ranges_.empty()) check_up_to_.store(kNoVersion, std::memory_order_release);
}

CacheStats HotCache::Stats() const {
  CacheStats stats;
  for (size_t i = 0; i < kCounters; ++i) {
    stats.hits += counters_[i].hits.load(std::memory_order_relaxed);
    stats.misses += counters_[i].misses.load(std::memory_order_relaxed);
  }
  stats.bytes = used_.load(std::memory_order_relaxed);
  stats.capacity = capacity_;
  return stats;
}

}  // namespace kvarts
