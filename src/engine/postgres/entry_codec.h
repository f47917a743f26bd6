// How keys and records stand in the table's columns; FORMAT.md has them.
#pragma once

#include <vector>

#include "base/bytes.h"
#include "encoding/key_range.h"
#include "engine/commit.h"
#include "engine/postgres/wire.h"
#include "engine/record.h"

namespace kvarts::postgres {

// The three columns of a key.
struct KeyColumns {
  BytesView key;   // its first kIndexedBytes
  Bytes digest;    // of the whole key, if there is more of it
  BytesView rest;  // what there is more

  explicit KeyColumns(BytesView whole);
};

// A bound of a range, as rows are compared with it. The upper bound of a range without one lies behind all keys.
struct Bound {
  BytesView key;
  BytesView rest;

  explicit Bound(BytesView whole);
  static Bound Upper(const KeyRange& range);
};
// The end of a range with this upper bound.
Bytes EndOf(BytesView key, BytesView rest);

// The number that stands for a key among the locks; even.
int64_t LockOf(BytesView key);
// The same for all keys that begin so.
int64_t LockOfArea(BytesView prefix);

int64_t StoredExpiry(Timestamp expiry);
Timestamp ExpiryOf(int64_t stored);
int16_t StoredBits(const Mutation& put);
// Counters are stored with their bytes the other way round, as the server can read them.
Bytes StoredValue(ValueKind kind, BytesView value);

// The columns version, expire_at, schema, bits and value, in this order from `first` on.
ValueHeader HeaderOf(const Rows& rows, int row, int first);
Bytes ValueOf(const ValueHeader& header, BytesView stored);

}  // namespace kvarts::postgres
