// What commands are refused with, in the words of Redis, so that its clients know them. Each is one constant: a
// protocol that has a kind of its own for one of them tells it by its text.
#pragma once

#include "base/error.h"

namespace kvarts::structure {

inline constexpr const char* kWrongType = "Operation against a key holding the wrong kind of value";
inline constexpr const char* kNotInteger = "value is not an integer or out of range";
inline constexpr const char* kNotFloat = "value is not a valid float";
inline constexpr const char* kOverflow = "increment or decrement would overflow";
inline constexpr const char* kNotFinite = "increment would produce NaN or Infinity";
inline constexpr const char* kNoSuchKey = "no such key";
inline constexpr const char* kTooLong = "string exceeds maximum allowed size (proto-max-bulk-len)";
inline constexpr const char* kBusyKey = "Target key name already exists.";
inline constexpr const char* kWrongPayload = "DUMP payload version or checksum are wrong";
inline constexpr const char* kBadFormat = "Bad data format";
inline constexpr const char* kNotSortable = "One or more scores can't be converted into double";
inline constexpr const char* kLcsTooLarge = "Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len";

inline Error Refusal(const char* text) { return Error(ErrorCode::kInvalidArgument, text); }

}  // namespace kvarts::structure
