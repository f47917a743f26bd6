// Reading rows: by key, by partition in the order of the table or of an index, and all of them in pages. Every read is
// bounded; what is left is reached by a cursor, which holds a place in the order of keys and so stays valid whatever is
// written meanwhile.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/cursor.h"
#include "core/txn.h"
#include "document/condition.h"
#include "document/projection.h"
#include "engine/engine.h"
#include "model/table/row.h"
#include "model/table/table_info.h"

namespace kvarts {

// A row that was read.
struct FoundRow {
  // Of the row; of an entry that holds what was asked for, since when that is as it is.
  Version version;
  Timestamp expiry = kNever;
  BytesView document = {};
  // Who wrote it and by which schema; empty when it was answered by an entry alone.
  EnvelopeView envelope = {};
};

// How values of the next sort field are bounded.
struct SortBound {
  Bytes value;  // a document
  bool inclusive = true;
};

struct RowQuery {
  std::string index = {};  // empty: in the order of the table's own key
  // A map with the partition fields: of the table, or of a global index, by the text of their paths.
  Bytes partition = {};
  // The leading sort fields, each equal to the value of the same place; documents.
  std::vector<Bytes> sort = {};
  // Of the sort field behind these: from, to, and a text or binary that it begins with.
  std::optional<SortBound> from = {};
  std::optional<SortBound> to = {};
  std::optional<Bytes> prefix = {};

  bool reverse = false;
  std::optional<Condition> filter = {};
  std::optional<Projection> projection = {};
  size_t limit = 100;            // rows that are returned
  size_t max_bytes = 1 << 20;    // of their documents; one row always fits
  size_t max_examined = 10'000;  // rows or entries that are looked at
  // Tombstones and expired values that are stepped over: a page that has met more ends there, with a cursor.
  uint64_t max_skipped = 100'000;
  std::string cursor = {};  // of the page before
  Freshness freshness = {};
};

// Rows of a page, and where their bytes lie.
struct RowPage {
  std::vector<FoundRow> rows;
  std::optional<std::string> cursor;  // nothing when that was all
  uint64_t examined = 0;
  ReadCost cost;

  std::deque<ScanPage> pages;
  std::deque<std::vector<std::optional<Record>>> records;
  std::deque<Bytes> made;  // by projections
};

// What cursors are made with.
struct RowCursors {
  std::optional<Bytes> secret = {};  // nothing: not sealed
  Duration max_age = Duration::Seconds(3600);
};

Result<RowPage> QueryRows(Engine& engine, const TableInfo& table, const RowQuery& query, const RowCursors& cursors);
// The same in a transaction, which sees its own writes and rests on what it has read. The freshness is that of its
// view.
Result<RowPage> QueryRows(Txn& txn, const TableInfo& table, const RowQuery& query, const RowCursors& cursors);

// All rows, in the order of keys, in pages. Several can read at once: each begins with a cursor from SplitScan, and
// ends when its pages have none any more.
struct RowScan {
  std::optional<Condition> filter = {};
  std::optional<Projection> projection = {};
  size_t limit = 1000;
  size_t max_bytes = 1 << 20;
  size_t max_examined = 10'000;
  uint64_t max_skipped = 100'000;
  std::string cursor = {};
  Freshness freshness = {};

  static constexpr size_t kMaxParts = 1024;
};
Result<RowPage> ScanRows(Engine& engine, const TableInfo& table, const RowScan& scan, const RowCursors& cursors);
// Where to begin with each of at most so many parts, which together are all rows.
Result<std::vector<std::string>> SplitScan(Engine& engine, const TableInfo& table, const RowScan& scan, size_t parts,
                                           const RowCursors& cursors);

// Rows by their keys, at one point in time: maps with the fields of the key. out[i] is the row of keys[i], if it is
// there.
struct RowsRead {
  std::vector<std::optional<FoundRow>> rows;
  std::vector<std::optional<Record>> records;  // where they lie
  ReadCost cost;
};
Result<RowsRead> GetRows(Engine& engine, const TableInfo& table, std::span<const DocumentView> keys,
                         const Freshness& freshness = {});
// By the values of the keys' fields, in their order.
Result<RowsRead> GetRows(Engine& engine, const TableInfo& table, std::span<const std::span<const Item>> keys,
                         const Freshness& freshness = {});

// One row, with where it lies. The document is one unless it was damaged, which all other reads look for; this one
// hands it on as it is. Whoever reads it finds something or nothing then, and no bytes behind it (encoding/document.h).
struct ReadRow {
  std::optional<Record> record;  // nothing: there is no such row
  FoundRow row;
};
Status GetRow(Engine& engine, const TableInfo& table, const DocumentView& key, const ReadOptions& options,
              ReadRow* read);
// By the values of the key's fields, in their order.
Status GetRow(Engine& engine, const TableInfo& table, std::span<const Item> key, const ReadOptions& options,
              ReadRow* read);
Status GetRow(Txn& txn, const TableInfo& table, std::span<const Item> key, ReadRow* read);

// What is found under the key of a row. `corruption` when that is none.
Result<FoundRow> ToFoundRow(const ValueHeader& header, BytesView value);

}  // namespace kvarts
