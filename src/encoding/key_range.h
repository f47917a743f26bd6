// KeyRange: the keys from `start` up to, but not including, `end`, in byte order. An empty `end`
// means that there is no upper bound, so the range of two empty keys holds everything; a range that
// holds nothing has a `start` at or after its (non-empty) `end`.
#pragma once

#include <ostream>

#include "base/bytes.h"

namespace kvarts {

struct KeyRange {
  Bytes start;
  Bytes end;  // exclusive; empty: no upper bound

  static KeyRange All() { return {}; }
  // All keys that begin with `prefix`, itself included.
  static KeyRange Prefix(BytesView prefix) { return {Bytes(prefix), PrefixEnd(prefix)}; }
  // Just this key.
  static KeyRange Single(BytesView key) { return {Bytes(key), KeyAfter(key)}; }

  bool HasEnd() const { return !end.empty(); }
  bool IsEmpty() const { return HasEnd() && start >= end; }
  bool Contains(BytesView key) const { return key >= start && (!HasEnd() || key < end); }
  // Whether every key of `other` is in this range; true for every `other` that is empty.
  bool Contains(const KeyRange& other) const;
  bool Intersects(const KeyRange& other) const { return !Intersect(other).IsEmpty(); }
  // The keys that are in both.
  KeyRange Intersect(const KeyRange& other) const;

  // ["a", "b\x00"), with "" as an upper bound that is not there: for people and logs.
  std::string ToString() const;

  friend bool operator==(const KeyRange&, const KeyRange&) = default;
};

std::ostream& operator<<(std::ostream& out, const KeyRange& range);

}  // namespace kvarts
