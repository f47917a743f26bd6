#include "encoding/key_range.h"

#include <algorithm>

namespace kvarts {

bool KeyRange::Contains(const KeyRange& other) const {
  if (other.IsEmpty()) return true;
  if (other.start < start) return false;
  return !HasEnd() || (other.HasEnd() && other.end <= end);
}

KeyRange KeyRange::Intersect(const KeyRange& other) const {
  KeyRange both{std::max(start, other.start), end};
  if (!HasEnd() || (other.HasEnd() && other.end < end)) both.end = other.end;
  return both;
}

std::string KeyRange::ToString() const { return "[\"" + Escaped(start) + "\", \"" + Escaped(end) + "\")"; }

std::ostream& operator<<(std::ostream& out, const KeyRange& range) { return out << range.ToString(); }

}  // namespace kvarts
