// Entries of indexes: what a row has in each, made from the row alone. So whoever has a row knows its entries, and what
// is there besides them is wrong.
//
//   local    (7, table, index, (partition of the row), sort of the index…, sort of the row…)
//   global   (7, table, index, (partition of the index), sort of the index…, (partition of the row), sort of the row…)
//   unique   the same without the key of the row, which stands in the value
//
// An entry has the expiry of its row, so that both are gone at the same instant. FORMAT.md has the bytes.
#pragma once

#include <optional>
#include <vector>

#include "document/projection.h"
#include "encoding/document.h"
#include "encoding/key_buffer.h"
#include "engine/limits.h"
#include "model/table/table_info.h"

namespace kvarts {

struct IndexEntry {
  Bytes key;
  Bytes value;

  friend auto operator<=>(const IndexEntry&, const IndexEntry&) = default;
};

// Of an index over the elements of a list: more than these a row may not have.
inline constexpr size_t kMaxEntriesOfRow = 1000;

// The entries of a row in an index, in the order of their keys. `row_key` is what stands behind TableInfo::rows() in
// the row's key. `invalid_argument` or `too_large` for a row that the index cannot take.
Result<std::vector<IndexEntry>> EntriesOf(const TableInfo& table, const TableIndex& index, BytesView row_key,
                                          const DocumentView& row);

// How much of a commit entries are: putting them, and asking for those of a unique index.
struct EntryLoad {
  size_t operations = 0;
  size_t bytes = 0;

  void Add(const TableIndex& index, const std::vector<IndexEntry>& entries);
};
// Whether the commit of a job could put the entries of a row. No write has put others; but a row from before the index
// may have them to be put.
bool CanBePut(const Limits& limits, const TableIndex& index, const std::vector<IndexEntry>& entries);

// What an entry says.
struct EntryView {
  KeyBuffer row_key;   // physical
  BytesView included;  // a document, borrowed from the value; empty when the index includes keys alone
};
// `corruption` when it is none of the index.
Result<EntryView> OpenEntry(const TableInfo& table, const TableIndex& index, BytesView key, BytesView value);

// A text as a field of an index sorts it: trimmed, in lower case, or as it is.
std::string Normalised(const IndexField& field, std::string_view text);

// Appends a value to a key as a field of an index sorts it. Nothing is appended when the row has nothing there that
// could be sorted; a value that is not of the declared type is refused.
enum class Appended : uint8_t { kYes, kNothing };
Result<Appended> AppendIndexValue(const IndexField& field, const std::optional<DocumentView>& value,
                                  TupleWriter<KeyBuffer>* to);

}  // namespace kvarts
