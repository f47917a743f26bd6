#include "model/table/drift.h"

#include <algorithm>

#include "model/table/row.h"
#include "model/table/rows.h"

namespace kvarts {
namespace {

constexpr std::array<std::string_view, kDriftKinds> kKinds = {"missing", "wrong_value", "wrong_expiry", "spurious",
                                                              "damaged", "duplicate",   "refused"};

// Whether the value of an entry has the form that the index gives it.
bool IsWhole(const TableInfo& table, const TableIndex& index, BytesView key, const EntryState& entry) {
  const Result<EntryView> opened = OpenEntry(table, index, key, entry.value);
  if (!opened.has_value() || entry.kind != ValueKind::kBytes) return false;
  if (index.spec.included.kind == Included::Kind::kKey) return opened->included.empty();
  return CheckDocument(opened->included).has_value();
}

class Judge {
 public:
  Judge(Txn& txn, const TableInfo& table, const TableIndex& index, BytesView key)
      : txn_(txn), table_(table), index_(index), key_(key) {}

  Result<std::optional<Drift>> Entry(std::optional<BytesView> claimant) {
    KVARTS_TRY(const std::optional<Record> record, txn_.Get(key_));
    Drift drift;
    drift.index = &index_;
    drift.key = key_;
    drift.there = EntryState::Of(record);
    const std::optional<Bytes> named = NamedRow(table_, index_, key_, record ? BytesView(record->value) : BytesView());
    Claim right;  // of the row that the entry names
    if (named) {
      KVARTS_TRY(right, ClaimOf(*named));
      drift.row = *named;
    }
    drift.expected = right.entry;
    if (claimant && claimant != named) {
      KVARTS_TRY(Claim claim, ClaimOf(*claimant));
      if (claim.entry && right.entry) {
        drift.other = drift.row;
        drift.kind = DriftKind::kDuplicate;
      }
      if (claim.entry) {
        drift.row = *claimant;
        drift.expected = std::move(claim.entry);
      }
      right.known = right.known && claim.known;
    }
    if (!right.known) return std::nullopt;
    if (drift.other.empty()) {
      const std::optional<DriftKind> kind = KindOf(drift);
      if (!kind) return std::nullopt;
      drift.kind = *kind;
    }
    return drift;
  }

 private:
  // What a row says about the entry.
  struct Claim {
    bool known = true;  // false: the row is there, and cannot be read
    std::optional<EntryState> entry = {};
  };

  Result<Claim> ClaimOf(BytesView row_part) {
    KeyBuffer row_key;
    row_key.append(table_.rows());
    row_key.append(row_part);
    KVARTS_TRY(const std::optional<Record> record, txn_.Get(row_key));
    if (!record) return Claim{};
    const std::optional<DocumentView> row = ReadableRow(table_, row_part, record->value);
    if (!row) return Claim{.known = false};
    std::vector<IndexEntry> entries = EntriesOrNone(table_, index_, row_part, *row);
    const auto found = std::ranges::find(entries, key_, &IndexEntry::key);
    if (found == entries.end()) return Claim{};
    return Claim{.entry = EntryState{.value = std::move(found->value), .expiry = record->header.expiry}};
  }

  // Nothing when what is there is what is expected.
  std::optional<DriftKind> KindOf(const Drift& drift) const {
    if (drift.there == drift.expected) return std::nullopt;
    if (!drift.there) return DriftKind::kMissing;
    if (drift.row.empty()) return DriftKind::kDamaged;
    if (!drift.expected) return DriftKind::kSpurious;
    if (!IsWhole(table_, index_, key_, *drift.there)) return DriftKind::kDamaged;
    return drift.there->SameButExpiry(*drift.expected) ? DriftKind::kWrongExpiry : DriftKind::kWrongValue;
  }

  Txn& txn_;
  const TableInfo& table_;
  const TableIndex& index_;
  const BytesView key_;
};

}  // namespace

std::string_view DriftKindName(DriftKind kind) { return kKinds[static_cast<size_t>(kind)]; }

std::optional<DriftKind> ParseDriftKind(std::string_view name) {
  const auto* const found = std::ranges::find(kKinds, name);
  if (found == kKinds.end()) return std::nullopt;
  return static_cast<DriftKind>(found - kKinds.begin());
}

std::optional<DocumentView> ReadableRow(const TableInfo& table, BytesView row_part, BytesView stored) {
  const Result<RowView> opened = OpenRow(stored);
  if (!opened.has_value()) return std::nullopt;
  const DocumentView row = opened->document();
  const Result<KeyBuffer> key = RowKey(table, row);
  if (!key.has_value() || key->view().substr(table.rows().size()) != row_part) return std::nullopt;
  return row;
}

std::vector<IndexEntry> EntriesOrNone(const TableInfo& table, const TableIndex& index, BytesView row_part,
                                      const DocumentView& row) {
  Result<std::vector<IndexEntry>> entries = EntriesOf(table, index, row_part, row);
  return entries.has_value() ? *std::move(entries) : std::vector<IndexEntry>();
}

std::optional<Bytes> NamedRow(const TableInfo& table, const TableIndex& index, BytesView key, BytesView value) {
  const Result<EntryView> entry = OpenEntry(table, index, key, value);
  if (!entry.has_value()) return std::nullopt;
  Bytes row(entry->row_key.view().substr(table.rows().size()));
  if (RowFields(table, row).empty()) return std::nullopt;
  return row;
}

Result<std::optional<Drift>> JudgeEntry(Txn& txn, const TableInfo& table, const TableIndex& index, BytesView key,
                                        std::optional<BytesView> claimant) {
  return Judge(txn, table, index, key).Entry(claimant);
}

Result<std::optional<Drift>> JudgeRow(Txn& txn, const TableInfo& table, const TableIndex* index, BytesView key) {
  KVARTS_TRY(const std::optional<Record> record, txn.Get(key));
  if (!record) return std::nullopt;
  Drift drift;
  drift.key = key;
  drift.row = key.substr(table.rows().size());
  drift.there = EntryState::Of(*record);
  const std::optional<DocumentView> row = ReadableRow(table, drift.row, record->value);
  if (!row) {
    drift.kind = DriftKind::kDamaged;
    return drift;
  }
  if (index == nullptr || EntriesOf(table, *index, drift.row, *row).has_value()) return std::nullopt;
  drift.kind = DriftKind::kRefused;
  drift.index = index;
  return drift;
}

const TableIndex* IndexOfKey(const TableInfo& table, BytesView key) {
  const auto is_of = [&](const TableIndex& index) {
    return index.state == IndexState::kReady && key.starts_with(index.prefix);
  };
  const auto found = std::ranges::find_if(table.indexes(), is_of);
  return found == table.indexes().end() ? nullptr : &*found;
}

Bytes RowFields(const TableInfo& table, BytesView row_part) {
  Bytes fields;
  DocumentWriter writer(&fields);
  if (!table.key().Decode(row_part, &writer).has_value() || !CheckDocument(fields).has_value()) fields.clear();
  return fields;
}

}  // namespace kvarts
