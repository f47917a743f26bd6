#include "model/table/journal.h"

#include <limits>

#include "encoding/tuple_text.h"
#include "model/table/job_rows.h"
#include "model/table/row.h"
#include "model/table/rows.h"
#include "model/table/system_tables.h"

namespace kvarts {
namespace {

JobRows RowsOf(TableId table, JobId job) { return {*JournalTable(), table, job}; }

Result<std::optional<EntryState>> StateIn(const DocumentView& row, std::string_view name) {
  const std::optional<DocumentView> field = row.Find(name);
  if (!field) return std::nullopt;
  return EntryState::Read(*field);
}

Result<JournalEntry> Decode(BytesView stored) {
  KVARTS_TRY(const RowView view, OpenRow(stored));
  const DocumentView row = view.document();
  JournalEntry entry;
  KVARTS_TRY(entry.number, JobRows::NumberOf(row));
  const std::optional<DocumentView> index = FieldOf(row, "index", DocumentKind::kText);
  const std::optional<DocumentView> kind = FieldOf(row, "kind", DocumentKind::kText);
  const std::optional<DocumentView> key = FieldOf(row, "key", DocumentKind::kBinary);
  if (!index || !kind || !key) return Error(ErrorCode::kCorruption, "a row of a journal is damaged");
  entry.index = index->Text();
  entry.kind = kind->Text();
  entry.key = key->Binary();
  KVARTS_TRY(entry.before, StateIn(row, "before"));
  KVARTS_TRY(entry.after, StateIn(row, "after"));
  return entry;
}

}  // namespace

size_t JournalEntry::bytes() const {
  // Its key is in it as bytes and as a text, with four characters for a byte at most.
  constexpr size_t kAround = 1024;
  size_t all = kAround + index.size() + 5 * key.size();
  for (const std::optional<EntryState>* state : {&before, &after}) all += *state ? (*state)->value.size() : 0;
  return all;
}

Status PutJournalEntry(Txn& txn, TableId table, JobId job, const JournalEntry& entry) {
  PutRow put;
  DocumentWriter row(&put.row);
  const auto write = [&](std::string_view name, const std::optional<EntryState>& state) {
    if (!state) return;
    row.Name(name);
    state->Write(std::numeric_limits<size_t>::max(), &row);
  };
  row.BeginMap();
  RowsOf(table, job).WriteKey(entry.number, &row);
  JobRows::WriteEnd(txn.Now(), &row);
  row.Name("index").Text(entry.index).Name("kind").Text(entry.kind);
  row.Name("key").Binary(entry.key).Name("key_text").Text(TupleToString(entry.key));
  write("before", entry.before);
  write("after", entry.after);
  row.EndMap();
  return RowWriter(txn, *JournalTable()).Put(put, nullptr);
}

Status EraseJournalEntry(Txn& txn, TableId table, JobId job, uint64_t number) {
  return RowsOf(table, job).Erase(txn, number);
}

Result<std::vector<JournalEntry>> ReadJournalBackwards(Txn& txn, TableId table, JobId job, uint64_t below,
                                                       size_t limit) {
  const JobRows rows = RowsOf(table, job);
  ScanRequest request;
  request.range = rows.range();
  KVARTS_TRY(const KeyBuffer end, rows.KeyOf(below));
  request.range.end = end.view();
  request.reverse = true;
  request.max_entries = limit;
  std::vector<JournalEntry> entries;
  KVARTS_TRY(const ScanPage page, txn.Scan(request));
  for (size_t i = 0; i < page.size(); ++i) {
    KVARTS_TRY(JournalEntry entry, Decode(page[i].value));
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace kvarts
