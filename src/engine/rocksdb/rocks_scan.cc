// Scans: RocksDB iterators over the segments of a range, page by page.
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <algorithm>

#include "engine/rocksdb/in_rocks.h"
#include "engine/rocksdb/rocks_store.h"
#include "engine/rocksdb/value_codec.h"

namespace kvarts {
namespace {

// Counts the tombstones that RocksDB steps over. Its counting is switched off but for scans whose cost is asked for.
class TombstoneCount {
 public:
  explicit TombstoneCount(bool wanted) {
    rocksdb::SetPerfLevel(wanted ? rocksdb::kEnableCount : rocksdb::kDisable);
    before_ = rocksdb::get_perf_context()->internal_delete_skipped_count;
  }
  ~TombstoneCount() { rocksdb::SetPerfLevel(rocksdb::kDisable); }
  uint64_t skipped() const { return rocksdb::get_perf_context()->internal_delete_skipped_count - before_; }

 private:
  uint64_t before_;
};

class PageBuilder {
 public:
  PageBuilder(const ScanRequest& request, Timestamp time) : request_(request), time_(time) {}

  // Walks one segment. True when the page is full.
  Result<bool> Walk(rocksdb::Iterator& it) {
    for (request_.reverse ? it.SeekToLast() : it.SeekToFirst(); it.Valid(); request_.reverse ? it.Prev() : it.Next()) {
      const BytesView key = it.key().ToStringView();
      ValueHeader header;
      BytesView value;
      if (!DecodeStored(it.value().ToStringView(), &header, &value)) {
        return Error(ErrorCode::kCorruption, "a stored value has a damaged header", {{"key", Escaped(key)}});
      }
      if (header.ExpiredAt(time_) && !request_.options.expired_too) {
        if (++expired_ > request_.options.max_skipped) {
          return Error(ErrorCode::kOverloaded, "the scan steps over too many expired values");
        }
        continue;
      }
      if (request_.keys_only) value = {};
      if (Full(key, value)) return true;
      page.Append(key, value, header);
      if (page.size() == kLookAhead) MakeRoom();
    }
    if (!it.status().ok()) return FromRocks(it.status());
    return false;
  }

  uint64_t expired() const { return expired_; }

  ScanPage page;

 private:
  bool Full(BytesView key, BytesView value) const {
    return page.size() >= request_.max_entries ||
           (!page.empty() && page.bytes() + key.size() + value.size() > request_.max_bytes);
  }

  // The first entries tell how large the others are: room for all of a usual page is made at once.
  void MakeRoom() {
    const size_t entries = std::min(request_.max_entries, kUsualPage);
    page.Reserve(entries, std::min(request_.max_bytes, page.bytes() * 9 / 8 * entries / kLookAhead));
  }

  static constexpr size_t kLookAhead = 32;
  static constexpr size_t kUsualPage = 1024;

  const ScanRequest& request_;
  const Timestamp time_;
  uint64_t expired_ = 0;
};

}  // namespace

Result<ScanPage> RocksStore::Scan(const ReadPlace& place, Timestamp time, const ScanRequest& request) {
  KVARTS_CHECK_OK(CheckPage(request.max_entries, request.max_bytes, options.limits));
  if (request.range.IsEmpty()) return ScanPage();
  std::vector<Routing::Segment> segments = place.routing.Segments(request.range);
  if (request.reverse) std::ranges::reverse(segments);
  const TombstoneCount tombstones(request.options.cost != nullptr);
  PageBuilder builder(request, time);
  for (const Routing::Segment& segment : segments) {
    const rocksdb::Slice lower = ToSlice(segment.range.start);
    const rocksdb::Slice upper = ToSlice(segment.range.end);
    rocksdb::ReadOptions how;
    how.snapshot = place.snapshot;
    how.iterate_lower_bound = &lower;
    if (segment.range.HasEnd()) how.iterate_upper_bound = &upper;
    if (request.options.max_skipped != UINT64_MAX) how.max_skippable_internal_keys = request.options.max_skipped + 1;
    rocksdb::ColumnFamilyHandle* family = families[static_cast<size_t>(segment.profile)];
    KVARTS_TRY(const bool full, InRocks([&] {
                 return builder.Walk(*std::unique_ptr<rocksdb::Iterator>(db->NewIterator(how, family)));
               }));
    if (full) {
      builder.page.StopAfterLast(request.range, request.reverse);
      break;
    }
  }
  if (request.options.cost != nullptr) {
    request.options.cost->keys += builder.page.size();
    request.options.cost->bytes += builder.page.bytes();
    request.options.cost->skipped += builder.expired() + tombstones.skipped();
  }
  return std::move(builder.page);
}

}  // namespace kvarts
