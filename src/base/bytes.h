// Bytes, and the few things everybody does with them. A key or a value is any bytes, zero included, so std::string
// is the owner and std::string_view the borrower; neither says anything about text.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvarts {

using Bytes = std::string;
using BytesView = std::string_view;

// Big-endian: byte order is number order. Little-endian: what the machine has, for everything that is not compared.
template <class Unsigned>
void StoreBig(char* to, Unsigned value) {
  static_assert(std::endian::native == std::endian::little);
  value = std::byteswap(value);
  std::memcpy(to, &value, sizeof(value));
}
template <class Unsigned>
Unsigned LoadBig(const char* from) {
  static_assert(std::endian::native == std::endian::little);
  Unsigned value;
  std::memcpy(&value, from, sizeof(value));
  return std::byteswap(value);
}
template <class Unsigned>
void StoreLittle(char* to, Unsigned value) {
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(to, &value, sizeof(value));
}
template <class Unsigned>
Unsigned LoadLittle(const char* from) {
  static_assert(std::endian::native == std::endian::little);
  Unsigned value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

template <class Unsigned>
void AppendBig(Bytes* to, Unsigned value) {
  char buffer[sizeof(value)];
  StoreBig(buffer, value);
  to->append(buffer, sizeof(buffer));
}
template <class Unsigned>
void AppendLittle(Bytes* to, Unsigned value) {
  char buffer[sizeof(value)];
  StoreLittle(buffer, value);
  to->append(buffer, sizeof(buffer));
}

// Seven bits a byte, low bits first, the high bit says that more follow: at most ten bytes.
void AppendVarint(Bytes* to, uint64_t value);
// Takes a varint off the front of `from`; false when it is cut off, longer than it needs to be, or than 64 bits.
bool TakeVarint(BytesView* from, uint64_t* value);
// A varint length and the bytes themselves.
void AppendSized(Bytes* to, BytesView bytes);
bool TakeSized(BytesView* from, BytesView* bytes);

// The smallest key that is larger than every key with this prefix; empty when there is none (all 0xff).
Bytes PrefixEnd(BytesView prefix);
// The smallest key that is larger than this one.
Bytes KeyAfter(BytesView key);

// For people: printable ASCII as it is, everything else as \xNN; a backslash is doubled. ParseEscaped is its inverse.
std::string Escaped(BytesView bytes);
Result<Bytes> ParseEscaped(std::string_view text);

std::string ToHex(BytesView bytes);
Result<Bytes> FromHex(std::string_view text);

}  // namespace kvarts
