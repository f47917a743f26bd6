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
// Never zero, which stands for none.
uint8_t ByteTagOf(uint64_t hash) { return std::max<uint8_t>(1, static_cast<uint8_t>(hash >> 56)); }

// Whether one of the bytes is this one.
template <class Word>
bool HasByte(Word bytes, uint8_t byte) {
  constexpr Word kOnes = static_cast<Word>(~Word{0}) / 0xff;
  const Word differing = bytes ^ (kOnes * byte);
  return ((differing - kOnes) & ~differing & (kOnes << 7)) != 0;
}

size_t SetsFor(size_t capacity, size_t entry_bytes, size_t ways) {
  return std::bit_ceil(std::max<size_t>(1, capacity / (entry_bytes * ways)));
}

}  // namespace

HotCache::HotCache(size_t capacity_bytes, size_t max_value_bytes)
    : capacity_(capacity_bytes),
      max_value_(max_value_bytes),
      sets_(SetsFor(capacity_bytes, kExpectedEntryBytes, kWays)),
      summaries_(std::make_unique<Summary[]>(sets_.size())),
      used_(sets_.size() * (sizeof(Set) + sizeof(Summary))),
      counters_(std::make_unique<Counter[]>(kCounters)) {}

HotCache::~HotCache() {
  for (Set& set : sets_) {
    for (Block* block : set.blocks) std::free(block);
  }
}

size_t HotCache::FindWay(const Set& set, uint64_t hash, BytesView key) {
  for (size_t way = 0; way < kWays; ++way) {
    if (set.tags[way] != TagOf(hash)) continue;
    if (set.blocks[way] != nullptr && set.blocks[way]->key() == key) return way;
  }
  return kNoWay;
}

size_t HotCache::FreeWay(const Set& set) {
  return static_cast<size_t>(std::ranges::find(set.blocks, nullptr) - set.blocks);
}

bool HotCache::Erased(BytesView key, Version version) const {
  if (version > check_up_to_.load(std::memory_order_acquire)) return false;
  std::shared_lock lock(ranges_lock_);
  return std::ranges::any_of(
      ranges_, [&](const ErasedRange& erased) { return version <= erased.version && erased.range.Contains(key); });
}

void HotCache::FetchSet(uint64_t hash) const {
  const size_t at = IndexOf(hash);
  __builtin_prefetch(&summaries_[at]);
  __builtin_prefetch(&sets_[at], 1);
  __builtin_prefetch(sets_[at].blocks, 1);
}

void HotCache::FetchEntry(uint64_t hash) {
  constexpr size_t kLine = 64;
  if (!HasByte(summaries_[IndexOf(hash)].tags.load(std::memory_order_relaxed), ByteTagOf(hash))) return;
  Set& set = SetOf(hash);
  std::lock_guard lock(set.lock);
  for (size_t way = 0; way < kWays; ++way) {
    if (set.tags[way] != TagOf(hash) || set.blocks[way] == nullptr) continue;
    const auto* entry = reinterpret_cast<const char*>(set.blocks[way]);
    for (size_t line = 0; line < 3; ++line) __builtin_prefetch(entry + line * kLine);
  }
}

bool HotCache::Find(uint64_t hash, BytesView key, Version at_most, Record* record) {
  if (capacity_ == 0) return false;
  Counter& counter = counters_[hash % kCounters];
  if (HasByte(summaries_[IndexOf(hash)].tags.load(std::memory_order_acquire), ByteTagOf(hash))) {
    Set& set = SetOf(hash);
    std::lock_guard lock(set.lock);
    const size_t way = FindWay(set, hash, key);
    Block* block = way == kNoWay ? nullptr : set.blocks[way];
    if (block != nullptr && block->header.version <= at_most && !Erased(key, block->header.version)) {
      set.used_lately |= static_cast<uint8_t>(1u << way);
      record->header = block->header;
      record->value.assign(block->value());
      counter.hits.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
  }
  counter.misses.fetch_add(1, std::memory_order_relaxed);
  return false;
}

bool HotCache::TurnAway(uint64_t hash, size_t bytes) {
  Summary& summary = summaries_[IndexOf(hash)];
  const bool has_free_way = HasByte(summary.tags.load(std::memory_order_relaxed), 0);
  if (has_free_way && used_.load(std::memory_order_relaxed) + bytes <= capacity_) return false;
  // Two readers at once may lose each other's note: one of the keys has to be missed once more.
  const uint32_t lately = summary.turned_away.load(std::memory_order_relaxed);
  if (HasByte(lately, ByteTagOf(hash))) return false;
  summary.turned_away.store(lately << 8 | ByteTagOf(hash), std::memory_order_relaxed);
  return true;
}

void HotCache::Put(Set& set, size_t way, uint64_t hash, Block* block) {
  set.blocks[way] = block;
  set.tags[way] = TagOf(hash);
  std::atomic<uint64_t>& tags = SummaryOf(set).tags;
  tags.store(tags.load(std::memory_order_relaxed) | uint64_t{ByteTagOf(hash)} << (8 * way), std::memory_order_release);
}

void HotCache::Drop(Set& set, size_t way) {
  used_.fetch_sub(set.blocks[way]->bytes(), std::memory_order_relaxed);
  std::free(set.blocks[way]);
  set.blocks[way] = nullptr;
  set.tags[way] = 0;
  set.used_lately &= static_cast<uint8_t>(~(1u << way));
  std::atomic<uint64_t>& tags = SummaryOf(set).tags;
  tags.store(tags.load(std::memory_order_relaxed) & ~(uint64_t{0xff} << (8 * way)), std::memory_order_release);
}

// Gives up one entry of the set: the first from the clock hand on that was not used since the hand came by.
bool HotCache::EvictFrom(Set& set) {
  for (size_t step = 0; step < 2 * kWays; ++step) {
    const size_t way = set.hand;
    const auto bit = static_cast<uint8_t>(1u << way);
    set.hand = (set.hand + 1) % kWays;
    if (set.blocks[way] == nullptr) continue;
    if ((set.used_lately & bit) == 0) {
      Drop(set, way);
      return true;
    }
    set.used_lately &= static_cast<uint8_t>(~bit);
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
  if (value.size() > max_value_ || capacity_ == 0) return;
  const size_t bytes = Block::BytesFor(key.size(), value.size());
  if (TurnAway(hash, bytes)) return;
  Set& set = SetOf(hash);
  std::lock_guard lock(set.lock);
  if (set.changed > read_at || last_range_erase_.load(std::memory_order_acquire) > read_at) return;
  size_t way = FindWay(set, hash, key);
  if (way != kNoWay) {
    if (set.blocks[way]->header.version >= header.version) return;  // another reader was faster
    Drop(set, way);                                                 // it was erased with a range
  }
  if (!MakeRoom(set, bytes)) return;
  way = FreeWay(set);
  if (way == kNoWay) {
    EvictFrom(set);
    way = FreeWay(set);
  }
  Put(set, way, hash, Block::Make(key, header, value));
}

void HotCache::Write(uint64_t hash, BytesView key, const ValueHeader& header, BytesView value) {
  if (capacity_ == 0) return;
  Set& set = SetOf(hash);
  std::lock_guard lock(set.lock);
  set.changed = std::max(set.changed, header.version);
  const size_t way = FindWay(set, hash, key);
  if (way == kNoWay) return;
  if (value.size() <= set.blocks[way]->value_room) {
    set.blocks[way]->Set(header, value);
    return;
  }
  Drop(set, way);
  if (value.size() > max_value_ || !MakeRoom(set, Block::BytesFor(key.size(), value.size()))) return;
  Put(set, way, hash, Block::Make(key, header, value));
  set.used_lately |= static_cast<uint8_t>(1u << way);
}

void HotCache::Erase(uint64_t hash, BytesView key, Version version) {
  if (capacity_ == 0) return;
  Set& set = SetOf(hash);
  std::lock_guard lock(set.lock);
  set.changed = std::max(set.changed, version);
  const size_t way = FindWay(set, hash, key);
  if (way != kNoWay) Drop(set, way);
}

void HotCache::EraseRange(const KeyRange& range, Version version) {
  if (ranges_.size() >= kMaxErasedRanges) return Wipe(version);
  std::unique_lock lock(ranges_lock_);
  ranges_.push_back({range, version, sets_.size()});
  last_range_erase_.store(version, std::memory_order_release);
  check_up_to_.store(version, std::memory_order_release);
}

void HotCache::Wipe(Version version) {
  last_range_erase_.store(version, std::memory_order_release);
  for (Set& set : sets_) {
    std::lock_guard lock(set.lock);
    for (size_t way = 0; way < kWays; ++way) {
      if (set.blocks[way] != nullptr) Drop(set, way);
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
    for (size_t way = 0; way < kWays; ++way) {
      Block* block = set.blocks[way];
      if (block != nullptr && Erased(block->key(), block->header.version)) Drop(set, way);
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
