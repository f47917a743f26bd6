#include "model/table/retention.h"

#include "base/log.h"
#include "core/fields.h"
#include "core/keyspace.h"
#include "model/table/catalog_rows.h"

namespace kvarts {
namespace {

// Places that one chunk looks at, and tables that it reads at a time.
constexpr int kChunkSeeks = 200;
constexpr size_t kChunkTables = 100;

// Walks over the rows of a table, from one leading part, which is what stands before the time, to the next, and erases
// what is too old in each.
class BucketWalk {
 public:
  BucketWalk(Txn& txn, const TableInfo& table) : txn_(txn), table_(table) {
    const RetentionSpec& retention = *table.spec().retention;
    const KeySpec& key = table.key();
    while (key[field_].name != retention.field) ++field_;
    const uint64_t now = txn.Now().micros;
    const auto keep = static_cast<uint64_t>(table.stored().longest_keep.micros);
    first_kept_ = retention.BucketOf({now - std::min(now, keep)});
  }

  // From `at` on; where to go on, or nothing when that was all. `seeks` is counted down.
  Result<std::optional<Bytes>> Run(Bytes at, int* seeks) {
    KeyRange range = KeyRange::Prefix(table_.rows());
    if (!at.empty()) range.start = std::move(at);
    while (!range.IsEmpty()) {
      if (*seeks <= 0) return range.start;
      *seeks -= 1;
      KVARTS_TRY(const std::optional<Bytes> found, FirstIn(range));
      if (!found) break;
      const Result<Bytes> leading = LeadingOf(*found);
      if (!leading.has_value()) {
        // What is no row does not stop what is done with the others; a verification names it.
        range.start = KeyAfter(*found);
        continue;
      }
      KVARTS_CHECK_OK(EraseOld(*leading, seeks));
      range.start = PrefixEnd(*leading);
    }
    return std::optional<Bytes>();
  }

  // Once it is done for sure, says what went; nothing if that is nothing.
  void LogWhatGoes() const {
    if (erased_ == 0) return;
    txn_.AfterCommit([name = table_.stored().name, before = first_kept_.ToString(), ranges = erased_](Version) {
      Log(LogLevel::kInfo, "retention has erased rows that are too old",
          {{"table", name}, {"before", before}, {"ranges", ranges}});
    });
  }

 private:
  const KeyField& field() const { return table_.key()[field_]; }
  bool in_partition() const { return field_ < table_.key().partition.size(); }

  // The first key of a range that is stored, expired or not. What is put meanwhile into a bucket that is not kept is
  // expired, too: the commit need not rest on what was seen.
  Result<std::optional<Bytes>> FirstIn(const KeyRange& range) {
    ScanRequest request;
    request.range = range;
    request.keys_only = true;
    request.max_entries = 1;
    request.options.expired_too = true;
    KVARTS_TRY(const ScanPage page, txn_.PeekScan(request));
    if (page.empty()) return std::optional<Bytes>();
    return std::optional<Bytes>(page[0].key);
  }

  // What stands before the time.
  Result<Bytes> LeadingOf(BytesView key) const {
    const BytesView row_key = key.substr(table_.rows().size());
    TupleReader reader(row_key);
    size_t before = field_;
    if (in_partition()) {
      KVARTS_CHECK_OK(reader.EnterTuple());
    } else {
      KVARTS_CHECK_OK(reader.Skip());
      before -= table_.key().partition.size();
    }
    for (; before > 0; --before) KVARTS_CHECK_OK(reader.Skip());
    return Bytes(key.substr(0, table_.rows().size() + reader.position()));
  }

  // Of the keys that begin with `leading`, those with a time that is not kept.
  KeyRange OldOf(BytesView leading) const {
    KeyBuffer bound;
    bound.append(leading);
    TupleWriter<KeyBuffer>(&bound).Time(first_kept_, field().order);
    if (field().order == Order::kAscending) return {Bytes(leading), Bytes(bound.view())};
    return {PrefixEnd(bound), PrefixEnd(leading)};
  }

  Status EraseOld(BytesView leading, int* seeks) {
    const KeyRange old = OldOf(leading);
    *seeks -= 1;
    KVARTS_TRY(const std::optional<Bytes> found, FirstIn(old));
    if (!found) return {};
    Erase(old);
    ++erased_;
    if (!in_partition()) return {};
    for (const TableIndex& index : table_.indexes()) {
      if (!index.spec.local) continue;
      Erase(OldOf(Bytes(index.prefix) + Bytes(leading.substr(table_.rows().size()))));
    }
    return {};
  }

  // With its files, where they hold nothing else.
  void Erase(const KeyRange& range) {
    Mutation erase = Mutation::EraseRange(range.start, range.end);
    erase.reclaim = true;
    txn_.Apply(std::move(erase));
  }

  Txn& txn_;
  const TableInfo& table_;
  size_t field_ = 0;      // of the key: which one has the time
  Timestamp first_kept_;  // the earliest time of which rows are kept
  uint64_t erased_ = 0;   // leading parts
};

// How far the job is: a table, and a place among its rows.
struct Progress {
  Bytes table;
  Bytes at;

  Bytes Encode() const {
    Bytes bytes;
    AppendSized(&bytes, table);
    AppendSized(&bytes, at);
    return bytes;
  }
  static Result<Progress> Decode(BytesView bytes) {
    Progress progress;
    if (bytes.empty()) return progress;
    FieldReader fields(bytes);
    progress.table = fields.Sized();
    progress.at = fields.Sized();
    KVARTS_CHECK_OK(fields.Finish("the progress of a job is damaged"));
    return progress;
  }
};

}  // namespace

Result<JobStep> RetentionStep(Txn& txn, const JobRecord& job) {
  KVARTS_TRY(Progress progress, Progress::Decode(job.cursor));
  KVARTS_TRY(const TablesPage page, ReadTables(txn, progress.table, kChunkTables));
  JobStep step;
  int seeks = kChunkSeeks;
  for (size_t i = 0; i < page.tables.size(); ++i) {
    const TableInfo& table = *page.tables[i];
    // The place is one of the table at which the job stopped.
    Bytes at = page.places[i] == progress.table ? std::move(progress.at) : Bytes();
    if (!table.spec().retention) continue;
    BucketWalk walk(txn, table);
    KVARTS_TRY(const std::optional<Bytes> rest, walk.Run(std::move(at), &seeks));
    walk.LogWhatGoes();
    if (!rest) continue;
    step.cursor = Progress{page.places[i], *rest}.Encode();
    step.done = kChunkSeeks;
    return step;
  }
  step.done = static_cast<uint64_t>(kChunkSeeks - seeks);
  step.finished = !page.rest.has_value();
  if (page.rest) step.cursor = Progress{*page.rest, {}}.Encode();
  return step;
}

}  // namespace kvarts
