// UTF-8, strictly (RFC 3629): no surrogates, nothing longer than it needs to be, nothing above U+10FFFF.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace kvarts {

// How many bytes at the front are well-formed and whole characters: all of them, if they are UTF-8.
size_t Utf8Prefix(BytesView bytes);
inline bool IsUtf8(BytesView bytes) { return Utf8Prefix(bytes) == bytes.size(); }

// The character at the front of bytes that are not empty; its size is 0 when it is not well-formed.
struct Utf8Character {
  uint32_t number = 0;
  size_t size = 0;
};
Utf8Character FrontCharacter(BytesView bytes);

// Takes up to four bytes. The number is that of a character: no surrogate, at most 0x10ffff.
char* WriteCharacter(char* to, uint32_t number);

// At most so many bytes of a UTF-8 text, without half a character at the end.
std::string_view CutText(std::string_view text, size_t at_most);

}  // namespace kvarts
