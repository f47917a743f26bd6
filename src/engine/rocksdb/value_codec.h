// How a record is written as a RocksDB value, and an add as a merge operand. FORMAT.md has the bytes.
#pragma once

#include "base/bytes.h"
#include "engine/record.h"

namespace kvarts {

// The header's bytes in a buffer of its own: the value that follows is appended by RocksDB without another copy.
class EncodedHeader {
 public:
  explicit EncodedHeader(const ValueHeader& header);
  BytesView bytes() const { return {buffer_, size_}; }

 private:
  // Two bytes of flags and kind, version, expiry, and a varint of five.
  char buffer_[2 + 8 + 8 + 5];
  size_t size_;
};

// Splits a stored value; false when it is damaged. `value` is a part of `stored`.
bool DecodeStored(BytesView stored, ValueHeader* header, BytesView* value);

struct AddOperand {
  static constexpr size_t kSize = 16;

  Version version;
  int64_t delta = 0;

  Bytes Encode() const;
  static bool Decode(BytesView stored, AddOperand* operand);
};

}  // namespace kvarts
