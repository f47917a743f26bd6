#include "base/space_saving.h"

#include <bit>

namespace kvarts {

SpaceSaving::SpaceSaving(uint32_t capacity)
    : capacity_(capacity), mask_(std::bit_ceil(2 * capacity) - 1), table_(size_t{mask_} + 1) {}

void SpaceSaving::Add(const Key& key, double weight, double bytes) {
  uint32_t entry = Find(key);
  if (entry == kFree) {
    double error = 0;
    if (entries_.size() < capacity_) {
      entry = static_cast<uint32_t>(entries_.size());
      entries_.emplace_back();
      place_.push_back(entry);
      heap_.push_back({0, entry});
      SiftUp(entry);
    } else {
      entry = heap_.front().entry;
      error = heap_.front().estimate;
      Remove(entries_[entry].hash, entry);
    }
    Entry& held = entries_[entry];
    held.hash = key.hash;
    held.size = key.size;
    held.start.assign(key.start);
    held.weight = held.bytes = 0;
    held.error = error;
    Insert(key.hash, entry);
  }
  Entry& held = entries_[entry];
  held.weight += weight;
  held.bytes += bytes;
  const uint32_t at = place_[entry];
  heap_[at].estimate = held.weight + held.error;
  SiftDown(at);
}

void SpaceSaving::Scale(double factor) {
  for (Entry& entry : entries_) {
    entry.weight *= factor;
    entry.error *= factor;
    entry.bytes *= factor;
  }
  for (HeapSlot& slot : heap_) slot.estimate *= factor;
}

uint32_t SpaceSaving::Find(const Key& key) const {
  for (uint32_t at = Home(key.hash); table_[at].entry != kFree; at = (at + 1) & mask_) {
    if (table_[at].tag != TagOf(key.hash)) continue;
    const Entry& entry = entries_[table_[at].entry];
    if (entry.hash == key.hash && entry.size == key.size && entry.start == key.start) return table_[at].entry;
  }
  return kFree;
}

void SpaceSaving::Insert(uint64_t hash, uint32_t entry) {
  uint32_t at = Home(hash);
  while (table_[at].entry != kFree) at = (at + 1) & mask_;
  table_[at] = {TagOf(hash), entry};
}

void SpaceSaving::Remove(uint64_t hash, uint32_t entry) {
  uint32_t hole = Home(hash);
  while (table_[hole].entry != entry) hole = (hole + 1) & mask_;
  // What lies behind the hole moves into it, unless that would be before where its search begins.
  for (uint32_t at = (hole + 1) & mask_; table_[at].entry != kFree; at = (at + 1) & mask_) {
    const uint32_t home = Home(entries_[table_[at].entry].hash);
    if (((at - home) & mask_) < ((at - hole) & mask_)) continue;
    table_[hole] = table_[at];
    hole = at;
  }
  table_[hole] = {};
}

void SpaceSaving::Place(uint32_t at, HeapSlot slot) {
  heap_[at] = slot;
  place_[slot.entry] = at;
}

void SpaceSaving::SiftDown(uint32_t at) {
  const HeapSlot moving = heap_[at];
  const auto size = static_cast<uint32_t>(heap_.size());
  for (uint32_t child = 2 * at + 1; child < size; child = 2 * at + 1) {
    if (child + 1 < size && heap_[child + 1].estimate < heap_[child].estimate) ++child;
    if (heap_[child].estimate >= moving.estimate) break;
    Place(at, heap_[child]);
    at = child;
  }
  Place(at, moving);
}

void SpaceSaving::SiftUp(uint32_t at) {
  const HeapSlot moving = heap_[at];
  while (at > 0 && heap_[(at - 1) / 2].estimate > moving.estimate) {
    Place(at, heap_[(at - 1) / 2]);
    at = (at - 1) / 2;
  }
  Place(at, moving);
}

}  // namespace kvarts
