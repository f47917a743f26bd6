// UUIDs, and the time-ordered kind (version 7 of RFC 9562) that identifies things in Kvarts.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace kvarts {

struct Uuid {
  std::array<unsigned char, 16> bytes{};

  friend constexpr auto operator<=>(const Uuid&, const Uuid&) = default;
  // 8-4-4-4-12 lower-case hex digits.
  std::string ToString() const;
  // The inverse; upper case is accepted, anything else is not.
  static std::optional<Uuid> Parse(std::string_view text);
  // Milliseconds of `now`, 12 bits of its fraction, and 62 of the given random bits: ordered by time of making.
  static Uuid Version7(Timestamp now, uint64_t random);
  // With random bits of the operating system.
  static Uuid Version7(Timestamp now);
};

// Bits that nobody can guess, from the operating system.
uint64_t RandomBits();

}  // namespace kvarts
