#include "model/table/index_verify.h"

#include <numeric>
#include <set>

#include "core/fields.h"
#include "model/table/drift_job.h"
#include "model/table/drift_walk.h"
#include "model/table/findings.h"
#include "model/table/table_jobs.h"

namespace kvarts {
namespace {

struct Progress {
  WalkPlace place;
  VerifyReport report;

  Bytes Encode() const {
    Bytes bytes;
    place.AppendTo(&bytes);
    for (const uint64_t count : {report.rows, report.entries, report.kept}) AppendVarint(&bytes, count);
    for (const uint64_t count : report.found) AppendVarint(&bytes, count);
    return bytes;
  }
  static Result<Progress> Decode(BytesView bytes) {
    Progress progress;
    if (bytes.empty()) return progress;
    FieldReader fields(bytes);
    progress.place = WalkPlace::Take(&fields);
    for (uint64_t* count : {&progress.report.rows, &progress.report.entries, &progress.report.kept}) {
      *count = fields.Varint();
    }
    for (uint64_t& count : progress.report.found) count = fields.Varint();
    KVARTS_CHECK_OK(fields.Finish("the progress of a job is damaged"));
    return progress;
  }
};

class Verifier {
 public:
  Verifier(Txn& txn, const JobRecord& job, const TableInfo& table, Progress* progress)
      : txn_(txn), job_(job), table_(table), report_(progress->report) {}

  Status Note(const Drift& drift) {
    KVARTS_TRY(const bool named, IsNamed(drift));
    if (named) return {};
    ++report_.found[static_cast<size_t>(drift.kind)];
    if (report_.kept >= kMaxFindings) return {};
    return PutFinding(txn_, table_.stored().id, job_.id, Finding::Of(table_, drift, report_.kept++));
  }

 private:
  // An entry of a unique index that names another row than it should is met twice: by the row that it should name, and
  // by itself.
  Result<bool> IsNamed(const Drift& drift) {
    const bool met_by_itself = drift.kind == DriftKind::kSpurious || drift.kind == DriftKind::kDamaged;
    if (!met_by_itself || drift.expected || drift.index == nullptr || !drift.index->spec.unique) return false;
    if (!named_) {
      named_.emplace();
      for (uint64_t from = 0; from < report_.kept;) {
        KVARTS_TRY(const std::vector<Finding> findings,
                   PeekFindings(txn_, table_.stored().id, job_.id, from, kMaxFindings));
        if (findings.empty()) break;
        for (const Finding& finding : findings) named_->insert(finding.key);
        from = findings.back().number + 1;
      }
    }
    return named_->contains(drift.key);
  }

  Txn& txn_;
  const JobRecord& job_;
  const TableInfo& table_;
  VerifyReport& report_;
  std::optional<std::set<Bytes>> named_;
};

}  // namespace

uint64_t VerifyReport::Found() const { return std::accumulate(found.begin(), found.end(), uint64_t{0}); }

Result<VerifyReport> ReadVerifyReport(const JobRecord& job) {
  KVARTS_TRY(const Progress progress, Progress::Decode(job.cursor));
  return progress.report;
}

Result<JobStep> VerifyStep(Txn& txn, const JobRecord& job) {
  KVARTS_TRY(const DriftJob about, DriftJob::Decode(job.parameters));
  KVARTS_TRY(Progress progress, Progress::Decode(job.cursor));
  KVARTS_TRY(const TablePtr table, about.ReadTable(txn));
  JobStep step;
  step.finished = table == nullptr;
  if (table != nullptr) {
    Verifier verifier(txn, job, *table, &progress);
    DriftWalk walk(txn, *table, about.indexes, [&](const Drift& drift) { return verifier.Note(drift); });
    KVARTS_TRY(const WalkStep walked, walk.Walk(&progress.place));
    progress.report.rows += walked.rows;
    progress.report.entries += walked.entries;
    step.done = walked.rows + walked.entries;
    step.finished = walked.finished;
  }
  if (step.finished) step.total = job.done + step.done;
  step.cursor = progress.Encode();
  return step;
}

}  // namespace kvarts
