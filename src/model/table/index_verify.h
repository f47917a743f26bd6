// The job that verifies the indexes of a table: a walk over everything (drift_walk.h) that puts down what it finds as
// rows of _findings. It changes nothing else, and may be started, paused and resumed at any time.
//
// Of more than kMaxFindings it keeps the first, and counts all.
#pragma once

#include <array>

#include "core/job_runner.h"
#include "model/table/drift.h"

namespace kvarts {

// One chunk of the job (table_jobs.h).
Result<JobStep> VerifyStep(Txn& txn, const JobRecord& job);

// How far it is, and in the end what it has found.
struct VerifyReport {
  uint64_t rows = 0;
  uint64_t entries = 0;
  std::array<uint64_t, kDriftKinds> found = {};  // by kind
  uint64_t kept = 0;                             // of these, those in _findings

  uint64_t Found(DriftKind kind) const { return found[static_cast<size_t>(kind)]; }
  uint64_t Found() const;
};
// Of a job of this kind; `corruption` when its progress is none.
Result<VerifyReport> ReadVerifyReport(const JobRecord& job);

}  // namespace kvarts
