// Rows that a job leaves in a system table: its findings, its journal. Their key is (table, job; number), so those of a
// job lie together, in the order in which it wrote them.
#pragma once

#include "core/job_record.h"
#include "core/txn.h"
#include "encoding/document_writer.h"
#include "model/table/ids.h"
#include "model/table/table_info.h"

namespace kvarts {

struct JobRows {
  const TableInfo& in;  // _findings or _journal
  TableId table;
  JobId job;

  // The fields of a row's key, in a map that is open.
  void WriteKey(uint64_t number, DocumentWriter* to) const;
  // How long the row is kept: a field, like these.
  static void WriteEnd(Timestamp now, DocumentWriter* to);
  // Of a row that was read.
  static Result<uint64_t> NumberOf(const DocumentView& row);

  // Where the row lies; and where all of them do.
  Result<KeyBuffer> KeyOf(uint64_t number) const;
  KeyRange range() const;
  // Where those of all jobs about a table lie.
  static KeyRange RangeOf(const TableInfo& in, TableId table);
  Status Erase(Txn& txn, uint64_t number) const;
};

// A field of a row, when it is of the kind.
std::optional<DocumentView> FieldOf(const DocumentView& row, std::string_view name, DocumentKind kind);

// How long what a verification has found, and what a repair has changed, can be looked at and undone.
inline constexpr Duration kKeepJobRows = Duration::Seconds(30 * 24 * 60 * 60);
// The field in which such a row says until when it is there.
inline constexpr std::string_view kJobRowEnd = "kept_until";

}  // namespace kvarts
