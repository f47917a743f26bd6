// The pieces of CBOR (RFC 8949) that documents are made of. A data item begins with a head: a major type and a number,
// in as few bytes as it takes; there are no floats and nothing of indefinite length.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace kvarts::cbor {

enum class Major : uint8_t { kUnsigned, kNegative, kBytes, kText, kArray, kMap, kTag, kSimple };

inline constexpr uint64_t kFalse = 20;
inline constexpr uint64_t kTrue = 21;
inline constexpr uint64_t kNull = 22;
// Tags: integers that are larger than a head holds, decimal fractions, and sets.
inline constexpr uint64_t kBignum = 2;
inline constexpr uint64_t kNegativeBignum = 3;
inline constexpr uint64_t kDecimalFraction = 4;
inline constexpr uint64_t kSet = 258;

struct Head {
  Major major = Major::kSimple;
  uint64_t argument = 0;
  uint8_t size = 0;  // in bytes; 0: there is none
};

// The head at the front. Its size is 0 when it is cut off, or none that is used here, or longer than it need be.
Head ReadHead(BytesView from);

// At most nine bytes, behind what is there, or at a place.
void AppendHead(Bytes* to, Major major, uint64_t argument);
size_t HeadSize(uint64_t argument);
char* WriteHead(char* to, Major major, uint64_t argument);

// For bytes that were checked: these take an item off the front, however deep it is; and one that is a text or bytes.
// Of others they take what there is.
void Skip(BytesView* from);
std::string_view TakeString(BytesView* from);

}  // namespace kvarts::cbor
