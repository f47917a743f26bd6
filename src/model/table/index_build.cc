#include "model/table/index_build.h"

#include <algorithm>
#include <map>

#include "core/fields.h"
#include "encoding/document_json.h"
#include "model/table/catalog_rows.h"
#include "model/table/findings.h"
#include "model/table/row.h"
#include "model/table/rows.h"
#include "model/table/table_jobs.h"

namespace kvarts {
namespace {

// Rows of one chunk: enough that a commit costs little for each, few enough that one can be run again where nothing
// changes under it.
constexpr size_t kBuildChunkRows = 500;

// How far a build is: which rows are still to be read, and how many of those before are in the way.
struct Progress {
  Bytes next;             // the first key that was not read; empty: all of them
  bool scanned = false;   // all rows were read
  uint64_t findings = 0;  // numbers given to findings so far
  uint64_t open = 0;      // of these, those that are still in the way

  Bytes Encode() const {
    Bytes bytes;
    AppendVarint(&bytes, scanned ? 1 : 0);
    AppendVarint(&bytes, findings);
    AppendVarint(&bytes, open);
    AppendSized(&bytes, next);
    return bytes;
  }
  static Result<Progress> Decode(BytesView bytes) {
    Progress progress;
    if (bytes.empty()) return progress;
    FieldReader fields(bytes);
    progress.scanned = fields.Varint(1) == 1;
    progress.findings = fields.Varint();
    progress.open = fields.Varint();
    progress.next = fields.Sized();
    KVARTS_CHECK_OK(fields.Finish("the progress of a job is damaged"));
    return progress;
  }
};

class Builder {
 public:
  Builder(Txn& txn, const JobRecord& job, const TableInfo& table, const TableIndex& index, Progress progress)
      : txn_(txn), job_(job), table_(table), index_(index), progress_(std::move(progress)) {}

  Result<JobStep> Step() {
    // Those in the way come first: when they fill the list, or nothing else is left.
    const bool look_again = progress_.open != 0 && (progress_.scanned || progress_.open >= kMaxFindings);
    if (look_again) {
      KVARTS_CHECK_OK(LookAgain());
    } else if (!progress_.scanned) {
      KVARTS_CHECK_OK(ReadSome());
    }
    if (progress_.scanned && progress_.open == 0) {
      KVARTS_CHECK_OK(MakeReady());
      step_.finished = true;
    }
    step_.cursor = progress_.Encode();
    return std::move(step_);
  }

 private:
  struct Row {
    BytesView key;  // physical
    Timestamp expiry;
    std::vector<IndexEntry> entries;
  };

  Status ReadSome() {
    ScanRequest request;
    request.range = KeyRange::Prefix(table_.rows());
    if (!progress_.next.empty()) request.range.start = progress_.next;
    request.max_entries = kBuildChunkRows;
    request.max_bytes = 4 << 20;
    KVARTS_TRY(const ScanPage page, txn_.Scan(request));
    std::vector<Row> rows;
    for (size_t i = 0; i < page.size(); ++i) {
      KVARTS_TRY(const RowView row, OpenRow(page[i].value));
      Result<std::vector<IndexEntry>> entries = EntriesOf(table_, index_, RowPart(page[i].key), row.document());
      if (!entries.has_value()) {
        KVARTS_CHECK_OK(Note("refused", page[i].key, std::nullopt));
        continue;
      }
      rows.push_back({page[i].key, page[i].header.expiry, *std::move(entries)});
    }
    KVARTS_CHECK_OK(PutAll(rows));
    step_.done = page.size();
    progress_.scanned = !page.rest().has_value();
    if (page.rest()) progress_.next = page.rest()->start;
    return {};
  }

  // Puts the entries, but those of a unique index that another row has.
  Status PutAll(const std::vector<Row>& rows) {
    std::map<BytesView, BytesView> taken;  // entries of a unique index to the keys of their rows, behind rows()
    std::vector<std::optional<Record>> found;
    if (index_.spec.unique) KVARTS_CHECK_OK(FindTaken(rows, &found, &taken));
    for (const Row& row : rows) {
      for (const IndexEntry& entry : row.entries) {
        if (index_.spec.unique) {
          const auto [other, is_free] = taken.try_emplace(entry.key, RowPart(row.key));
          if (!is_free && other->second != RowPart(row.key)) {
            KVARTS_CHECK_OK(Note("duplicate", row.key, other->second));
            continue;
          }
        }
        txn_.Put(entry.key, entry.value, {.expiry = row.expiry});
      }
    }
    return {};
  }

  Status FindTaken(const std::vector<Row>& rows, std::vector<std::optional<Record>>* found,
                   std::map<BytesView, BytesView>* taken) {
    std::vector<BytesView> keys;
    for (const Row& row : rows) {
      for (const IndexEntry& entry : row.entries) keys.push_back(entry.key);
    }
    found->resize(keys.size());
    if (keys.empty()) return {};
    KVARTS_CHECK_OK(txn_.GetMany(keys, *found));
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!(*found)[i]) continue;
      // The key of the row stands in the value, and stays there.
      FieldReader fields((*found)[i]->value);
      taken->emplace(keys[i], fields.Sized());
    }
    return {};
  }

  // Rows that were in the way may have been changed since, and with them their entries; or they still are.
  Status LookAgain() {
    KVARTS_TRY(const std::vector<Finding> findings, ReadFindings(txn_, table_.stored().id, job_.id));
    for (const Finding& finding : findings) {
      KVARTS_TRY(const bool free, TryAgain(finding));
      if (!free) continue;
      KVARTS_CHECK_OK(EraseFinding(txn_, table_.stored().id, job_.id, finding.number));
      --progress_.open;
    }
    if (progress_.open == 0) return {};
    return Error(ErrorCode::kPreconditionFailed,
                 "rows are in the way of the index; it is built on when they are changed and the job is resumed",
                 {{"index", index_.spec.name}, {"rows", std::to_string(progress_.open)}});
  }

  Result<bool> TryAgain(const Finding& finding) {
    const DocumentView key_fields(finding.row);
    KVARTS_TRY(const KeyBuffer key, RowKeyOf(table_, key_fields));
    KVARTS_TRY(const std::optional<Record> record, txn_.Get(key));
    if (!record) return true;
    KVARTS_TRY(const RowView row, OpenRow(record->value));
    Result<std::vector<IndexEntry>> entries = EntriesOf(table_, index_, RowPart(key), row.document());
    if (!entries.has_value()) return false;
    for (const IndexEntry& entry : *entries) {
      if (index_.spec.unique) {
        KVARTS_TRY(const std::optional<Record> there, txn_.Get(entry.key));
        if (there) {
          FieldReader fields(there->value);
          if (fields.Sized() != RowPart(key)) return false;
        }
      }
      txn_.Put(entry.key, entry.value, {.expiry = record->header.expiry});
    }
    return true;
  }

  Status Note(const char* kind, BytesView row_key, std::optional<BytesView> other) {
    Finding finding;
    finding.number = progress_.findings++;
    finding.kind = kind;
    finding.index = index_.spec.name;
    KVARTS_TRY(finding.row, KeyFields(RowPart(row_key)));
    if (other) {
      KVARTS_TRY(finding.other, KeyFields(*other));
    }
    ++progress_.open;
    return PutFinding(txn_, table_.stored().id, job_.id, finding);
  }

  Result<Bytes> KeyFields(BytesView row_part) const {
    Bytes fields;
    DocumentWriter writer(&fields);
    KVARTS_CHECK_OK(table_.key().Decode(row_part, &writer));
    return fields;
  }

  Status MakeReady() {
    TableInfo::Stored stored = table_.stored();
    const auto index = std::ranges::find(stored.indexes, index_.number, &TableIndex::number);
    index->state = IndexState::kReady;
    index->job.reset();
    return PutTable(txn_, stored);
  }

  BytesView RowPart(BytesView physical_key) const { return physical_key.substr(table_.rows().size()); }

  Txn& txn_;
  const JobRecord& job_;
  const TableInfo& table_;
  const TableIndex& index_;
  Progress progress_;
  JobStep step_;
};

}  // namespace

Result<JobStep> BuildIndexStep(Txn& txn, const JobRecord& job) {
  KVARTS_TRY(const IndexPlace place, IndexPlace::Decode(job.parameters));
  KVARTS_TRY(Progress progress, Progress::Decode(job.cursor));
  KVARTS_TRY(const TablePtr table, ReadTable(txn, place.project, place.dataset, place.table));
  JobStep nothing;
  nothing.finished = true;
  if (table == nullptr) return nothing;
  const auto index = std::ranges::find(table->indexes(), place.index, &TableIndex::number);
  if (index == table->indexes().end() || index->state != IndexState::kBuilding) return nothing;
  return Builder(txn, job, *table, *index, std::move(progress)).Step();
}

}  // namespace kvarts
