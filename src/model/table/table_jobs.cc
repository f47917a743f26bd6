#include "model/table/table_jobs.h"

#include <algorithm>

#include "base/log.h"
#include "core/expiry.h"
#include "core/fields.h"
#include "core/keyspace.h"
#include "encoding/tuple_text.h"
#include "model/table/catalog_rows.h"
#include "model/table/index_build.h"
#include "model/table/index_repair.h"
#include "model/table/index_verify.h"
#include "model/table/job_rows.h"
#include "model/table/retention.h"
#include "model/table/rows.h"
#include "model/table/system_tables.h"

namespace kvarts {
namespace {

constexpr const char* kDamaged = "the parameters of a job are damaged";
constexpr const char* kTableErase = "table_erase";
constexpr const char* kIndexBuild = "index_build";
constexpr const char* kIndexDrop = "index_drop";
constexpr const char* kRowExpiry = "row_expiry";
constexpr const char* kTableRetention = "table_retention";

// Keys erased in one commit where erasing a range costs as much as what is in it.
constexpr size_t kEraseChunkKeys = 5000;
// Expired rows that one commit takes away.
constexpr size_t kExpiryChunkRows = 200;
// While rows expire there is one such job after the other: they are not kept for people to look at for long.
constexpr Duration kKeepExpiryJobs = Duration::Seconds(600);

Uuid TakeUuid(FieldReader* fields) {
  Uuid id;
  const BytesView bytes = fields->Raw(id.bytes.size());
  std::copy(bytes.begin(), bytes.end(), id.bytes.begin());
  return id;
}

// Erases a range, or the next part of it. Where that costs nothing it goes in one piece, with its files.
Result<JobStep> EraseSome(Txn& txn, KeyRange range, bool whole) {
  JobStep step;
  step.finished = true;
  if (!whole) {
    ScanRequest request;
    request.range = range;
    request.keys_only = true;
    request.max_entries = kEraseChunkKeys;
    request.options.expired_too = true;
    KVARTS_TRY(const ScanPage page, txn.Scan(request));
    step.done = page.size();
    if (page.rest()) {
      step.finished = false;
      step.cursor = page.rest()->start;
      range.end = page.rest()->start;
    }
  }
  Mutation erase = Mutation::EraseRange(range.start, range.end);
  erase.reclaim = whole;
  txn.Apply(std::move(erase));
  return step;
}

// A total that was an estimate gives way to what there was.
Result<JobStep> Counted(const JobRecord& job, Result<JobStep> step) {
  if (step.has_value() && step->finished && job.total) step->total = job.done + step->done;
  return step;
}

Result<JobStep> EraseTableStep(Txn& txn, const JobRecord& job, bool whole) {
  // Ranges in their order, one behind the other; the cursor is in one of them, or where one ended.
  BytesView left = job.parameters;
  do {
    FieldReader fields(left);
    KeyRange range;
    range.start = fields.Sized();
    range.end = fields.Sized();
    left = fields.Rest();
    KVARTS_CHECK_OK(fields.Finish(kDamaged));
    range.start = std::max(range.start, job.cursor);
    if (range.IsEmpty()) continue;
    const Bytes end = range.end;
    KVARTS_TRY(JobStep step, EraseSome(txn, std::move(range), whole));
    if (step.finished && !left.empty()) {
      step.finished = false;
      step.cursor = end;
    }
    return step;
  } while (!left.empty());
  JobStep nothing;
  nothing.finished = true;
  return nothing;
}

Result<JobStep> DropIndexStep(Txn& txn, const JobRecord& job, bool whole) {
  KVARTS_TRY(const IndexPlace place, IndexPlace::Decode(job.parameters));
  KVARTS_TRY(const TablePtr table, ReadTable(txn, place.project, place.dataset, place.table));
  JobStep nothing;
  nothing.finished = true;
  if (table == nullptr) return nothing;  // it goes with its table
  TableInfo::Stored stored = table->stored();
  const auto index = std::ranges::find(stored.indexes, place.index, &TableIndex::number);
  if (index == stored.indexes.end()) return nothing;
  KeyRange range = KeyRange::Prefix(index->prefix);
  if (!job.cursor.empty()) range.start = job.cursor;
  KVARTS_TRY(JobStep step, EraseSome(txn, std::move(range), whole));
  if (!step.finished) return step;
  stored.indexes.erase(index);
  KVARTS_CHECK_OK(PutTable(txn, stored));
  return step;
}

// The number of the table to which a key belongs.
Result<TableNumber> TableOf(BytesView key) {
  TupleReader reader(key);
  KVARTS_TRY([[maybe_unused]] const int64_t space, reader.TakeInt());
  KVARTS_TRY(const uint64_t number, reader.TakeUint());
  return TableNumber{number};
}

void LogUnread(Txn& txn, const char* text, BytesView key) {
  txn.AfterCommit([text, key = TupleToString(key)](Version) { Log(LogLevel::kWarning, text, {{"key", key}}); });
}

// Nothing that is in its way stops it: what is not of a table is passed over, and left to whoever has it.
Result<JobStep> ExpiryStep(Txn& txn, const JobRecord& job) {
  KVARTS_TRY(DuePage page, FindDueOwned(txn, kExpiryChunkRows, job.cursor));
  JobStep step;
  step.finished = !page.next;
  if (page.next) step.cursor = *std::move(page.next);
  TablePtr table;
  static const KeyRange kRows = SpaceRange(Space::kTables);
  for (const DueOwned& due : page.due) {
    if (!kRows.Contains(due.key)) continue;
    // A row may have many entries, and a commit holds only so much.
    if (txn.mutations().size() > txn.limits().max_commit_operations / 4) {
      step.finished = false;
      step.cursor = due.entry;
      break;
    }
    const Result<TableNumber> number = TableOf(due.key);
    if (!number.has_value()) {
      table = nullptr;
    } else if (table == nullptr || table->stored().number != *number) {
      Result<TablePtr> read = ReadTable(txn, *number);
      if (!read.has_value() && read.error().code() != ErrorCode::kCorruption) return read.error();
      if (!read.has_value()) {
        LogUnread(txn, "an expired row stays stored, as its table cannot be read", due.key);
        continue;
      }
      table = *std::move(read);
    }
    if (table == nullptr) {
      txn.Erase(due.key);
    } else {
      KVARTS_TRY(const bool readable, RowWriter(txn, *table).RemoveExpired(due.key, due.record));
      if (!readable) LogUnread(txn, "an expired row was damaged; it was taken away by itself", due.key);
    }
    txn.Erase(due.entry);
    ++step.done;
  }
  for (const Bytes& key : page.unreadable) LogUnread(txn, "an expired value cannot be read; it stays stored", key);
  return step;
}

}  // namespace

Bytes IndexPlace::Encode() const {
  Bytes bytes;
  for (const Uuid* id : {&project.uuid, &dataset.uuid, &table.uuid}) bytes.append(id->bytes.begin(), id->bytes.end());
  AppendVarint(&bytes, index.value);
  return bytes;
}

Result<IndexPlace> IndexPlace::Decode(BytesView parameters) {
  FieldReader fields(parameters);
  IndexPlace place;
  place.project.uuid = TakeUuid(&fields);
  place.dataset.uuid = TakeUuid(&fields);
  place.table.uuid = TakeUuid(&fields);
  place.index = {fields.Varint()};
  KVARTS_CHECK_OK(fields.Finish(kDamaged));
  return place;
}

std::optional<IndexPlace> PlaceOfJob(const JobRecord& job) {
  if (job.kind == kIndexBuild || job.kind == kIndexDrop) {
    const Result<IndexPlace> place = IndexPlace::Decode(job.parameters);
    return place.has_value() ? std::optional(*place) : std::nullopt;
  }
  if (job.kind != kTableVerify && job.kind != kTableRepair && job.kind != kTableUndo) return std::nullopt;
  const Result<DriftJob> about = DriftJob::Decode(job.parameters);
  if (!about.has_value()) return std::nullopt;
  return IndexPlace{about->project, about->dataset, about->table, kRowsNumber};
}

JobSpec TableEraseJob(const TableInfo& table, std::optional<uint64_t> total) {
  JobSpec spec;
  spec.kind = kTableErase;
  spec.total = total;
  const TableId id = table.stored().id;
  for (const KeyRange& range :
       {JobRows::RangeOf(*FindingsTable(), id), JobRows::RangeOf(*JournalTable(), id), table.range()}) {
    AppendSized(&spec.parameters, range.start);
    AppendSized(&spec.parameters, range.end);
  }
  return spec;
}

JobSpec IndexBuildJob(const TableInfo::Stored& table, const TableIndex& index, uint32_t throttle,
                      std::optional<uint64_t> total) {
  JobSpec spec;
  spec.kind = kIndexBuild;
  spec.total = total;
  spec.parameters = IndexPlace{table.project, table.dataset, table.id, index.number}.Encode();
  spec.throttle = throttle;
  return spec;
}

JobSpec IndexDropJob(const TableInfo::Stored& table, const TableIndex& index, std::optional<uint64_t> total) {
  JobSpec spec;
  spec.total = total;
  spec.kind = kIndexDrop;
  spec.parameters = IndexPlace{table.project, table.dataset, table.id, index.number}.Encode();
  return spec;
}

JobSpec RowExpiryJob() {
  JobSpec spec;
  spec.kind = kRowExpiry;
  return spec;
}

JobSpec TableRetentionJob() {
  JobSpec spec;
  spec.kind = kTableRetention;
  return spec;
}

JobSpec TableVerifyJob(const DriftJob& job, uint32_t throttle, std::optional<uint64_t> total) {
  return {kTableVerify, job.Encode(), throttle, total};
}

JobSpec TableRepairJob(const DriftJob& job, uint32_t throttle, std::optional<uint64_t> total) {
  return {kTableRepair, job.Encode(), throttle, total};
}

JobSpec TableUndoJob(const DriftJob& job) { return {.kind = kTableUndo, .parameters = job.Encode()}; }

std::vector<JobKind> TableJobKinds(Store& store) {
  // Where other processes write, a range is erased row by row, in one statement.
  const bool whole = !store.engine().capabilities().shared;
  return {
      {kTableErase, [whole](Txn& txn, const JobRecord& job) { return Counted(job, EraseTableStep(txn, job, whole)); }},
      {kIndexDrop, [whole](Txn& txn, const JobRecord& job) { return Counted(job, DropIndexStep(txn, job, whole)); }},
      {kIndexBuild, [](Txn& txn, const JobRecord& job) { return Counted(job, BuildIndexStep(txn, job)); }},
      {kTableVerify, VerifyStep},
      {kTableRepair, RepairStep},
      {kTableUndo, UndoStep},
      {kRowExpiry, ExpiryStep, kKeepExpiryJobs},
      {kTableRetention, RetentionStep},
  };
}

}  // namespace kvarts
