// KeyTable: which of a transaction's keys lies at a place, by the hash of the place. The keys are somebody else's, and
// stay where they are. Open addressing: one allocation for as many as are expected, which is mostly all there are.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "model/structure/secret_hash.h"

namespace kvarts::structure {

// `Key` has a place().
template <class Key>
class KeyTable {
 public:
  static uint64_t HashOf(BytesView place) { return SecretHash()(place); }

  // So many more are coming.
  void Expect(size_t keys) {
    if (2 * (size_ + keys) > slots_.size()) Grow(2 * (size_ + keys));
  }
  Key* Find(uint64_t hash, BytesView place) const {
    if (slots_.empty()) return nullptr;
    for (size_t at = First(hash); slots_[at].key != nullptr; at = Next(at)) {
      if (slots_[at].hash == hash && slots_[at].key->place() == place) return slots_[at].key;
    }
    return nullptr;
  }
  // It is not there yet.
  void Add(uint64_t hash, Key* key) {
    Expect(1);
    Put({hash, key});
    ++size_;
  }

 private:
  static constexpr size_t kLeastSlots = 8;

  struct Slot {
    uint64_t hash = 0;
    Key* key = nullptr;
  };

  size_t First(uint64_t hash) const { return hash & (slots_.size() - 1); }
  size_t Next(size_t at) const { return (at + 1) & (slots_.size() - 1); }
  void Put(const Slot& slot) {
    size_t at = First(slot.hash);
    while (slots_[at].key != nullptr) at = Next(at);
    slots_[at] = slot;
  }
  void Grow(size_t least) {
    const std::vector<Slot> before = std::move(slots_);
    slots_ = std::vector<Slot>(std::bit_ceil(std::max({least, 2 * before.size(), kLeastSlots})));
    for (const Slot& slot : before) {
      if (slot.key != nullptr) Put(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two, at least half of them free
  size_t size_ = 0;
};

}  // namespace kvarts::structure
