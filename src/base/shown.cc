#include "base/shown.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace kvarts {
namespace {

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
    const Utf8Character character = FrontCharacter(bytes);
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

}  // namespace kvarts
