// What was written lately, so that a precondition that was true at a view can be found still true without reading.
//
// Point writes are remembered for ever, but blurred: a table of versions by key hash, each the newest of all keys that
// share the slot. "Not changed since v" is certain; "changed" is not, and is looked up. Ranges are held against a ring
// of the last writes; what is older than the ring counts as changed. For the commit thread alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/version.h"
#include "encoding/key_range.h"

namespace kvarts {

class RecentWrites {
 public:
  // Nothing is known of what happened up to `floor`.
  explicit RecentWrites(Version floor);

  void NotePoint(uint64_t hash, BytesView key, Version version);
  void NoteRange(const KeyRange& range, Version version);

  // Whether the key may have been written after `since`.
  bool PointMayHaveChanged(uint64_t hash, Version since) const {
    return slots_[hash & (kSlots - 1)] > since || last_range_ > since;
  }
  // Whether anything in the range may have been written after `since`.
  bool RangeMayHaveChanged(const KeyRange& range, Version since) const;

 private:
  static constexpr size_t kSlots = 1 << 18;
  static constexpr size_t kRing = 1 << 14;

  struct Write {
    Version version;
    Bytes start;
    Bytes end;  // of a range; a point has an empty one and is_range false
    bool is_range = false;
  };
  Write& NextInRing(Version version);

  std::vector<Version> slots_;
  Version last_range_;  // of the newest range write: every point may have changed then
  std::vector<Write> ring_;
  size_t next_ = 0;    // where the next write goes
  Version forgotten_;  // the newest write that is no longer in the ring
};

}  // namespace kvarts
