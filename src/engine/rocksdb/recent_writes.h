// What was written lately, so that a precondition that was true at a view can be found still true without reading.
//
// Point writes are remembered for ever, but blurred: a table of versions by key hash, each the newest of all keys that
// share the slot. "Not changed since v" is certain; "changed" is not, and is looked up. Ranges are held against the
// last thousands of writes; what is older than those counts as changed. Everything is small and packed: it is touched
// with every write, and shares the processor's caches with RocksDB's memtable. For the commit thread alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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
  static constexpr size_t kSlots = 1 << 16;

  // Writes in their order; when there are enough of them, the next generation begins and the last but one is forgotten.
  class Generation {
   public:
    Generation() { writes_.reserve(kMaxWrites); }
    bool HasRoomFor(size_t bytes) const;
    // A point has no end.
    void Add(Version version, BytesView start, std::optional<BytesView> end);
    void Clear();
    bool empty() const { return writes_.empty(); }
    Version newest() const { return writes_.back().version; }
    // Whether a write after `since` touched the range.
    bool Touches(const KeyRange& range, Version since) const;

   private:
    static constexpr size_t kMaxWrites = 1 << 13;
    static constexpr size_t kMaxKeyBytes = 1 << 19;

    struct Write {
      Version version;
      uint32_t at;  // of its keys in bytes_, one behind the other
      uint32_t start_size;
      uint32_t end_size;
      bool is_range;
    };
    std::vector<Write> writes_;
    Bytes bytes_;
  };
  void Note(Version version, BytesView start, std::optional<BytesView> end);

  std::vector<Version> slots_;
  Version last_range_;  // of the newest range write: every point may have changed then
  Generation older_;
  Generation newer_;
  Version forgotten_;  // the newest write that is in neither
};

}  // namespace kvarts
