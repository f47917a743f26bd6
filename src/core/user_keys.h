// The keys and values of the keys space, as all who serve it to users see them: the embedded interface and the
// protocols.
#pragma once

#include <string_view>

#include "core/keyspace.h"
#include "engine/limits.h"
#include "engine/record.h"

namespace kvarts {

// A user's key as a physical key; `too_large` beyond Limits::max_key_bytes.
Result<KeyBuffer> CheckedUserKey(BytesView key, const Limits& limits);
// A range of them. An empty end is no bound; a start that is not before the end is refused.
Result<KeyRange> CheckedUserRange(const KeyRange& range, const Limits& limits);

// A value that says of which media type it is (ValueKind::kTyped). The bytes are in FORMAT.md.
struct TypedValue {
  static constexpr size_t kMaxTypeBytes = 127;

  std::string_view type;  // "image/png"
  BytesView bytes;

  // `too_large` when the type is too long.
  Result<Bytes> Encode() const;
  // Borrowed from the value; `corruption` when it is none.
  static Result<TypedValue> Decode(BytesView value);
};

// A value as its reader sees it: a counter is its number, and what says its type is its bytes.
Bytes ValueText(const ValueHeader& header, BytesView value);

}  // namespace kvarts
