// Drift: how entries of indexes can differ from the rows, and the judgement of a single entry. What should be there
// follows from the rows alone (index_entries.h); so who has both knows what is wrong, and by that how it is mended.
//
//   missing        a row has an entry that is not there
//   wrong_value    an entry holds something else than its row says, or is taken by a row that has no right to it
//   wrong_expiry   an entry goes earlier or later than its row
//   spurious       an entry that no row has
//   damaged        bytes that are no entry of the index, or no row
//   duplicate      two rows have the same value in a unique index, and the other one has the entry
//   refused        a row that the index cannot take, so that it has no entry
//
// What has expired is not there. Nothing here takes stored bytes on trust: they may be anything.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "core/txn.h"
#include "model/table/entry_state.h"
#include "model/table/index_entries.h"
#include "model/table/table_info.h"

namespace kvarts {

enum class DriftKind : uint8_t { kMissing, kWrongValue, kWrongExpiry, kSpurious, kDamaged, kDuplicate, kRefused };
inline constexpr size_t kDriftKinds = 7;
std::string_view DriftKindName(DriftKind kind);
std::optional<DriftKind> ParseDriftKind(std::string_view name);

struct Drift {
  DriftKind kind = DriftKind::kMissing;
  const TableIndex* index = nullptr;  // null: it is the row itself
  Bytes key;                          // physical: of the entry, or of the row that is damaged or refused
  // Keys of rows behind TableInfo::rows(): the row that has the entry or is named by it, if one is known; and of
  // kDuplicate the one in its place.
  Bytes row = {};
  Bytes other = {};
  std::optional<EntryState> there = {};
  std::optional<EntryState> expected = {};
};

// The document of a row whose key stands behind TableInfo::rows(). Nothing when the bytes are no row, or another one.
std::optional<DocumentView> ReadableRow(const TableInfo& table, BytesView row_part, BytesView stored);
// The entries of a row; none of one that the index refuses.
std::vector<IndexEntry> EntriesOrNone(const TableInfo& table, const TableIndex& index, BytesView row_part,
                                      const DocumentView& row);
// The row, behind TableInfo::rows(), that an entry says it is of. The value is looked at for unique indexes only.
std::optional<Bytes> NamedRow(const TableInfo& table, const TableIndex& index, BytesView key, BytesView value);

// How the entry under a key stands to the rows: to the one that it names, and to one that is known to claim it.
// Everything is read so that the commit rests on it; nothing when all is well, or when the row cannot be read.
Result<std::optional<Drift>> JudgeEntry(Txn& txn, const TableInfo& table, const TableIndex& index, BytesView key,
                                        std::optional<BytesView> claimant);

// Whether there is something wrong with a row itself: its bytes, or with an index given, that the index refuses it. The
// commit rests on it.
Result<std::optional<Drift>> JudgeRow(Txn& txn, const TableInfo& table, const TableIndex* index, BytesView key);

// The ready index that a key is of, if it is of one.
const TableIndex* IndexOfKey(const TableInfo& table, BytesView key);

// What a row's key is, as a map of its fields; empty when it is none, such as with a text that is not UTF-8.
Bytes RowFields(const TableInfo& table, BytesView row_part);

}  // namespace kvarts
