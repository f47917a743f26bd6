// WriteDigits: a number in decimal, eight digits at a time without a branch for each. For what is written once for
// every key of an answer; elsewhere std::to_chars does.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kvarts {

// What WriteDigits may write to, whatever the number: as much as the largest has digits.
constexpr size_t kDigitsRoom = 20;

namespace digits {

static_assert(std::endian::native == std::endian::little, "the first digit is the lowest byte");

// The eight digits of a number below 10^8, one in each byte, the first lowest. Two lanes of four digits become four of
// two, and then eight of one: each step divides all lanes at once, by multiplying with a rounded-up inverse that is
// exact for numbers of that size.
inline uint64_t Lanes(uint32_t number) {
  uint64_t lanes = (number / 10000) | static_cast<uint64_t>(number % 10000) << 32;
  const uint64_t hundreds = ((lanes * 10486) >> 20) & 0x0000007f0000007f;
  lanes = hundreds | (lanes - hundreds * 100) << 16;
  const uint64_t tens = ((lanes * 103) >> 10) & 0x000f000f000f000f;
  return tens | (lanes - tens * 10) << 8;
}

inline char* Write(char* to, uint64_t lanes) {
  lanes |= 0x3030303030303030;
  std::memcpy(to, &lanes, sizeof(lanes));
  return to + sizeof(lanes);
}

// Without the zeros in front, except for the last digit.
inline char* WriteFirst(char* to, uint32_t number) {
  const uint64_t lanes = Lanes(number);
  const int zeros = std::countr_zero(lanes | uint64_t{1} << 56) / 8;
  return Write(to, lanes >> (8 * zeros)) - zeros;
}

}  // namespace digits

// Returns where the digits end. Up to kDigitsRoom bytes are written to, also behind that: a short number is written as
// eight bytes, and of a long one its first part, which has four digits at most when there are three parts.
inline char* WriteDigits(char* to, uint64_t number) {
  constexpr uint64_t kPart = 100'000'000;
  if (number < kPart) return digits::WriteFirst(to, static_cast<uint32_t>(number));
  const uint64_t above = number / kPart;
  if (above < kPart) {
    to = digits::WriteFirst(to, static_cast<uint32_t>(above));
  } else {
    to = digits::WriteFirst(to, static_cast<uint32_t>(above / kPart));
    to = digits::Write(to, digits::Lanes(static_cast<uint32_t>(above % kPart)));
  }
  return digits::Write(to, digits::Lanes(static_cast<uint32_t>(number % kPart)));
}

}  // namespace kvarts
