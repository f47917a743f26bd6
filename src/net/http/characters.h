// The character classes of RFC 9110 and 3986, as tables, and the few searches that HTTP's syntax needs.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace kvarts::http {

enum CharacterClass : uint8_t {
  kTokenClass = 1,       // names of headers, methods
  kTargetClass = 2,      // what a request's target may hold as it is: everything visible but the fragment's #
  kHostClass = 4,        // a host and its port; no @, so no user's name before it
  kUnreservedClass = 8,  // what never needs percent-encoding
  kTagClass = 16,        // between the quotes of an entity tag
};

inline constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> classes{};
  const auto add = [&classes](std::string_view characters, uint8_t which) {
    for (const char c : characters) classes[static_cast<unsigned char>(c)] |= which;
  };
  constexpr std::string_view kAlphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  add(kAlphanumeric, kTokenClass | kHostClass | kUnreservedClass);
  add("!#$%&'*+-.^_`|~", kTokenClass);
  add("-._~!$&'()*+,;=%:[]", kHostClass);
  add("-._~", kUnreservedClass);
  for (int c = 0x21; c < 0x100; ++c) {
    if (c == 0x7f) continue;
    if (c != '#') classes[c] |= kTargetClass;
    if (c != '"') classes[c] |= kTagClass;
  }
  return classes;
}();

inline bool Is(char c, CharacterClass which) { return (kClasses[static_cast<unsigned char>(c)] & which) != 0; }

inline bool AllAre(std::string_view text, CharacterClass which) {
  for (const char c : text) {
    if (!Is(c, which)) return false;
  }
  return true;
}

inline bool IsBlank(char c) { return c == ' ' || c == '\t'; }

inline std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  return text;
}

// The first byte below 0x20, or 0x7f; `end` when there is none. Eight bytes at a time: the lowest bit that either test
// sets is exact, those above it may be the borrow of a subtraction.
inline const char* FindControl(const char* from, const char* end) {
  constexpr uint64_t kEach = 0x0101010101010101;
  for (; end - from >= 8; from += 8) {
    uint64_t word;
    std::memcpy(&word, from, sizeof(word));
    const uint64_t below_space = (word - kEach * 0x20) & ~word;
    const uint64_t other = word ^ (kEach * 0x7f);
    const uint64_t found = (below_space | ((other - kEach) & ~other)) & (kEach * 0x80);
    if (found != 0) return from + (std::countr_zero(found) >> 3);
  }
  for (; from != end; ++from) {
    const auto byte = static_cast<unsigned char>(*from);
    if (byte < 0x20 || byte == 0x7f) break;
  }
  return from;
}

inline char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// Whether `text` is `lower`, a text in lower case, but for the case of ASCII letters.
inline bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (Lower(text[i]) != lower[i]) return false;
  }
  return true;
}

}  // namespace kvarts::http
