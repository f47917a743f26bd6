// Scans: RocksDB iterators over the segments of a range, page by page.
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <algorithm>

#include "engine/rocksdb/in_rocks.h"
#include "engine/rocksdb/rocks_store.h"
#include "engine/rocksdb/value_codec.h"

namespace kvarts {
namespace {

// RocksDB counts what a thread steps over once it is told to: for scans whose cost is asked for or limited.
class ScanCounts {
 public:
  explicit ScanCounts(ReadCounts& reads) : sample_(reads) {
    if (!sample_.looking()) rocksdb::SetPerfLevel(rocksdb::kDisable);
  }
  ~ScanCounts() {
    if (started()) rocksdb::SetPerfLevel(rocksdb::kDisable);
  }
  ScanCounts(const ScanCounts&) = delete;
  ScanCounts& operator=(const ScanCounts&) = delete;

  void Start() {
    seen_ = rocksdb::get_perf_context();
    before_ = seen_->internal_delete_skipped_count;
    rocksdb::SetPerfLevel(rocksdb::kEnableCount);
  }
  bool started() const { return seen_ != nullptr; }
  uint64_t tombstones() const { return started() ? seen_->internal_delete_skipped_count - before_ : 0; }

 private:
  const ReadSample sample_;
  const rocksdb::PerfContext* seen_ = nullptr;
  uint64_t before_ = 0;
};

// RocksDB gives control back after stepping over so many entries of any kind. A tombstone usually hides one or two
// older entries: a scan within its limit is not interrupted, and counts exactly. What is added is more than may have to
// be stepped over within a single key, so that a walk that was interrupted gets on.
uint64_t Stride(uint64_t max_skipped) { return std::min(max_skipped, UINT64_MAX / 4) * 3 + 64; }

// Counting makes each step a fifth dearer, and most scans step over nothing. So a scan begins without, and has RocksDB
// stop at the second entry in a row that is stepped over: from there it is walked again and counted. A tombstone that
// stands alone is left out of the count, at most one for each key; a limit that is as tight as that is always counted
// for.
constexpr uint64_t kLoneEntry = 1;
bool MayCountLater(const ScanRequest& request) { return request.options.max_skipped >= request.max_entries; }
bool WantsCounts(const ScanRequest& request) {
  return request.options.cost != nullptr || request.options.max_skipped != UINT64_MAX;
}

class PageBuilder {
 public:
  PageBuilder(const ScanRequest& request, Timestamp time, ScanCounts& counts)
      : request_(request), time_(time), counts_(counts) {}

  // What the iterator of a walk may step over in one go.
  uint64_t AtOnce() const {
    if (!WantsCounts(request_)) return 0;
    if (!counts_.started()) return kLoneEntry;
    return request_.options.max_skipped == UINT64_MAX ? 0 : Stride(request_.options.max_skipped);
  }

  // Walks a segment, or what is left of it. kOver when the page is; kCount when it is to be walked again, from where
  // the page ends.
  enum class Walked { kAll, kOver, kCount };
  Result<Walked> Walk(rocksdb::Iterator& it, const KeyRange& segment) {
    request_.reverse ? it.SeekToLast() : it.SeekToFirst();
    while (true) {
      KVARTS_TRY(const bool over, WalkOn(it));
      if (over) return Walked::kOver;
      if (it.status().ok()) break;
      if (it.status().IsIncomplete() && !counts_.started()) {
        counts_.Start();
        expired_ = expired_before_;
        return Walked::kCount;
      }
      KVARTS_TRY(const bool given_up, TakeUpAgain(it));
      if (given_up) return Walked::kOver;
    }
    expired_before_ = expired_;  // what comes next begins behind them
    if (!TooMany()) return Walked::kAll;
    KVARTS_CHECK_OK(GiveUp(NextSegment(segment)));
    return Walked::kOver;
  }

  // What is left of a segment behind the page's last entry.
  KeyRange Behind(const KeyRange& segment) const {
    if (page.empty()) return segment;
    const BytesView last = page[page.size() - 1].key;
    if (!segment.Contains(last)) return segment;
    return request_.reverse ? KeyRange{segment.start, Bytes(last)} : KeyRange{KeyAfter(last), segment.end};
  }

  uint64_t skipped() const { return expired_ + counts_.tombstones(); }

  ScanPage page;

 private:
  // Too much was stepped over: the page ends with what it has, and fails when that is nothing. `reached` is where the
  // next one goes on; nothing when this was all.
  Result<bool> GiveUp(std::optional<BytesView> reached) {
    if (page.empty()) return TooManySkipped(request_.options, skipped(), reached);
    if (reached) page.StopAt(*reached, request_.range, request_.reverse);
    return true;
  }

  // A key from which on the segments lie that follow this one, if any do.
  std::optional<BytesView> NextSegment(const KeyRange& segment) const {
    const Bytes& border = request_.reverse ? segment.start : segment.end;
    const bool last = border == (request_.reverse ? request_.range.start : request_.range.end);
    return last ? std::nullopt : std::optional<BytesView>(border);
  }

  // Until the iterator stops, or the page is over, which is true.
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
      if (TooMany()) return GiveUp(key);
      if (expired) continue;
      if (request_.keys_only) value = {};
      if (Full(key, value)) {
        page.StopAfterLast(request_.range, request_.reverse);
        return true;
      }
      page.Append(key, value, header);
      expired_before_ = expired_;
      if (page.size() == kLookAhead) MakeRoom();
    }
    return false;
  }

  // The iterator gave control back in the middle of what it steps over, because a limit is set. True when the page is
  // over.
  Result<bool> TakeUpAgain(rocksdb::Iterator& it) {
    Bytes reached;
    if (!it.status().IsIncomplete() || !it.GetProperty("rocksdb.iterator.internal-key", &reached).ok()) {
      return FromRocks(it.status());
    }
    if (TooMany()) return GiveUp(reached);
    request_.reverse ? it.SeekForPrev(ToSlice(reached)) : it.Seek(ToSlice(reached));
    return false;
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
  ScanCounts& counts_;
  uint64_t expired_ = 0;         // stepped over so far
  uint64_t expired_before_ = 0;  // of those, before what may have to be walked again
};

// Walks one segment of the range. True when the page is over.
Result<bool> WalkSegment(RocksStore& store, const ReadPlace& place, const Routing::Segment& segment,
                         PageBuilder* builder) {
  KeyRange range = segment.range;
  while (true) {
    const rocksdb::Slice lower = ToSlice(range.start);
    const rocksdb::Slice upper = ToSlice(range.end);
    rocksdb::ReadOptions how;
    how.snapshot = place.snapshot;
    how.iterate_lower_bound = &lower;
    if (range.HasEnd()) how.iterate_upper_bound = &upper;
    how.max_skippable_internal_keys = builder->AtOnce();
    rocksdb::ColumnFamilyHandle* family = store.families[static_cast<size_t>(segment.profile)];
    KVARTS_TRY(const PageBuilder::Walked walked, InRocks([&] {
                 const std::unique_ptr<rocksdb::Iterator> it(store.db->NewIterator(how, family));
                 return builder->Walk(*it, segment.range);
               }));
    if (walked != PageBuilder::Walked::kCount) return walked == PageBuilder::Walked::kOver;
    range = builder->Behind(segment.range);
  }
}

// The whole page.
Status Build(RocksStore& store, const ReadPlace& place, const ScanRequest& request, PageBuilder* builder) {
  std::vector<Routing::Segment> segments = place.routing.Segments(request.range);
  if (request.reverse) std::ranges::reverse(segments);
  for (const Routing::Segment& segment : segments) {
    KVARTS_TRY(const bool over, WalkSegment(store, place, segment, builder));
    if (over) break;
  }
  return {};
}

}  // namespace

Result<ScanPage> RocksStore::Scan(const ReadPlace& place, Timestamp time, const ScanRequest& request) {
  KVARTS_CHECK_OK(CheckPage(request.max_entries, request.max_bytes, options.limits));
  if (request.range.IsEmpty()) return ScanPage();
  ScanCounts counts(activity.reads);
  if (WantsCounts(request) && !MayCountLater(request)) counts.Start();
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
