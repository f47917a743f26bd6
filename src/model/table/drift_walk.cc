#include "model/table/drift_walk.h"

#include <algorithm>
#include <map>

namespace kvarts {
namespace {

// Bounds of a chunk: it can be run again where nothing changes under it (Limits::max_second_run_keys), and what it
// leaves fits into a commit.
constexpr size_t kChunkRows = 500;
constexpr size_t kChunkEntries = 1000;
constexpr size_t kChunkLookedFor = 2000;
constexpr size_t kChunkTold = 200;
constexpr size_t kChunkReadBytes = 8 << 20;
constexpr size_t kChunkWrittenBytes = 8 << 20;
// Read at once.
constexpr size_t kBatchClaimed = 500;
constexpr size_t kBatchBytes = 1 << 20;
constexpr size_t kMinBatchRows = 16;
constexpr size_t kMaxBatchRows = 256;

// The rows that some entries name, each read once.
class NamedRows {
 public:
  NamedRows(Txn& txn, const TableInfo& table, const TableIndex& index) : txn_(txn), table_(table), index_(index) {}

  void Add(const Bytes& row_part) { rows_.try_emplace(row_part); }

  Status Read() {
    std::vector<Bytes> keys;
    for (const auto& [row_part, row] : rows_) keys.push_back(Bytes(table_.rows()) + row_part);
    const std::vector<BytesView> views(keys.begin(), keys.end());
    std::vector<std::optional<Record>> records(keys.size());
    if (keys.empty()) return {};
    KVARTS_CHECK_OK(txn_.PeekMany(views, records));
    auto record = records.begin();
    for (auto& [row_part, row] : rows_) {
      if (*record) Take(row_part, (*record)->value, &row);
      ++record;
    }
    return {};
  }

  // Whether the row has the entry. Of one that cannot be read nothing is said.
  bool MayHave(const Bytes& row_part, BytesView entry) const {
    const Row& row = rows_.at(row_part);
    return !row.readable || std::ranges::binary_search(row.entries, entry, std::less<>());
  }

 private:
  struct Row {
    bool readable = true;
    std::vector<Bytes> entries = {};  // their keys, in order
  };

  void Take(const Bytes& row_part, BytesView stored, Row* row) const {
    const std::optional<DocumentView> document = ReadableRow(table_, row_part, stored);
    row->readable = document.has_value();
    if (!document) return;
    for (IndexEntry& entry : EntriesOrNone(table_, index_, row_part, *document)) {
      row->entries.push_back(std::move(entry.key));
    }
  }

  Txn& txn_;
  const TableInfo& table_;
  const TableIndex& index_;
  std::map<Bytes, Row> rows_;
};

}  // namespace

void WalkPlace::AppendTo(Bytes* to) const {
  AppendVarint(to, rows_done ? 1 : 0);
  AppendVarint(to, index.value);
  AppendSized(to, next);
}

WalkPlace WalkPlace::Take(FieldReader* from) {
  WalkPlace place;
  place.rows_done = from->Varint(1) == 1;
  place.index = {from->Varint()};
  place.next = from->Sized();
  return place;
}

DriftWalk::DriftWalk(Txn& txn, const TableInfo& table, std::span<const IndexNumber> indexes, OnDrift on_drift)
    : txn_(txn), table_(table), on_drift_(std::move(on_drift)) {
  for (const TableIndex& index : table.indexes()) {
    if (index.state != IndexState::kReady || std::ranges::find(indexes, index.number) == indexes.end()) continue;
    indexes_.push_back(&index);
  }
  std::ranges::sort(indexes_, {}, [](const TableIndex* index) { return index->number; });
}

bool DriftWalk::IsFull() {
  return looked_for_ >= kChunkLookedFor || told_ >= kChunkTold || txn_.cost().read.bytes >= kChunkReadBytes ||
         txn_.cost().bytes_written >= kChunkWrittenBytes;
}

Result<WalkStep> DriftWalk::Walk(WalkPlace* place) {
  if (!place->rows_done) {
    KVARTS_CHECK_OK(WalkRows(place));
    return step_;
  }
  const auto index = std::ranges::find_if(indexes_, [&](const TableIndex* it) { return it->number >= place->index; });
  step_.finished = index == indexes_.end();
  if (step_.finished) return step_;
  if ((*index)->number != place->index) *place = {.rows_done = true, .index = (*index)->number};
  KVARTS_CHECK_OK(WalkEntries(**index, place));
  return step_;
}

Status DriftWalk::WalkRows(WalkPlace* place) {
  ScanRequest request;
  request.range = KeyRange::Prefix(table_.rows());
  if (!place->next.empty()) request.range.start = place->next;
  request.max_entries = kChunkRows;
  request.max_bytes = kBatchBytes;
  KVARTS_TRY(const ScanPage page, txn_.PeekScan(request));
  size_t at = 0;
  for (; at < page.size() && (at == 0 || !IsFull()); ++at) KVARTS_CHECK_OK(CheckRow(page[at]));
  KVARTS_CHECK_OK(CheckClaimed());
  step_.rows = at;
  if (at < page.size()) {
    place->next = page[at].key;
  } else if (page.rest()) {
    place->next = page.rest()->start;
  } else {
    *place = {.rows_done = true};
  }
  return {};
}

Status DriftWalk::CheckRow(const ScanPage::Entry& row) {
  const BytesView row_part = row.key.substr(table_.rows().size());
  const std::optional<DocumentView> document = ReadableRow(table_, row_part, row.value);
  if (!document) return LookAgainAtRow(nullptr, row.key);
  for (const TableIndex* index : indexes_) {
    Result<std::vector<IndexEntry>> entries = EntriesOf(table_, *index, row_part, *document);
    if (!entries.has_value()) {
      KVARTS_CHECK_OK(LookAgainAtRow(index, row.key));
      continue;
    }
    for (IndexEntry& entry : *entries) {
      claimed_bytes_ += entry.key.size() + entry.value.size();
      claimed_.push_back({index, std::move(entry), row.header.expiry, Bytes(row_part)});
      if (claimed_.size() >= kBatchClaimed || claimed_bytes_ >= kBatchBytes) KVARTS_CHECK_OK(CheckClaimed());
    }
  }
  return {};
}

Status DriftWalk::CheckClaimed() {
  const std::vector<Claimed> claimed = std::move(claimed_);
  claimed_.clear();
  claimed_bytes_ = 0;
  if (claimed.empty()) return {};
  std::vector<BytesView> keys;
  for (const Claimed& claim : claimed) keys.push_back(claim.entry.key);
  std::vector<std::optional<Record>> records(keys.size());
  KVARTS_CHECK_OK(txn_.PeekMany(keys, records));
  for (size_t i = 0; i < claimed.size(); ++i) {
    const Claimed& claim = claimed[i];
    const EntryState expected{.value = claim.entry.value, .expiry = claim.expiry};
    if (records[i] && EntryState::Of(*records[i]) == expected) continue;
    KVARTS_CHECK_OK(LookAgain(*claim.index, claim.entry.key, claim.row));
  }
  looked_for_ += claimed.size();
  return {};
}

Status DriftWalk::WalkEntries(const TableIndex& index, WalkPlace* place) {
  ScanRequest request;
  request.range = KeyRange::Prefix(index.prefix);
  if (!place->next.empty()) request.range.start = place->next;
  // Which row an entry is of stands in its key, but for unique indexes.
  request.keys_only = !index.spec.unique;
  request.max_entries = kChunkEntries;
  request.max_bytes = kBatchBytes;
  KVARTS_TRY(const ScanPage page, txn_.PeekScan(request));
  size_t at = 0;
  // How large rows are is not known before they are read.
  size_t batch = kMinBatchRows;
  while (at < page.size() && (at == 0 || !IsFull())) {
    const size_t to = std::min(at + batch, page.size());
    const uint64_t read_before = txn_.cost().read.bytes;
    KVARTS_CHECK_OK(CheckEntries(index, page, at, to));
    at = to;
    if (txn_.cost().read.bytes - read_before < kBatchBytes / 2) batch = std::min(batch * 2, kMaxBatchRows);
  }
  step_.entries = at;
  if (at < page.size()) {
    place->next = page[at].key;
  } else if (page.rest()) {
    place->next = page.rest()->start;
  } else {
    *place = {.rows_done = true, .index = {index.number.value + 1}};
  }
  return {};
}

Status DriftWalk::CheckEntries(const TableIndex& index, const ScanPage& page, size_t from, size_t to) {
  NamedRows rows(txn_, table_, index);
  std::vector<std::optional<Bytes>> named;
  for (size_t i = from; i < to; ++i) {
    named.push_back(NamedRow(table_, index, page[i].key, page[i].value));
    if (named.back()) rows.Add(*named.back());
  }
  KVARTS_CHECK_OK(rows.Read());
  for (size_t i = from; i < to; ++i) {
    const std::optional<Bytes>& row = named[i - from];
    // What such an entry holds was compared on the way over the rows.
    if (row && rows.MayHave(*row, page[i].key)) continue;
    KVARTS_CHECK_OK(LookAgain(index, page[i].key, std::nullopt));
  }
  return {};
}

Status DriftWalk::LookAgain(const TableIndex& index, BytesView key, std::optional<BytesView> claimant) {
  KVARTS_TRY(const std::optional<Drift> drift, JudgeEntry(txn_, table_, index, key, claimant));
  return drift ? Tell(*drift) : Status();
}

Status DriftWalk::LookAgainAtRow(const TableIndex* index, BytesView key) {
  KVARTS_TRY(const std::optional<Drift> drift, JudgeRow(txn_, table_, index, key));
  return drift ? Tell(*drift) : Status();
}

Status DriftWalk::Tell(const Drift& drift) {
  ++told_;
  return on_drift_(drift);
}

}  // namespace kvarts
