#include "base/shown.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace kvarts {
namespace {

// A character at the front of the text, if it is well-formed UTF-8: its number and its size.
struct Character {
  uint32_t number = 0;
  size_t size = 0;
};

Character TakeCharacter(BytesView bytes) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return {first, 1};
  const size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || bytes.size() < size) return {};
  uint32_t number = first & (0xff >> (size + 1));
  for (size_t i = 1; i < size; ++i) {
    if ((at(i) & 0xc0) != 0x80) return {};
    number = number << 6 | (at(i) & 0x3f);
  }
  constexpr std::array<uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (number < kSmallest.at(size) || number > 0x10ffff || (number >= 0xd800 && number < 0xe000)) return {};
  return {number, size};
}

// Whether a terminal shows the character as itself. Left out are controls, what changes the direction or the width of
// the text around it, and what is not for exchange.
bool Printable(uint32_t number) {
  if (number < 0x20 || (number >= 0x7f && number < 0xa0) || number == 0xad) return false;
  if (number >= 0x200b && number <= 0x200f) return false;
  if (number >= 0x2028 && number <= 0x202e) return false;
  if (number >= 0x2060 && number <= 0x206f) return false;
  if (number >= 0xe000 && number <= 0xf8ff) return false;
  return number != 0xfeff && (number & 0xfffe) != 0xfffe && number < 0xe0000;
}

}  // namespace

std::string Shown(BytesView bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const Character character = TakeCharacter(bytes);
    const size_t size = std::max<size_t>(character.size, 1);
    const BytesView taken = bytes.substr(0, size);
    bytes.remove_prefix(size);
    if (taken == "\\") {
      out.append("\\\\");
    } else if (character.size > 0 && Printable(character.number)) {
      out.append(taken);
    } else {
      for (const char c : taken) fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

bool IsUtf8(BytesView bytes) {
  while (!bytes.empty()) {
    const Character character = TakeCharacter(bytes);
    if (character.size == 0) return false;
    bytes.remove_prefix(character.size);
  }
  return true;
}

}  // namespace kvarts
