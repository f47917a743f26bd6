// Space-Saving (Metwally, Agrawal, El Abbadi 2005): the heaviest keys of a stream, in a table of fixed size.
//
// A key that is held has its weight counted. One that is not takes the place of the lightest, and may have had as much
// as that one's weight before: its error. So with `weight` for what was counted since the key came in, its true weight
// lies between `weight` and `weight + error`, and a key that is not held weighs at most Floor(). Every key heavier than
// the total divided by the capacity is held, whatever the order of the stream.
//
// A hash table over a min-heap: what is held costs a look-up and about one swap, what is not a walk down the heap. Not
// safe from several threads. Memory: about 100 bytes an entry, and the bytes of its key; nothing beyond `capacity`.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"

namespace kvarts {

class SpaceSaving {
 public:
  // What a key is known by: a hash of all of it, its size, and as much of its start as is kept.
  struct Key {
    uint64_t hash;
    uint32_t size;
    BytesView start;
  };
  struct Entry {
    uint64_t hash = 0;
    uint32_t size = 0;
    Bytes start;
    double weight = 0;
    double error = 0;
    double bytes = 0;
  };

  explicit SpaceSaving(uint32_t capacity);

  void Add(const Key& key, double weight, double bytes);
  // Multiplies everything.
  void Scale(double factor);
  // The most that a key weighs which is not held.
  double Floor() const { return heap_.size() < capacity_ ? 0 : heap_.front().estimate; }
  size_t size() const { return entries_.size(); }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  struct HeapSlot {
    double estimate;  // weight + error of the entry
    uint32_t entry;
  };
  struct TableSlot {
    uint32_t tag = 0;
    uint32_t entry = kFree;
  };
  static constexpr uint32_t kFree = UINT32_MAX;

  uint32_t Home(uint64_t hash) const { return static_cast<uint32_t>(hash) & mask_; }
  static uint32_t TagOf(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  uint32_t Find(const Key& key) const;
  void Insert(uint64_t hash, uint32_t entry);
  void Remove(uint64_t hash, uint32_t entry);
  void Place(uint32_t at, HeapSlot slot);
  void SiftDown(uint32_t at);
  void SiftUp(uint32_t at);

  const uint32_t capacity_;
  const uint32_t mask_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> place_;  // of an entry in the heap
  std::vector<HeapSlot> heap_;   // the lightest first
  std::vector<TableSlot> table_;
};

}  // namespace kvarts
