#include "model/table/index_build.h"

#include <algorithm>
#include <map>

#include "core/fields.h"
#include "encoding/document_json.h"
#include "model/table/catalog_rows.h"
#include "model/table/drift.h"
#include "model/table/findings.h"
#include "model/table/rows.h"
#include "model/table/table_jobs.h"

namespace kvarts {
namespace {

// Rows of one chunk: enough that a commit costs little for each, few enough that one can be run again where nothing
// changes under it. Where they have many entries, or large ones, it ends before these.
constexpr size_t kBuildChunkRows = 500;

// How much of a commit the entries of a chunk are.
class Load {
 public:
  Load(const Limits& limits, const TableIndex& index) : limits_(limits), index_(index) {}

  // False when the chunk is to end before them. What it leaves of the commit is for what feeds say of it all, and for
  // the job; a row by itself may have more.
  bool Take(const std::vector<IndexEntry>& entries) {
    EntryLoad more = taken_;
    more.Add(index_, entries);
    const bool fits =
        more.operations <= limits_.max_commit_operations / 4 && more.bytes <= limits_.max_commit_bytes / 4;
    if (!fits && taken_.operations != 0) return false;
    taken_ = more;
    return true;
  }

 private:
  const Limits& limits_;
  const TableIndex& index_;
  EntryLoad taken_;
};

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
      : txn_(txn),
        job_(job),
        table_(table),
        index_(index),
        progress_(std::move(progress)),
        load_(txn.limits(), index) {}

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
      const std::optional<DocumentView> row = ReadableRow(table_, RowPart(page[i].key), page[i].value);
      std::optional<std::vector<IndexEntry>> entries;
      if (row) entries = EntriesFor(page[i].key, *row);
      if (entries && !load_.Take(*entries)) {
        progress_.next = page[i].key;
        break;
      }
      ++step_.done;
      if (entries) {
        rows.push_back({page[i].key, page[i].header.expiry, *std::move(entries)});
      } else {
        KVARTS_CHECK_OK(Note(row ? "refused" : "damaged", page[i].key, std::nullopt));
      }
    }
    KVARTS_CHECK_OK(PutAll(rows));
    if (step_.done < page.size()) return {};
    progress_.scanned = !page.rest().has_value();
    if (page.rest()) progress_.next = page.rest()->start;
    return {};
  }

  // Nothing of a row that the index cannot take.
  std::optional<std::vector<IndexEntry>> EntriesFor(BytesView key, const DocumentView& row) const {
    Result<std::vector<IndexEntry>> entries = EntriesOf(table_, index_, RowPart(key), row);
    if (!entries.has_value() || !CanBePut(txn_.limits(), index_, *entries)) return std::nullopt;
    return *std::move(entries);
  }

  // Puts the entries, but those of a unique index that another row has.
  Status PutAll(const std::vector<Row>& rows) {
    std::map<BytesView, BytesView> taken;  // entries of a unique index to the keys of their rows, behind rows()
    std::vector<std::optional<Record>> found;
    if (index_.spec.unique) KVARTS_CHECK_OK(FindTaken(rows, &found, &taken));
    for (const Row& row : rows) {
      std::optional<BytesView> in_the_way;  // the first row that has an entry of it
      for (const IndexEntry& entry : row.entries) {
        if (index_.spec.unique) {
          const auto [other, is_free] = taken.try_emplace(entry.key, RowPart(row.key));
          if (!is_free && other->second != RowPart(row.key)) {
            if (!in_the_way) in_the_way = other->second;
            continue;
          }
        }
        txn_.Put(entry.key, entry.value, {.expiry = row.expiry});
      }
      // Once, however many they are: a row is looked at again as a whole.
      if (in_the_way) KVARTS_CHECK_OK(Note("duplicate", row.key, in_the_way));
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

  // Rows that were in the way may have been changed since, and with them their entries; or they still are. What is left
  // is looked at by the next chunk, until one finds none that is not in the way any more.
  Status LookAgain() {
    const uint64_t open_before = progress_.open;
    KVARTS_TRY(const std::vector<Finding> findings, ReadFindings(txn_, table_.stored().id, job_.id));
    for (const Finding& finding : findings) {
      KVARTS_TRY(const Again again, TryAgain(finding));
      if (again == Again::kLater) break;
      if (again == Again::kInTheWay) continue;
      KVARTS_CHECK_OK(EraseFinding(txn_, table_.stored().id, job_.id, finding.number));
      --progress_.open;
    }
    if (progress_.open < open_before) return {};
    return Error(ErrorCode::kPreconditionFailed,
                 "rows are in the way of the index; it is built on when they are changed and the job is resumed",
                 {{"index", index_.spec.name}, {"rows", std::to_string(progress_.open)}});
  }

  enum class Again : uint8_t { kFree, kInTheWay, kLater };
  Result<Again> TryAgain(const Finding& finding) {
    const DocumentView key_fields(finding.row);
    KVARTS_TRY(const KeyBuffer key, RowKeyOf(table_, key_fields));
    KVARTS_TRY(const std::optional<Record> record, txn_.Get(key));
    if (!record) return Again::kFree;
    const std::optional<DocumentView> row = ReadableRow(table_, RowPart(key), record->value);
    if (!row) return Again::kInTheWay;
    const std::optional<std::vector<IndexEntry>> entries = EntriesFor(key, *row);
    if (!entries) return Again::kInTheWay;
    std::vector<BytesView> keys;
    for (const IndexEntry& entry : *entries) keys.push_back(entry.key);
    std::vector<std::optional<Record>> there(keys.size());
    const bool asks = index_.spec.unique && !keys.empty();
    if (asks) {
      // What stays in the way is nothing to rest on.
      KVARTS_CHECK_OK(txn_.PeekMany(keys, there));
      const auto is_anothers = [&](const std::optional<Record>& record_there) {
        return record_there && FieldReader(record_there->value).Sized() != RowPart(key);
      };
      if (std::ranges::any_of(there, is_anothers)) return Again::kInTheWay;
    }
    if (!load_.Take(*entries)) return Again::kLater;
    if (asks) KVARTS_CHECK_OK(txn_.GetMany(keys, there));
    for (const IndexEntry& entry : *entries) txn_.Put(entry.key, entry.value, {.expiry = record->header.expiry});
    return Again::kFree;
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
    Bytes fields = RowFields(table_, row_part);
    if (!fields.empty()) return fields;
    return Error(ErrorCode::kCorruption, "the key of a row is damaged",
                 {{"table", table_.stored().name}, {"key", Escaped(row_part)}});
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
  Load load_;
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
