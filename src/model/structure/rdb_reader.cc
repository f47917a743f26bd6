#include "model/structure/rdb_reader.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "model/structure/strings.h"

namespace kvarts::structure {
namespace {

// What stands in the upper bits of the first byte of a length.
constexpr uint8_t kSixBits = 0;
constexpr uint8_t kFourteenBits = 1;
constexpr uint8_t kSpecial = 3;
constexpr uint8_t k32Bits = 0x80;
constexpr uint8_t k64Bits = 0x81;
// Of strings that are none as they stand.
constexpr uint64_t kInt8 = 0;
constexpr uint64_t kInt16 = 1;
constexpr uint64_t kInt32 = 2;
constexpr uint64_t kCompressed = 3;

// What a string takes besides its bytes.
constexpr uint64_t kPerString = 64;

// A compressed byte stands for no more.
constexpr uint64_t kMostPerByte = 264;

int64_t Signed(uint64_t number, size_t bytes) {
  const int shift = 64 - static_cast<int>(8 * bytes);
  return static_cast<int64_t>(number << shift) >> shift;
}

// LZF: a byte below 32 is followed by one more than so many bytes as they are; any other is a reference to what has
// been unpacked already, by its length and how far back it lies. False unless it comes to so many bytes.
bool Unpack(BytesView packed, uint64_t size, Bytes* text) {
  constexpr size_t kLongReference = 7;
  size_t at = 0;
  while (at < packed.size()) {
    const auto first = static_cast<uint8_t>(packed[at++]);
    if (first < 32) {
      const size_t count = first + size_t{1};
      if (packed.size() - at < count || size - text->size() < count) return false;
      text->append(packed, at, count);
      at += count;
      continue;
    }
    size_t count = first >> 5;
    if (count == kLongReference) {
      if (at == packed.size()) return false;
      count += static_cast<uint8_t>(packed[at++]);
    }
    count += 2;
    if (at == packed.size()) return false;
    const size_t back = ((first & 0x1f) << 8) + static_cast<uint8_t>(packed[at++]) + size_t{1};
    if (back > text->size() || size - text->size() < count) return false;
    // It may refer to what it makes.
    for (size_t i = 0; i < count; ++i) text->push_back((*text)[text->size() - back]);
  }
  return text->size() == size;
}

}  // namespace

BytesView RdbReader::Take(uint64_t size) {
  if (!ok_ || size > left_.size()) {
    ok_ = false;
    return {};
  }
  const BytesView taken = left_.substr(0, size);
  left_.remove_prefix(size);
  return taken;
}

bool RdbReader::TakeRoom(uint64_t bytes) {
  bytes += kPerString;
  if (bytes > room_) {
    ok_ = false;
    too_large_ = true;
    return false;
  }
  room_ -= bytes;
  return true;
}

uint8_t RdbReader::Byte() {
  const BytesView byte = Take(1);
  return byte.empty() ? 0 : static_cast<uint8_t>(byte[0]);
}

uint64_t RdbReader::Fixed(size_t bytes) {
  const BytesView taken = Take(bytes);
  uint64_t number = 0;
  for (size_t i = taken.size(); i > 0; --i) number = number << 8 | static_cast<uint8_t>(taken[i - 1]);
  return number;
}

uint64_t RdbReader::LengthOr(bool* special) {
  const uint8_t first = Byte();
  const uint8_t kind = first >> 6;
  if (kind == kSixBits) return first & 0x3f;
  if (kind == kFourteenBits) return (static_cast<uint64_t>(first & 0x3f) << 8) | Byte();
  if (kind == kSpecial && special != nullptr) {
    *special = true;
    return first & 0x3f;
  }
  if (first != k32Bits && first != k64Bits) {
    ok_ = false;
    return 0;
  }
  uint64_t length = 0;
  for (const char c : Take(first == k32Bits ? 4 : 8)) length = length << 8 | static_cast<uint8_t>(c);
  return length;
}

uint64_t RdbReader::Length() { return LengthOr(nullptr); }

uint64_t RdbReader::Count() {
  const uint64_t count = Length();
  if (count > left_.size()) ok_ = false;
  return ok_ ? count : 0;
}

Bytes RdbReader::String() {
  bool special = false;
  const uint64_t length = LengthOr(&special);
  if (!special) {
    const BytesView text = Take(length);
    return TakeRoom(text.size()) ? Bytes(text) : Bytes();
  }
  if (length == kInt8) return std::to_string(Signed(Fixed(1), 1));
  if (length == kInt16) return std::to_string(Signed(Fixed(2), 2));
  if (length == kInt32) return std::to_string(Signed(Fixed(4), 4));
  if (length == kCompressed) return Compressed();
  ok_ = false;
  return {};
}

Bytes RdbReader::Compressed() {
  const uint64_t packed_size = Length();
  const uint64_t size = Length();
  const BytesView packed = Take(packed_size);
  if (!ok_ || size > packed.size() * kMostPerByte) {
    ok_ = false;
    return {};
  }
  if (!TakeRoom(size)) return {};
  Bytes text;
  text.reserve(size);
  if (!Unpack(packed, size, &text)) ok_ = false;
  return text;
}

double RdbReader::Double() { return std::bit_cast<double>(Fixed(sizeof(double))); }

double RdbReader::TextDouble() {
  constexpr uint8_t kNan = 253;
  constexpr uint8_t kInfinite = 254;
  constexpr uint8_t kMinusInfinite = 255;
  const uint8_t size = Byte();
  if (size == kNan) return std::numeric_limits<double>::quiet_NaN();
  if (size == kInfinite) return std::numeric_limits<double>::infinity();
  if (size == kMinusInfinite) return -std::numeric_limits<double>::infinity();
  const std::optional<long double> number = ParseFloat(Take(size));
  if (!number) ok_ = false;
  return static_cast<double>(number.value_or(0));
}

void AppendRdbLength(Bytes* to, uint64_t length) {
  if (length < 1 << 6) {
    to->push_back(static_cast<char>(length));
  } else if (length < 1 << 14) {
    to->push_back(static_cast<char>(kFourteenBits << 6 | length >> 8));
    to->push_back(static_cast<char>(length & 0xff));
  } else if (length <= std::numeric_limits<uint32_t>::max()) {
    to->push_back(static_cast<char>(k32Bits));
    AppendBig(to, static_cast<uint32_t>(length));
  } else {
    to->push_back(static_cast<char>(k64Bits));
    AppendBig(to, length);
  }
}

void AppendRdbString(Bytes* to, BytesView text) {
  constexpr size_t kLongestInt32 = 11;
  const std::optional<int64_t> number = text.size() <= kLongestInt32 ? ParseInteger(text) : std::nullopt;
  const auto append = [&](uint64_t kind, auto value) {
    to->push_back(static_cast<char>(kSpecial << 6 | kind));
    AppendLittle(to, static_cast<std::make_unsigned_t<decltype(value)>>(value));
  };
  if (number && *number == static_cast<int8_t>(*number)) {
    append(kInt8, static_cast<int8_t>(*number));
  } else if (number && *number == static_cast<int16_t>(*number)) {
    append(kInt16, static_cast<int16_t>(*number));
  } else if (number && *number == static_cast<int32_t>(*number)) {
    append(kInt32, static_cast<int32_t>(*number));
  } else {
    AppendRdbLength(to, text.size());
    to->append(text);
  }
}

void AppendRdbDouble(Bytes* to, double number) { AppendLittle(to, std::bit_cast<uint64_t>(number)); }

}  // namespace kvarts::structure
