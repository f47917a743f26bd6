// FirstByte: finds the first byte of a kind, sixteen at a time; AnyByte: whether there is one. What a kind is, a test
// says over sixteen lanes:
//
//   const size_t ascii = FirstByte(bytes, [](ByteLanes lanes) { return lanes > 0x7f; });
//
// The lanes are a vector type of the compiler, so comparisons are made of all lanes at once on every machine. Nothing
// is read outside the bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "base/bytes.h"

namespace kvarts {

using ByteLanes = unsigned char __attribute__((vector_size(16)));
// What a comparison of lanes gives: all ones or all zeros in each.
using LaneMask = signed char __attribute__((vector_size(16)));

namespace byte_search {

inline ByteLanes Load(const char* from) {
  ByteLanes lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

// Of fewer bytes than there are lanes, but not none; the lanes behind them are zero.
inline ByteLanes LoadFew(const char* from, size_t size) {
  uint64_t low = 0;
  uint64_t high = 0;
  if (size >= 8) {
    low = LoadLittle<uint64_t>(from);
    if (size > 8) high = LoadLittle<uint64_t>(from + size - 8) >> (8 * (16 - size));
  } else if (size >= 4) {
    low = LoadLittle<uint32_t>(from) | uint64_t{LoadLittle<uint32_t>(from + size - 4)} << (8 * (size - 4));
  } else {
    for (const size_t i : {size_t{0}, size / 2, size - 1})
      low |= uint64_t{static_cast<unsigned char>(from[i])} << (8 * i);
  }
  const uint64_t both[] = {low, high};
  return Load(reinterpret_cast<const char*>(both));
}

// A bit for each lane.
inline uint32_t Bits(LaneMask mask) {
#ifdef __SSE2__
  using Lanes = char __attribute__((vector_size(16)));
  return static_cast<uint32_t>(__builtin_ia32_pmovmskb128(reinterpret_cast<Lanes>(mask)));
#else
  uint32_t bits = 0;
  for (int i = 0; i < 16; ++i) bits |= (mask[i] & 1u) << i;
  return bits;
#endif
}

}  // namespace byte_search

// Where the first byte is that the test finds, or the size of all if there is none.
template <class Test>
size_t FirstByte(BytesView bytes, Test test) {
  using namespace byte_search;  // NOLINT: only this
  constexpr size_t kLanes = sizeof(ByteLanes);
  const char* const from = bytes.data();
  const size_t size = bytes.size();
  if (size < kLanes) {
    if (size == 0) return 0;
    const uint32_t found = Bits(test(LoadFew(from, size))) | 1u << size;
    return static_cast<size_t>(std::countr_zero(found));
  }
  size_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const uint32_t found = Bits(test(Load(from + i)));
    if (found != 0) return i + static_cast<size_t>(std::countr_zero(found));
  }
  if (i == size) return size;
  // The last lanes once more: of those seen before, none was found.
  const uint32_t found = Bits(test(Load(from + size - kLanes)));
  return found == 0 ? size : size - kLanes + static_cast<size_t>(std::countr_zero(found));
}

// Whether there is a byte that the test finds.
template <class Test>
[[gnu::always_inline]] inline bool AnyByte(BytesView bytes, Test test) {
  using namespace byte_search;  // NOLINT: only this
  constexpr size_t kLanes = sizeof(ByteLanes);
  const size_t size = bytes.size();
  if (size < kLanes) return size != 0 && (Bits(test(LoadFew(bytes.data(), size))) & ((1u << size) - 1)) != 0;
  // The last lanes first, some of which may be looked at again.
  LaneMask found = test(Load(bytes.data() + size - kLanes));
  for (size_t i = 0; i + kLanes < size; i += kLanes) found |= test(Load(bytes.data() + i));
  return Bits(found) != 0;
}

}  // namespace kvarts
