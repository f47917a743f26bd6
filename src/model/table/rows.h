// Rows: what is done with single rows, over a transaction. A row, its entries in every index and its place in the order
// of expiry change together, in the transaction's one commit.
//
// Which entries a row has follows from the row (index_entries.h), so a write reads the row that it replaces, and
// nothing else but what unique indexes have to be asked. A put into a table without indexes and without conditions
// reads nothing.
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "core/txn.h"
#include "core/write_condition.h"
#include "document/condition.h"
#include "document/update.h"
#include "model/table/index_entries.h"
#include "model/table/table_info.h"

namespace kvarts {

// What must hold of the row before the transaction; otherwise the write fails as `precondition_failed`, with the
// version that was met.
struct RowCondition {
  WriteCondition version = {};
  std::optional<Condition> where = {};  // of a row that is not there: as of an empty one

  bool none() const { return version.kind == WriteCondition::Kind::kNone && !where; }
};

// Puts a row in place of what was there.
struct PutRow {
  Bytes row;  // a document: a map with at least the fields of the key
  RowCondition condition = {};
};
// `not_found` when there is no such row, unless that is as good.
struct DeleteRow {
  Bytes key;  // a map with the fields of the key
  RowCondition condition = {};
  bool missing_ok = false;
};
// Changes some fields of a row. Those of its key stay.
struct PatchRow {
  struct Merge {
    Bytes patch;  // as JSON merge patch has it (RFC 7396)
  };
  Bytes key;
  std::variant<Merge, std::vector<FieldUpdate>> change;
  RowCondition condition = {};
  bool make = false;  // a row that is not there is made of its key first; else it is `not_found`
};
using RowCommand = std::variant<PutRow, DeleteRow, PatchRow>;

// What a write did.
struct RowOutcome {
  std::optional<Bytes> before;  // the document that was there
  std::optional<Bytes> after;   // the one that is there now
  Timestamp expiry = kNever;
  uint64_t entries_written = 0;  // of indexes: put or erased
};

// The rows of a table, as one transaction changes them. The transaction rests on the table being as it is known
// (Tables::Use). Both outlive it.
class RowWriter {
 public:
  RowWriter(Txn& txn, const TableInfo& table) : txn_(txn), table_(table) {}

  // `outcome` may be null.
  Status Apply(const RowCommand& command, RowOutcome* outcome);
  Status Put(const PutRow& put, RowOutcome* outcome);
  Status Delete(const DeleteRow& command, RowOutcome* outcome);
  Status Patch(const PatchRow& patch, RowOutcome* outcome);

  // Whether a row was written whose time has already come: it is not there for anybody.
  bool wrote_past() const { return wrote_past_; }

  // Takes away a row whose time has come, with all that hangs on it. `record` is what is stored. False: that is no row
  // any more, so it went by itself. Its entries have expired with it, and an engine drops such as are nobody's.
  Result<bool> RemoveExpired(BytesView physical_key, const Record& record);

 private:
  using Found = std::optional<Record>;

  // What is stored under the key, also when it has expired, once the condition holds.
  Result<Found> Read(BytesView key, const RowCondition& condition);
  bool IsLive(const Found& found) { return found && !found->header.ExpiredAt(txn_.Now()); }
  Error ConditionFailed(BytesView key, const Found& found) const;
  // When a row ends.
  struct End {
    Timestamp expiry = kNever;
    bool with_bucket = false;  // with all others of its time bucket, by the table's retention
  };
  // The document that is to go. Nothing when it is damaged, which must not keep anybody from being rid of it: which
  // entries it has nobody knows then. They have expired with it, or stay as drift, of which the log says.
  std::optional<DocumentView> Open(BytesView key, const Record& stored);
  // The document that is there; `corruption` when it is damaged.
  Result<DocumentView> Readable(BytesView key, const Record& stored) const;
  // Replaces what was found by the document, and keeps the indexes.
  Status Write(BytesView key, const Found& before, const DocumentView& row, End end, RowOutcome* outcome);
  // What a patch changes.
  struct Kept {
    const Record& record;
    DocumentView document;
  };
  // The earlier of what its time to live and the table's retention say.
  Result<End> EndOf(const DocumentView& row, const std::optional<Kept>& kept);
  // As its field says, or after the table's default. A row that is changed, and never said when, keeps its end.
  Result<Timestamp> EndOfLife(const DocumentView& row, const std::optional<Kept>& kept);
  // Of a row that does not say when it ends, by the table's time to live: from now, and as it was written.
  Result<Timestamp> StandardEnd();
  Result<Timestamp> OwnEndOf(const Record& kept);

  // Takes a row away with its entries, if what it was is known.
  Status Remove(BytesView key, const Record& record, const std::optional<DocumentView>& row, RowOutcome* outcome);

  struct Change;
  // Brings the entries of an index from those of one row to those of another.
  Status KeepIndex(const TableIndex& index, const Change& change, RowOutcome* outcome);
  // Whether a row has the entries that follow from it. While an index is built, not one from before it whose entries no
  // commit holds: it was left out.
  Result<bool> HasEntries(const TableIndex& index, BytesView row_key, const std::vector<IndexEntry>& entries);
  Status CheckUnique(const TableIndex& index, std::span<const IndexEntry* const> added, BytesView row_key);
  Status EraseEntry(const TableIndex& index, const IndexEntry& entry, BytesView row_key, bool may_be_anothers);

  Txn& txn_;
  const TableInfo& table_;
  bool wrote_past_ = false;
};

// The physical key of a row: of a map that has at least the key's fields, or exactly those.
Result<KeyBuffer> RowKey(const TableInfo& table, const DocumentView& row);
Result<KeyBuffer> RowKeyOf(const TableInfo& table, const DocumentView& key);
// The latter behind what is there.
Status AppendRowKeyOf(const TableInfo& table, const DocumentView& key, KeyBuffer* to);

// By the values of the key's fields, in their order.
[[gnu::always_inline]] inline Status AppendRowKey(const TableInfo& table, std::span<const Item> key, KeyBuffer* to) {
  to->append(table.rows());
  return table.key().Append(key, to);
}

// The key of a row as JSON, for errors and people.
std::string RowKeyText(const TableInfo& table, BytesView physical_key);
// `not_found`, with the table and the key.
Error NoSuchRow(const TableInfo& table, BytesView physical_key);

}  // namespace kvarts
