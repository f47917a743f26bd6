#include "model/table/findings.h"

#include "encoding/tuple_text.h"
#include "model/table/job_rows.h"
#include "model/table/row.h"
#include "model/table/rows.h"
#include "model/table/system_tables.h"

namespace kvarts {
namespace {

JobRows RowsOf(TableId table, JobId job) { return {*FindingsTable(), table, job}; }

Result<Finding> Decode(BytesView stored) {
  KVARTS_TRY(const RowView view, OpenRow(stored));
  const DocumentView row = view.document();
  Finding finding;
  KVARTS_TRY(finding.number, JobRows::NumberOf(row));
  const auto text = [&](std::string_view name) {
    const std::optional<DocumentView> field = FieldOf(row, name, DocumentKind::kText);
    return field ? std::string(field->Text()) : std::string();
  };
  const auto map = [&](std::string_view name) {
    const std::optional<DocumentView> field = FieldOf(row, name, DocumentKind::kMap);
    return field ? Bytes(field->bytes()) : Bytes();
  };
  finding.kind = text("kind");
  finding.index = text("index");
  finding.row = map("row");
  finding.other = map("other");
  if (const std::optional<DocumentView> key = FieldOf(row, "key", DocumentKind::kBinary)) finding.key = key->Binary();
  finding.there = map("there");
  finding.expected = map("expected");
  return finding;
}

Bytes Shown(const std::optional<EntryState>& state) {
  Bytes shown;
  if (!state) return shown;
  DocumentWriter writer(&shown);
  state->Write(Finding::kShownBytes, &writer);
  return shown;
}

}  // namespace

Finding Finding::Of(const TableInfo& table, const Drift& drift, uint64_t number) {
  Finding finding;
  finding.number = number;
  finding.kind = DriftKindName(drift.kind);
  if (drift.index != nullptr) finding.index = drift.index->spec.name;
  if (!drift.row.empty()) finding.row = RowFields(table, drift.row);
  if (!drift.other.empty()) finding.other = RowFields(table, drift.other);
  finding.key = drift.key;
  finding.there = Shown(drift.there);
  finding.expected = Shown(drift.expected);
  return finding;
}

Status PutFinding(Txn& txn, TableId table, JobId job, const Finding& finding) {
  PutRow put;
  DocumentWriter row(&put.row);
  const auto copy = [&](std::string_view name, const Bytes& document) {
    if (!document.empty()) row.Name(name).Copy(DocumentView(document));
  };
  row.BeginMap();
  RowsOf(table, job).WriteKey(finding.number, &row);
  row.Name("kind").Text(finding.kind).Name("index").Text(finding.index);
  copy("row", finding.row);
  copy("other", finding.other);
  if (!finding.key.empty()) {
    row.Name("key").Binary(finding.key).Name("key_text").Text(TupleToString(finding.key));
    JobRows::WriteEnd(txn.Now(), &row);
  }
  copy("there", finding.there);
  copy("expected", finding.expected);
  row.EndMap();
  return RowWriter(txn, *FindingsTable()).Put(put, nullptr);
}

Status EraseFinding(Txn& txn, TableId table, JobId job, uint64_t number) {
  return RowsOf(table, job).Erase(txn, number);
}

void EraseFindings(Txn& txn, TableId table, JobId job) { txn.EraseRange(RowsOf(table, job).range()); }

Result<std::vector<Finding>> ReadFindings(Txn& txn, TableId table, JobId job) {
  ScanRequest request;
  request.range = RowsOf(table, job).range();
  std::vector<Finding> findings;
  while (true) {
    KVARTS_TRY(const ScanPage page, txn.Scan(request));
    for (size_t i = 0; i < page.size(); ++i) {
      KVARTS_TRY(Finding finding, Decode(page[i].value));
      findings.push_back(std::move(finding));
    }
    if (!page.rest()) return findings;
    request.range = *page.rest();
  }
}

Result<std::vector<Finding>> PeekFindings(Txn& txn, TableId table, JobId job, uint64_t from, size_t limit) {
  const JobRows rows = RowsOf(table, job);
  ScanRequest request;
  request.range = rows.range();
  KVARTS_TRY(const KeyBuffer start, rows.KeyOf(from));
  request.range.start = start.view();
  request.max_entries = limit;
  std::vector<Finding> findings;
  KVARTS_TRY(const ScanPage page, txn.PeekScan(request));
  for (size_t i = 0; i < page.size(); ++i) {
    KVARTS_TRY(Finding finding, Decode(page[i].value));
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace kvarts
