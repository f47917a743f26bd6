// How a write keeps the indexes of its table.
#include <algorithm>

#include "base/error_fields.h"
#include "encoding/tuple_text.h"
#include "engine/sizes.h"
#include "model/table/row.h"
#include "model/table/row_change.h"
#include "model/table/rows.h"

namespace kvarts {
namespace {

// What the fields of an entry hold, for people; of a local index, in which partition.
std::string EntryText(const TableIndex& index, BytesView key) {
  const BytesView behind = key.substr(index.prefix.size());
  TupleReader reader(behind);
  for (size_t i = 0; i <= index.spec.sort.size(); ++i) {
    if (!reader.Skip().has_value()) return Escaped(key);
  }
  return TupleToString(behind.substr(0, reader.position()));
}

// The engine refuses what is too large likewise, but does not know whose it is; of a row itself there is no index.
Status CheckFits(const Limits& limits, BytesView key, BytesView value, const TableInfo& table,
                 const TableIndex* index) {
  const Status fits = CheckSizes(key, value, limits);
  if (fits.has_value()) return {};
  Error error = fits.error();
  if (index != nullptr) error = WithField(error, "index", index->spec.name);
  return WithField(error, "table", table.stored().name);
}

}  // namespace

Status RowWriter::Write(BytesView key, const Found& before, const DocumentView& row, End end, RowOutcome* outcome) {
  if (table_.spec().schema) KVARTS_CHECK_OK(table_.spec().schema->Check(row));
  Change change{.row_key = key.substr(table_.rows().size()), .expiry = end.expiry};
  change.new_row = row;
  if (before && (table_.has_indexes() || outcome != nullptr)) {
    change.old_row = Open(key, *before);
    change.before = &*before;
    if (outcome != nullptr && change.old_row && IsLive(before)) outcome->before = Bytes(change.old_row->bytes());
  }
  Mutation put;
  put.key = key;
  KVARTS_TRY(put.value, EncodeRow(txn_.context(), table_.stored().schema_version, row));
  KVARTS_CHECK_OK(CheckFits(txn_.limits(), put.key, put.value, table_, nullptr));
  for (const TableIndex& index : table_.indexes()) KVARTS_CHECK_OK(KeepIndex(index, change, outcome));
  put.kind = ValueKind::kEnvelope;
  put.schema = table_.stored().schema_version;
  put.expiry = end.expiry;
  // What goes with its bucket goes by range, and its entries by their own expiry. What ends before it is owned also
  // where nothing hangs on it: that tells whose end is its own.
  put.owned = end.expiry != kNever && !end.with_bucket && (table_.has_indexes() || table_.spec().retention.has_value());
  if (end.expiry != kNever && end.expiry <= txn_.Now()) wrote_past_ = true;
  txn_.Apply(std::move(put));
  if (outcome != nullptr) {
    outcome->after = Bytes(row.bytes());
    outcome->expiry = end.expiry;
  }
  return {};
}

Status RowWriter::KeepIndex(const TableIndex& index, const Change& change, RowOutcome* outcome) {
  if (!index.maintained()) return {};
  std::vector<IndexEntry> old_entries;
  if (change.old_row) {
    // A row from before the index may be one that it cannot take: then it has no entries.
    Result<std::vector<IndexEntry>> entries = EntriesOf(table_, index, change.row_key, *change.old_row);
    if (entries.has_value()) {
      KVARTS_TRY(const bool has, HasEntries(index, change.row_key, *entries));
      if (has) old_entries = *std::move(entries);
    }
  }
  std::vector<IndexEntry> new_entries;
  if (change.new_row) {
    KVARTS_TRY(new_entries, EntriesOf(table_, index, change.row_key, *change.new_row));
  }
  // The entries of a row that has expired may have been overwritten, in a unique index by another row's; and while that
  // is built, a row from before may have none because another has its place.
  const bool was_live = change.before != nullptr && !change.before->header.ExpiredAt(txn_.Now());
  const bool certain = was_live && index.state == IndexState::kReady;
  const bool same_expiry = was_live && change.before->header.expiry == change.expiry;
  std::vector<const IndexEntry*> added;
  std::vector<const IndexEntry*> put;
  auto old_entry = old_entries.begin();
  uint64_t written = 0;
  for (const IndexEntry& entry : new_entries) {
    for (; old_entry != old_entries.end() && old_entry->key < entry.key; ++old_entry, ++written) {
      KVARTS_CHECK_OK(EraseEntry(index, *old_entry, change.row_key, !certain));
    }
    const bool had = old_entry != old_entries.end() && old_entry->key == entry.key;
    if (!had || !certain) added.push_back(&entry);
    if (!had || !certain || !same_expiry || old_entry->value != entry.value) put.push_back(&entry);
    if (had) ++old_entry;
  }
  for (; old_entry != old_entries.end(); ++old_entry, ++written) {
    KVARTS_CHECK_OK(EraseEntry(index, *old_entry, change.row_key, !certain));
  }
  if (index.spec.unique) KVARTS_CHECK_OK(CheckUnique(index, added, change.row_key));
  for (const IndexEntry* entry : put) {
    KVARTS_CHECK_OK(CheckFits(txn_.limits(), entry->key, entry->value, table_, &index));
    txn_.Put(entry->key, entry->value, {.expiry = change.expiry});
  }
  if (outcome != nullptr) outcome->entries_written += written + put.size();
  return {};
}

Result<bool> RowWriter::HasEntries(const TableIndex& index, BytesView row_key, const std::vector<IndexEntry>& entries) {
  if (entries.empty() || index.state != IndexState::kBuilding || CanBePut(txn_.limits(), index, entries)) return true;
  // No commit can erase them either. It has all or none, and while it has none it is in nobody's way.
  const BytesView first = entries.front().key;
  std::optional<Record> found;
  KVARTS_CHECK_OK(txn_.PeekMany({&first, 1}, {&found, 1}));
  if (!found || !index.spec.unique) return found.has_value();
  const Result<EntryView> there = OpenEntry(table_, index, first, found->value);
  return there.has_value() && there->row_key.view().substr(table_.rows().size()) == row_key;
}

Status RowWriter::CheckUnique(const TableIndex& index, std::span<const IndexEntry* const> added, BytesView row_key) {
  if (added.empty()) return {};
  std::vector<BytesView> keys;
  for (const IndexEntry* entry : added) keys.push_back(entry->key);
  std::vector<std::optional<Record>> found(keys.size());
  KVARTS_CHECK_OK(txn_.GetMany(keys, found));
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!found[i]) continue;
    KVARTS_TRY(const EntryView other, OpenEntry(table_, index, keys[i], found[i]->value));
    if (other.row_key.view().substr(table_.rows().size()) == row_key) continue;
    return Error(ErrorCode::kAlreadyExists, "another row has this value in a unique index",
                 {{"table", table_.stored().name},
                  {"index", index.spec.name},
                  {"value", EntryText(index, keys[i])},
                  {"row", RowKeyText(table_, other.row_key)}});
  }
  return {};
}

Status RowWriter::EraseEntry(const TableIndex& index, const IndexEntry& entry, BytesView row_key,
                             bool may_be_anothers) {
  if (index.spec.unique && may_be_anothers) {
    KVARTS_TRY(const std::optional<Record> found, txn_.GetExpired(entry.key));
    if (!found) return {};
    // Whose an entry is that is damaged, nobody knows: a verification finds it.
    const Result<EntryView> there = OpenEntry(table_, index, entry.key, found->value);
    if (!there.has_value() || there->row_key.view().substr(table_.rows().size()) != row_key) return {};
  }
  txn_.Erase(entry.key);
  return {};
}

}  // namespace kvarts
