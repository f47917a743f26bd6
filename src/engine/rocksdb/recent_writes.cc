#include "engine/rocksdb/recent_writes.h"

namespace kvarts {

RecentWrites::RecentWrites(Version floor)
    : slots_(kSlots, floor), last_range_(floor), ring_(kRing), forgotten_(floor) {}

RecentWrites::Write& RecentWrites::NextInRing(Version version) {
  Write& write = ring_[next_];
  next_ = (next_ + 1) % kRing;
  forgotten_ = std::max(forgotten_, write.version);
  write.version = version;
  return write;
}

void RecentWrites::NotePoint(uint64_t hash, BytesView key, Version version) {
  slots_[hash & (kSlots - 1)] = version;
  Write& write = NextInRing(version);
  write.start.assign(key);
  write.is_range = false;
}

void RecentWrites::NoteRange(const KeyRange& range, Version version) {
  last_range_ = version;
  Write& write = NextInRing(version);
  write.start = range.start;
  write.end = range.end;
  write.is_range = true;
}

bool RecentWrites::RangeMayHaveChanged(const KeyRange& range, Version since) const {
  if (forgotten_ > since) return true;
  for (size_t i = 1; i <= kRing; ++i) {
    const Write& write = ring_[(next_ + kRing - i) % kRing];
    if (write.version <= since) return false;
    const bool hit = write.is_range ? range.Intersects({write.start, write.end}) : range.Contains(write.start);
    if (hit) return true;
  }
  return false;
}

}  // namespace kvarts
