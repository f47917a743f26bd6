// What is stored under a key: a value and its header. The same on every engine; each engine writes the header in its
// own way (FORMAT.md).
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/version.h"

namespace kvarts {

// What the bytes of a value are. Engines look at kCounter only; the others belong to the layers above.
enum class ValueKind : uint8_t {
  kBytes = 0,      // nothing is known of them
  kCounter = 1,    // a 64-bit integer, little-endian: the only kind that `add` applies to
  kEnvelope = 2,   // core/envelope.h
  kJson = 3,       // one JSON value, as text
  kTyped = 4,      // bytes that say their media type: core/user_keys.h
  kStructure = 5,  // a collection: model/structure
};

// Marks that a counter carries from the moment they are earned until it is put anew. `add` never fails, so what went
// wrong with it is said here.
struct CounterMarks {
  bool saturated = false;   // a sum left the 64-bit range and was held at its edge
  bool misapplied = false;  // an add met a value that is no counter; the value was left as it is
  friend bool operator==(CounterMarks, CounterMarks) = default;
};

struct ValueHeader {
  Version version;            // the commit that wrote it
  Timestamp expiry = kNever;  // from this instant on the value does not exist
  ValueKind kind = ValueKind::kBytes;
  bool owned = false;   // things hang on it: the engine never drops it by itself
  uint32_t schema = 0;  // the schema version of the bytes, for the layers above
  CounterMarks marks;

  bool ExpiredAt(Timestamp time) const { return expiry <= time; }
  friend bool operator==(const ValueHeader&, const ValueHeader&) = default;
};

struct Record {
  ValueHeader header;
  Bytes value;

  friend bool operator==(const Record&, const Record&) = default;
};

// The number in a counter's value. Values of another kind or size count as zero.
int64_t CounterNumber(const ValueHeader& header, BytesView value);
Bytes CounterValue(int64_t number);

// base + delta, held at the edge of the 64-bit range; says so in `saturated`.
int64_t SaturatingAdd(int64_t base, int64_t delta, bool* saturated);

}  // namespace kvarts
