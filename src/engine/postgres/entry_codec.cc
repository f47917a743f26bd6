#include "engine/postgres/entry_codec.h"

#include <xxhash.h>

#include <algorithm>
#include <limits>

#include "base/digest.h"
#include "engine/postgres/dialect.h"

namespace kvarts::postgres {
namespace {

constexpr int64_t kStoredNever = std::numeric_limits<int64_t>::max();
constexpr int kKindMask = 15;
constexpr int kOwned = 16;
constexpr int kSaturated = 32;
constexpr int kMisapplied = 64;

// Longer than any key's first column, and larger than all of them.
const Bytes& BehindAll() {
  static const Bytes behind(kIndexedBytes + 1, '\xff');
  return behind;
}

}  // namespace

KeyColumns::KeyColumns(BytesView whole) : key(whole.substr(0, kIndexedBytes)) {
  if (whole.size() <= kIndexedBytes) return;
  rest = whole.substr(kIndexedBytes);
  digest = Sha256(whole).view();
}

Bound::Bound(BytesView whole) : key(whole.substr(0, kIndexedBytes)), rest(whole.substr(key.size())) {}

Bound Bound::Upper(const KeyRange& range) {
  Bound bound(range.end);
  if (!range.HasEnd()) bound.key = BehindAll();
  return bound;
}

Bytes EndOf(BytesView key, BytesView rest) { return key == BehindAll() ? Bytes() : Bytes(key).append(rest); }

int64_t LockOf(BytesView key) { return static_cast<int64_t>(XXH3_64bits(key.data(), key.size()) & ~uint64_t{1}); }

int64_t LockOfArea(BytesView prefix) {
  constexpr uint64_t kSeed = 1;
  return static_cast<int64_t>(XXH3_64bits_withSeed(prefix.data(), prefix.size(), kSeed) & ~uint64_t{1});
}

int64_t StoredExpiry(Timestamp expiry) { return expiry == kNever ? kStoredNever : static_cast<int64_t>(expiry.micros); }

Timestamp ExpiryOf(int64_t stored) {
  return stored == kStoredNever ? kNever : Timestamp{static_cast<uint64_t>(stored)};
}

int16_t StoredBits(const Mutation& put) {
  return static_cast<int16_t>(static_cast<int>(put.kind) | (put.owned ? kOwned : 0));
}

Bytes StoredValue(ValueKind kind, BytesView value) {
  Bytes stored(value);
  if (kind == ValueKind::kCounter) std::ranges::reverse(stored);
  return stored;
}

ValueHeader HeaderOf(const Rows& rows, int row, int first) {
  ValueHeader header;
  header.version = {static_cast<uint64_t>(rows.Int8(row, first))};
  header.expiry = ExpiryOf(rows.Int8(row, first + 1));
  header.schema = static_cast<uint32_t>(rows.Int4(row, first + 2));
  const int bits = rows.Int2(row, first + 3);
  header.kind = static_cast<ValueKind>(bits & kKindMask);
  header.owned = (bits & kOwned) != 0;
  header.marks = {.saturated = (bits & kSaturated) != 0, .misapplied = (bits & kMisapplied) != 0};
  return header;
}

Bytes ValueOf(const ValueHeader& header, BytesView stored) { return StoredValue(header.kind, stored); }

}  // namespace kvarts::postgres
