// Scans: RocksDB iterators over the segments of a range, page by page.
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <algorithm>

#include "engine/rocksdb/in_rocks.h"
#include "engine/rocksdb/rocks_store.h"
#include "engine/rocksdb/value_codec.h"

namespace kvarts {
namespace {

// RocksDB counts what a thread steps over if it is told to: for scans whose cost is asked for or limited. What it shows
// of blocks on the way is taken along.
class ScanCounts {
 public:
  ScanCounts(bool wanted, ReadCounts& reads) : reads_(reads), seen_(wanted ? rocksdb::get_perf_context() : nullptr) {
    rocksdb::SetPerfLevel(wanted ? rocksdb::kEnableCount : rocksdb::kDisable);
    if (wanted) seen_->Reset();
  }
  ~ScanCounts() {
    if (seen_ == nullptr) return;
    rocksdb::SetPerfLevel(rocksdb::kDisable);
    reads_.AddThread(1);
  }
  ScanCounts(const ScanCounts&) = delete;
  ScanCounts& operator=(const ScanCounts&) = delete;

  uint64_t tombstones() const { return seen_ == nullptr ? 0 : seen_->internal_delete_skipped_count; }

 private:
  ReadCounts& reads_;
  rocksdb::PerfContext* const seen_;
};

// RocksDB gives control back after stepping over so many entries of any kind. A tombstone usually hides one or two
// older entries: a scan within its limit is not interrupted, and counts exactly. What is added is more than may have to
// be stepped over within a single key, so that a walk that was interrupted gets on.
uint64_t Stride(uint64_t max_skipped) { return std::min(max_skipped, UINT64_MAX / 4) * 3 + 64; }

class PageBuilder {
 public:
  PageBuilder(const ScanRequest& request, Timestamp time, const ScanCounts& counts)
      : request_(request), time_(time), counts_(counts) {}

  // Walks one segment. True when the page is full.
  Result<bool> Walk(rocksdb::Iterator& it) {
    request_.reverse ? it.SeekToLast() : it.SeekToFirst();
    while (true) {
      KVARTS_TRY(const bool full, WalkOn(it));
      if (full) return true;
      if (it.status().ok()) break;
      KVARTS_CHECK_OK(TakeUpAgain(it));
    }
    if (TooMany()) return TooManySkipped(request_.options, skipped(), std::nullopt);
    return false;
  }

  uint64_t skipped() const { return expired_ + counts_.tombstones(); }

  ScanPage page;

 private:
  // Until the iterator stops.
  Result<bool> WalkOn(rocksdb::Iterator& it) {
    for (; it.Valid(); request_.reverse ? it.Prev() : it.Next()) {
      const BytesView key = it.key().ToStringView();
      ValueHeader header;
      BytesView value;
      if (!DecodeStored(it.value().ToStringView(), &header, &value)) {
        return Error(ErrorCode::kCorruption, "a stored value has a damaged header", {{"key", Escaped(key)}});
      }
      const bool expired = header.ExpiredAt(time_) && !request_.options.expired_too;
      if (expired) ++expired_;
      if (TooMany()) return TooManySkipped(request_.options, skipped(), key);
      if (expired) continue;
      if (request_.keys_only) value = {};
      if (Full(key, value)) return true;
      page.Append(key, value, header);
      if (page.size() == kLookAhead) MakeRoom();
    }
    return false;
  }

  // The iterator gave control back in the middle of what it steps over, because a limit is set.
  Status TakeUpAgain(rocksdb::Iterator& it) {
    Bytes reached;
    if (!it.status().IsIncomplete() || !it.GetProperty("rocksdb.iterator.internal-key", &reached).ok()) {
      return FromRocks(it.status());
    }
    if (TooMany()) return TooManySkipped(request_.options, skipped(), reached);
    request_.reverse ? it.SeekForPrev(ToSlice(reached)) : it.Seek(ToSlice(reached));
    return {};
  }

  bool TooMany() const { return skipped() > request_.options.max_skipped; }

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
  const ScanCounts& counts_;
  uint64_t expired_ = 0;
};

// The whole page.
Status Build(RocksStore& store, const ReadPlace& place, const ScanRequest& request, PageBuilder* builder) {
  std::vector<Routing::Segment> segments = place.routing.Segments(request.range);
  if (request.reverse) std::ranges::reverse(segments);
  for (const Routing::Segment& segment : segments) {
    const rocksdb::Slice lower = ToSlice(segment.range.start);
    const rocksdb::Slice upper = ToSlice(segment.range.end);
    rocksdb::ReadOptions how;
    how.snapshot = place.snapshot;
    how.iterate_lower_bound = &lower;
    if (segment.range.HasEnd()) how.iterate_upper_bound = &upper;
    const uint64_t max_skipped = request.options.max_skipped;
    if (max_skipped != UINT64_MAX) how.max_skippable_internal_keys = Stride(max_skipped);
    rocksdb::ColumnFamilyHandle* family = store.families[static_cast<size_t>(segment.profile)];
    KVARTS_TRY(const bool full, InRocks([&] {
                 return builder->Walk(*std::unique_ptr<rocksdb::Iterator>(store.db->NewIterator(how, family)));
               }));
    if (full) {
      builder->page.StopAfterLast(request.range, request.reverse);
      break;
    }
  }
  return {};
}

}  // namespace

Result<ScanPage> RocksStore::Scan(const ReadPlace& place, Timestamp time, const ScanRequest& request) {
  KVARTS_CHECK_OK(CheckPage(request.max_entries, request.max_bytes, options.limits));
  if (request.range.IsEmpty()) return ScanPage();
  const bool counted = request.options.cost != nullptr || request.options.max_skipped != UINT64_MAX;
  const ScanCounts counts(counted, activity.reads);
  PageBuilder builder(request, time, counts);
  const Status built = Build(*this, place, request, &builder);
  if (request.options.cost != nullptr) {
    request.options.cost->keys += builder.page.size();
    request.options.cost->bytes += builder.page.bytes();
    request.options.cost->skipped += builder.skipped();
  }
  if (!built.has_value()) return built.error();
  return std::move(builder.page);
}

}  // namespace kvarts
