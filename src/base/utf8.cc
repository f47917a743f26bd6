#include "base/utf8.h"

#include <array>

#include "base/byte_search.h"

namespace kvarts {

Utf8Character FrontCharacter(BytesView bytes) {
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
  if (number < kSmallest[size] || number > 0x10ffff || (number >= 0xd800 && number < 0xe000)) return {};
  return {number, size};
}

size_t Utf8Prefix(BytesView bytes) {
  size_t at = 0;
  while (true) {
    at += FirstByte(bytes.substr(at), [](ByteLanes lanes) { return lanes > 0x7f; });
    while (at < bytes.size() && static_cast<unsigned char>(bytes[at]) >= 0x80) {
      const Utf8Character character = FrontCharacter(bytes.substr(at));
      if (character.size == 0) return at;
      at += character.size;
    }
    if (at == bytes.size()) return at;
  }
}

char* WriteCharacter(char* to, uint32_t number) {
  const auto put = [&](uint32_t byte) { *to++ = static_cast<char>(byte); };
  if (number < 0x80) {
    put(number);
  } else if (number < 0x800) {
    put(0xc0 | number >> 6);
    put(0x80 | (number & 0x3f));
  } else if (number < 0x10000) {
    put(0xe0 | number >> 12);
    put(0x80 | (number >> 6 & 0x3f));
    put(0x80 | (number & 0x3f));
  } else {
    put(0xf0 | number >> 18);
    put(0x80 | (number >> 12 & 0x3f));
    put(0x80 | (number >> 6 & 0x3f));
    put(0x80 | (number & 0x3f));
  }
  return to;
}

std::string_view CutText(std::string_view text, size_t at_most) {
  if (text.size() <= at_most) return text;
  size_t cut = at_most;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
  return text.substr(0, cut);
}

}  // namespace kvarts
