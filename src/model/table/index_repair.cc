#include "model/table/index_repair.h"

#include <limits>

#include "core/fields.h"
#include "model/table/drift_job.h"
#include "model/table/drift_walk.h"
#include "model/table/findings.h"
#include "model/table/journal.h"
#include "model/table/rows.h"
#include "model/table/table_jobs.h"

namespace kvarts {
namespace {

constexpr const char* kDamaged = "the progress of a job is damaged";
// Findings, or entries of the journal, of one chunk; and when it has written so much it ends earlier.
constexpr size_t kChunk = 200;
constexpr size_t kChunkBytes = 8 << 20;

struct RepairProgress {
  WalkPlace place;       // of a walk
  uint64_t finding = 0;  // else the number of the next one
  uint64_t journal = 0;  // numbers given so far
  RepairReport report;

  Bytes Encode() const {
    Bytes bytes;
    place.AppendTo(&bytes);
    for (const uint64_t count : {finding, journal, report.mended, report.sound, report.left, report.kept}) {
      AppendVarint(&bytes, count);
    }
    return bytes;
  }
  static Result<RepairProgress> Decode(BytesView bytes) {
    RepairProgress progress;
    if (bytes.empty()) return progress;
    FieldReader fields(bytes);
    progress.place = WalkPlace::Take(&fields);
    RepairReport& report = progress.report;
    for (uint64_t* count :
         {&progress.finding, &progress.journal, &report.mended, &report.sound, &report.left, &report.kept}) {
      *count = fields.Varint();
    }
    KVARTS_CHECK_OK(fields.Finish(kDamaged));
    return progress;
  }
};

class Mender {
 public:
  Mender(Txn& txn, const JobRecord& job, const TableInfo& table, RepairProgress* progress)
      : txn_(txn), job_(job), table_(table), progress_(*progress) {}

  Status Mend(const Drift& drift) {
    const bool of_entry = drift.index != nullptr && drift.kind != DriftKind::kRefused;
    if (!of_entry || drift.kind == DriftKind::kDuplicate) return Leave(drift);
    JournalEntry entry;
    entry.number = progress_.journal;
    entry.index = drift.index->spec.name;
    entry.kind = DriftKindName(drift.kind);
    entry.key = drift.key;
    entry.before = drift.there;
    entry.after = drift.expected;
    if (!Fits(entry)) return Leave(drift);
    KVARTS_CHECK_OK(PutJournalEntry(txn_, table_.stored().id, job_.id, entry));
    if (drift.expected) {
      txn_.Apply(drift.expected->PutAt(drift.key));
    } else {
      txn_.Erase(drift.key);
    }
    ++progress_.journal;
    ++progress_.report.mended;
    return {};
  }

  // The findings from where it is on; false when there are no more.
  Result<bool> MendFindings(JobId of) {
    KVARTS_TRY(const std::vector<Finding> findings,
               PeekFindings(txn_, table_.stored().id, of, progress_.finding, kChunk));
    for (const Finding& finding : findings) {
      if (txn_.cost().bytes_written >= kChunkBytes) break;
      KVARTS_TRY(const std::optional<Drift> drift, LookAgain(finding));
      if (drift) {
        KVARTS_CHECK_OK(Mend(*drift));
      } else {
        ++progress_.report.sound;
      }
      progress_.finding = finding.number + 1;
    }
    return !findings.empty();
  }

 private:
  // What is wrong now with what a finding is about.
  Result<std::optional<Drift>> LookAgain(const Finding& finding) {
    if (BytesView(finding.key).starts_with(table_.rows())) {
      return JudgeRow(txn_, table_, table_.IndexNamed(finding.index), finding.key);
    }
    const TableIndex* const index = IndexOfKey(table_, finding.key);
    if (index == nullptr) return std::nullopt;  // it was dropped
    if (finding.row.empty()) return JudgeEntry(txn_, table_, *index, finding.key, std::nullopt);
    KVARTS_TRY(const KeyBuffer row_key, RowKeyOf(table_, DocumentView(finding.row)));
    return JudgeEntry(txn_, table_, *index, finding.key, row_key.view().substr(table_.rows().size()));
  }

  // Whether the journal can take it, and the commit with all that is in it.
  bool Fits(const JournalEntry& entry) {
    const Limits& limits = txn_.limits();
    const size_t put = entry.after ? entry.after->value.size() : 0;
    return entry.bytes() <= limits.max_value_bytes &&
           txn_.cost().bytes_written + entry.bytes() + entry.key.size() + put <= limits.max_commit_bytes / 2;
  }

  Status Leave(const Drift& drift) {
    ++progress_.report.left;
    if (progress_.report.kept >= kMaxFindings) return {};
    return PutFinding(txn_, table_.stored().id, job_.id, Finding::Of(table_, drift, progress_.report.kept++));
  }

  Txn& txn_;
  const JobRecord& job_;
  const TableInfo& table_;
  RepairProgress& progress_;
};

struct UndoProgress {
  uint64_t below = std::numeric_limits<int64_t>::max();  // of the journal, what is still to be done
  UndoReport report;

  Bytes Encode() const {
    Bytes bytes;
    for (const uint64_t count : {below, report.undone, report.left}) AppendVarint(&bytes, count);
    return bytes;
  }
  static Result<UndoProgress> Decode(BytesView bytes) {
    UndoProgress progress;
    if (bytes.empty()) return progress;
    FieldReader fields(bytes);
    progress.below = fields.Varint(std::numeric_limits<int64_t>::max());
    progress.report.undone = fields.Varint();
    progress.report.left = fields.Varint();
    KVARTS_CHECK_OK(fields.Finish(kDamaged));
    return progress;
  }
};

// Puts back what was there before one change; false when something else is there by now.
Result<bool> Undo(Txn& txn, const TableInfo& table, const JournalEntry& entry) {
  if (IndexOfKey(table, entry.key) == nullptr) return false;
  KVARTS_TRY(const std::optional<Record> record, txn.Get(entry.key));
  if (EntryState::Of(record) != entry.after) return false;
  if (entry.before) {
    txn.Apply(entry.before->PutAt(entry.key));
  } else {
    txn.Erase(entry.key);
  }
  return true;
}

}  // namespace

Result<RepairReport> ReadRepairReport(const JobRecord& job) {
  KVARTS_TRY(const RepairProgress progress, RepairProgress::Decode(job.cursor));
  return progress.report;
}

Result<UndoReport> ReadUndoReport(const JobRecord& job) {
  KVARTS_TRY(const UndoProgress progress, UndoProgress::Decode(job.cursor));
  return progress.report;
}

Result<JobStep> RepairStep(Txn& txn, const JobRecord& job) {
  KVARTS_TRY(const DriftJob about, DriftJob::Decode(job.parameters));
  KVARTS_TRY(RepairProgress progress, RepairProgress::Decode(job.cursor));
  KVARTS_TRY(const TablePtr table, about.ReadTable(txn));
  JobStep step;
  if (table == nullptr) {
    step.finished = true;
  } else if (about.of) {
    const uint64_t from = progress.finding;
    KVARTS_TRY(const bool more, Mender(txn, job, *table, &progress).MendFindings(*about.of));
    step.done = progress.finding - from;
    step.finished = !more;
  } else {
    Mender mender(txn, job, *table, &progress);
    DriftWalk walk(txn, *table, about.indexes, [&](const Drift& drift) { return mender.Mend(drift); });
    KVARTS_TRY(const WalkStep walked, walk.Walk(&progress.place));
    step.done = walked.rows + walked.entries;
    step.finished = walked.finished;
  }
  if (step.finished) step.total = job.done + step.done;
  step.cursor = progress.Encode();
  return step;
}

Result<JobStep> UndoStep(Txn& txn, const JobRecord& job) {
  KVARTS_TRY(const DriftJob about, DriftJob::Decode(job.parameters));
  KVARTS_TRY(UndoProgress progress, UndoProgress::Decode(job.cursor));
  KVARTS_TRY(const TablePtr table, about.ReadTable(txn));
  JobStep step;
  step.finished = true;
  if (table != nullptr && about.of) {
    KVARTS_TRY(const std::vector<JournalEntry> entries,
               ReadJournalBackwards(txn, about.table, *about.of, progress.below, kChunk));
    for (const JournalEntry& entry : entries) {
      KVARTS_TRY(const bool undone, Undo(txn, *table, entry));
      if (undone) KVARTS_CHECK_OK(EraseJournalEntry(txn, about.table, *about.of, entry.number));
      ++(undone ? progress.report.undone : progress.report.left);
      progress.below = entry.number;
    }
    step.done = entries.size();
    step.finished = entries.empty();
  }
  if (step.finished) step.total = job.done + step.done;
  step.cursor = progress.Encode();
  return step;
}

}  // namespace kvarts
