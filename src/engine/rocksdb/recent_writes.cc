#include "engine/rocksdb/recent_writes.h"

#include <ranges>

namespace kvarts {

bool RecentWrites::Generation::HasRoomFor(size_t bytes) const {
  return writes_.size() < kMaxWrites && (bytes_.empty() || bytes_.size() + bytes <= kMaxKeyBytes);
}

void RecentWrites::Generation::Add(Version version, BytesView start, std::optional<BytesView> end) {
  writes_.push_back({version, static_cast<uint32_t>(bytes_.size()), static_cast<uint32_t>(start.size()),
                     static_cast<uint32_t>(end.value_or(BytesView()).size()), end.has_value()});
  bytes_.append(start);
  if (end) bytes_.append(*end);
}

void RecentWrites::Generation::Clear() {
  writes_.clear();
  bytes_.clear();
}

bool RecentWrites::Generation::Touches(const KeyRange& range, Version since) const {
  for (const Write& write : std::views::reverse(writes_)) {
    if (write.version <= since) return false;
    const BytesView start = BytesView(bytes_).substr(write.at, write.start_size);
    if (!write.is_range) {
      if (range.Contains(start)) return true;
    } else {
      const BytesView end = BytesView(bytes_).substr(write.at + write.start_size, write.end_size);
      if (range.Intersects({Bytes(start), Bytes(end)})) return true;
    }
  }
  return false;
}

RecentWrites::RecentWrites(Version floor) : slots_(kSlots, floor), last_range_(floor), forgotten_(floor) {}

void RecentWrites::NotePoint(uint64_t hash, BytesView key, Version version) {
  slots_[hash & (kSlots - 1)] = version;
  Note(version, key, std::nullopt);
}

void RecentWrites::NoteRange(const KeyRange& range, Version version) {
  last_range_ = version;
  Note(version, range.start, range.end);
}

void RecentWrites::Note(Version version, BytesView start, std::optional<BytesView> end) {
  if (!newer_.HasRoomFor(start.size() + end.value_or(BytesView()).size())) {
    if (!older_.empty()) forgotten_ = older_.newest();
    std::swap(older_, newer_);
    newer_.Clear();
  }
  newer_.Add(version, start, end);
}

bool RecentWrites::RangeMayHaveChanged(const KeyRange& range, Version since) const {
  return forgotten_ > since || newer_.Touches(range, since) || older_.Touches(range, since);
}

}  // namespace kvarts
