#include "model/structure/random_name.h"

#include <algorithm>

namespace kvarts::structure {
namespace {

// Of so few, one is chosen.
constexpr size_t kFew = 100;
// Each about halves what is left; should that not end, what is there at last is taken.
constexpr size_t kMaxSteps = 64;

Result<ScanPage> Page(Txn& txn, const KeyRange& range, size_t most, bool reverse) {
  ScanRequest request;
  request.range = range;
  request.reverse = reverse;
  request.keys_only = true;
  request.max_entries = most;
  return txn.PeekScan(request);
}

// The next eight bytes as a number.
uint64_t NumberAt(BytesView key, size_t at) {
  uint64_t number = 0;
  for (size_t i = at; i < at + sizeof(number); ++i) {
    number = number << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  }
  return number;
}

// Some key above the first and not above the last, which is another.
Bytes PointBetween(BytesView first, BytesView last, uint64_t random) {
  const size_t shared = static_cast<size_t>(std::ranges::mismatch(first, last).in1 - first.begin());
  const uint64_t low = NumberAt(first, shared);
  const uint64_t high = NumberAt(last, shared);
  if (low == high) return KeyAfter(first);
  uint64_t between = low + 1 + random % (high - low);
  Bytes point(last.substr(0, shared));
  for (; between != 0; between <<= 8) point.push_back(static_cast<char>(between >> 56));
  return point;
}

}  // namespace

Result<std::optional<Bytes>> RandomName(Structures& keys, uint32_t database) {
  KVARTS_TRY(const DatabaseId id, keys.IdOf(database));
  keys.Flush();
  Txn& txn = keys.txn();
  KeyRange range = DatabaseRange(id);
  Bytes chosen;
  for (size_t step = 0; step < kMaxSteps; ++step) {
    KVARTS_TRY(const ScanPage page, Page(txn, range, kFew, false));
    if (page.empty()) break;
    chosen = page[txn.Random() % page.size()].key;
    if (!page.rest()) break;
    KVARTS_TRY(const ScanPage end, Page(txn, range, 1, true));
    if (end.empty() || end[0].key <= page[0].key) break;
    Bytes point = PointBetween(page[0].key, end[0].key, txn.Random());
    if (txn.Random() % 2 == 0) {
      range.end = std::move(point);
    } else {
      range.start = std::move(point);
    }
  }
  if (chosen.empty()) return std::optional<Bytes>();
  const std::optional<PlacedKey> key = KeyAt(chosen);
  return key ? std::optional<Bytes>(key->name) : std::nullopt;
}

}  // namespace kvarts::structure
