// The packed forms in which Redis keeps small collections, and dumps them: listpacks, ziplists and sets of integers.
#include <algorithm>

#include "model/structure/rdb_reader.h"

namespace kvarts::structure {
namespace {

constexpr uint8_t kEnd = 0xff;

// Reads a packed form from its front.
class Packed {
 public:
  explicit Packed(BytesView bytes) : left_(bytes) {}

  bool ok() const { return ok_; }
  size_t left() const { return left_.size(); }
  uint8_t Byte() {
    const BytesView byte = Take(1);
    return byte.empty() ? 0 : static_cast<uint8_t>(byte[0]);
  }
  BytesView Take(uint64_t size) {
    if (!ok_ || size > left_.size()) {
      ok_ = false;
      return {};
    }
    const BytesView taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }
  uint64_t Little(size_t bytes) {
    const BytesView taken = Take(bytes);
    uint64_t number = 0;
    for (size_t i = taken.size(); i > 0; --i) number = number << 8 | static_cast<uint8_t>(taken[i - 1]);
    return number;
  }
  uint64_t Big(size_t bytes) {
    uint64_t number = 0;
    for (const char c : Take(bytes)) number = number << 8 | static_cast<uint8_t>(c);
    return number;
  }
  Bytes Number(size_t bytes) {
    const int shift = 64 - static_cast<int>(8 * bytes);
    return std::to_string(static_cast<int64_t>(Little(bytes) << shift) >> shift);
  }
  void Fail() { ok_ = false; }

 private:
  BytesView left_;
  bool ok_ = true;
};

// How long the bytes are behind an entry of a listpack that say how long it is.
size_t BackBytes(size_t entry) {
  size_t bytes = 1;
  for (size_t most = 127; entry > most && bytes < 5; most = most * 128 + 127) ++bytes;
  return bytes;
}

Bytes ListpackEntry(Packed& packed, uint8_t first) {
  if (first < 0x80) return std::to_string(first);
  if (first < 0xc0) return Bytes(packed.Take(first & 0x3f));
  if (first < 0xe0) {
    const int32_t number = (first & 0x1f) << 8 | packed.Byte();
    return std::to_string(number < 1 << 12 ? number : number - (1 << 13));
  }
  if (first < 0xf0) {
    const uint64_t size = static_cast<uint64_t>(first & 0x0f) << 8 | packed.Byte();
    return Bytes(packed.Take(size));
  }
  if (first == 0xf0) return Bytes(packed.Take(packed.Little(4)));
  constexpr size_t kBytes[] = {2, 3, 4, 8};
  if (first <= 0xf4) return packed.Number(kBytes[first - 0xf1]);
  packed.Fail();
  return {};
}

Bytes ZiplistEntry(Packed& packed) {
  const uint8_t first = packed.Byte();
  switch (first >> 6) {
    case 0:
      return Bytes(packed.Take(first & 0x3f));
    case 1: {
      const uint64_t size = static_cast<uint64_t>(first & 0x3f) << 8 | packed.Byte();
      return Bytes(packed.Take(size));
    }
    case 2:
      return Bytes(packed.Take(packed.Big(4)));
    default:
      break;
  }
  constexpr uint8_t kSmallest = 0xf1;
  constexpr uint8_t kLargest = 0xfd;
  if (first == 0xc0) return packed.Number(2);
  if (first == 0xd0) return packed.Number(4);
  if (first == 0xe0) return packed.Number(8);
  if (first == 0xf0) return packed.Number(3);
  if (first == 0xfe) return packed.Number(1);
  if (first >= kSmallest && first <= kLargest) return std::to_string(first - kSmallest);
  packed.Fail();
  return {};
}

}  // namespace

bool RdbReader::ForEachInListpack(BytesView bytes, const Visit& visit) {
  Packed packed(bytes);
  if (packed.Little(4) != bytes.size()) return false;
  constexpr uint64_t kUnknown = 0xffff;
  const uint64_t count = packed.Little(2);
  uint64_t visited = 0;
  while (packed.ok()) {
    const uint8_t first = packed.Byte();
    if (first == kEnd || !packed.ok()) break;
    const size_t before = packed.left() + 1;
    const Bytes element = ListpackEntry(packed, first);
    packed.Take(BackBytes(before - packed.left()));
    if (!packed.ok() || !TakeRoom(element.size())) return false;
    visit(element);
    ++visited;
  }
  return packed.ok() && packed.left() == 0 && (count == kUnknown || count == visited);
}

bool RdbReader::ForEachInZiplist(BytesView bytes, const Visit& visit) {
  Packed packed(bytes);
  if (packed.Little(4) != bytes.size()) return false;
  packed.Take(4);  // where the last one begins
  constexpr uint64_t kUnknown = 0xffff;
  constexpr uint8_t kLong = 0xfe;
  const uint64_t count = packed.Little(2);
  uint64_t visited = 0;
  while (packed.ok()) {
    // How long the entry before it is.
    const uint8_t first = packed.Byte();
    if (first == kEnd || !packed.ok()) break;
    if (first == kLong) packed.Take(4);
    const Bytes element = ZiplistEntry(packed);
    if (!packed.ok() || !TakeRoom(element.size())) return false;
    visit(element);
    ++visited;
  }
  return packed.ok() && packed.left() == 0 && (count == kUnknown || count == visited);
}

bool RdbReader::ForEachInIntset(BytesView bytes, const Visit& visit) {
  Packed packed(bytes);
  const uint64_t size = packed.Little(4);
  const uint64_t count = packed.Little(4);
  if ((size != 2 && size != 4 && size != 8) || packed.left() != count * size) return false;
  for (uint64_t i = 0; i < count; ++i) {
    const Bytes element = packed.Number(size);
    if (!TakeRoom(element.size())) return false;
    visit(element);
  }
  return packed.ok();
}

}  // namespace kvarts::structure
