// Where scans of databases stand: Redis' cursors are numbers, and a place among names is not.
//
// The places of the last kSlots calls are remembered. A cursor that is not, be it too old or of another process, begins
// anew: a client may be given keys twice, which it must expect, and misses none. Safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>

#include "base/bytes.h"

namespace kvarts::structure {

class ScanCursors {
 public:
  static constexpr size_t kSlots = 1 << 14;

  ScanCursors();

  // Never zero, which is where a scan begins and ends.
  uint64_t Remember(Bytes place);
  std::optional<Bytes> Find(uint64_t cursor) const;

 private:
  struct Slot {
    uint64_t cursor = 0;
    Bytes place;
  };

  mutable std::mutex mutex_;
  uint64_t last_;  // begins anywhere, so that those of an earlier process are not taken for ours
  std::array<Slot, kSlots> slots_{};
};

}  // namespace kvarts::structure
