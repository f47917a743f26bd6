#include "model/structure/scan_cursors.h"

#include "base/uuid.h"

namespace kvarts::structure {

ScanCursors::ScanCursors() : last_(RandomBits() >> 16) {}

uint64_t ScanCursors::Remember(Bytes place) {
  const std::lock_guard lock(mutex_);
  ++last_;
  Slot& slot = slots_[last_ % kSlots];
  slot.cursor = last_;
  slot.place = std::move(place);
  return last_;
}

std::optional<Bytes> ScanCursors::Find(uint64_t cursor) const {
  const std::lock_guard lock(mutex_);
  const Slot& slot = slots_[cursor % kSlots];
  return cursor != 0 && slot.cursor == cursor ? std::optional(slot.place) : std::nullopt;
}

}  // namespace kvarts::structure
