// Bits of strings, which count from the highest of the first byte; and small numbers that lie among them. What changes
// something makes an absent key, and keeps the expiry.
#pragma once

#include <optional>
#include <vector>

#include "model/structure/structures.h"

namespace kvarts::structure {

Result<bool> BitAt(const Key& key, uint64_t bit);
// What it was. To write what is there already is no change.
Result<bool> SetBit(Structures& keys, Key& key, uint64_t bit, bool value);
// Of those from one to another, both included, which there are.
Result<uint64_t> CountBits(const Key& key, uint64_t first, uint64_t last);
// The first of this value among them.
Result<std::optional<uint64_t>> FindBit(const Key& key, bool value, uint64_t first, uint64_t last);

enum class BitOperation : uint8_t { kAnd, kOr, kXor, kNot };
// Of strings, of which the shorter ones are filled up with zeros; keys that are absent are empty. The size of what is
// then in `to`, which is gone when that is nothing.
Result<uint64_t> CombineBits(BitOperation operation, const std::vector<const Key*>& from, Key* to);

// A number of so many bits: at most 64, or 63 without a sign.
struct BitField {
  bool has_sign;
  uint64_t bits;
  uint64_t at;

  uint64_t last_byte() const { return (at + bits - 1) >> 3; }
};
enum class BitOverflow : uint8_t { kWrap, kSaturate, kFail };
// The number that is nearest to before + by, in the way of `overflow`; nothing when that fails.
std::optional<int64_t> AddToBits(const BitField& field, int64_t before, int64_t by, BitOverflow overflow);
// A number in the place of another, likewise: one without a sign is taken as 64 bits.
std::optional<int64_t> FitBits(const BitField& field, int64_t number, BitOverflow overflow);
Result<int64_t> ReadBits(const Key& key, const BitField& field);
// The string has so many bytes already.
Status WriteBits(Key& key, const BitField& field, int64_t number);

}  // namespace kvarts::structure
