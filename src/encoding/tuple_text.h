// Tuples for people: what tools print, and what a person can type.
//
//   (3, "a", x'00ff', desc 5, decimal 1.5, double 0.1, (1, null), tail "user:\x00")
//   (uuid 0190b7e2-7cb0-7123-8456-0123456789ab, time 2026-07-05T10:15:30.000000Z)
//
// In quotes, bytes that are not printable ASCII and the quote itself are \xNN, and a backslash is
// doubled. `desc` before an element makes it descending.
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace kvarts {

// Prints any bytes: what does not decode stands as !x'…' at the place where decoding ended.
std::string TupleToString(BytesView key);

// The encoded tuple of such a text; ParseTuple(TupleToString(key)) is the key again.
Result<Bytes> ParseTuple(std::string_view text);

}  // namespace kvarts
