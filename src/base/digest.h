// Digests, seals and random bytes: what secrets are made of, kept and checked with. The arithmetic is OpenSSL's.
//
// Safe from any thread. There is no error to handle: without these functions there is no going on, so a library that
// fails to provide them ends the process.
#pragma once

#include <array>
#include <initializer_list>

#include "base/bytes.h"

namespace kvarts {

// Of SHA-256 and of HMAC with it.
struct Digest {
  static constexpr size_t kSize = 32;
  std::array<char, kSize> bytes{};

  BytesView view() const { return {bytes.data(), bytes.size()}; }
  // In as much time for any two; see EqualSecret.
  friend bool operator==(const Digest& a, const Digest& b);
};

Digest Sha256(BytesView bytes);

// The seal of the parts, one behind the other: nothing tells where one ends, so what may vary in size has its size
// before it. Any key will do; one of 32 random bytes is as good as any.
Digest HmacSha256(BytesView key, std::initializer_list<BytesView> parts);
inline Digest HmacSha256(BytesView key, BytesView bytes) { return HmacSha256(key, {bytes}); }

// Whether both are the same, in a time that depends on their sizes only: who guesses learns nothing from how long it
// took.
bool EqualSecret(BytesView a, BytesView b);

// From the operating system; nobody can tell what they are going to be.
Bytes RandomBytes(size_t size);

}  // namespace kvarts
