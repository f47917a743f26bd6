// The jobs that mend the indexes of a table, and that take such a repair back.
//
// A repair goes by the findings of a verification, or walks over everything itself. Of each entry that something was
// found about it reads what is there and what the rows say now, mends what is still wrong, and writes into _journal
// what was there and what it left: all in one commit. Rows are never touched. What cannot be mended stays as it is and
// is listed in _findings, under the repair: a row that is damaged or refused, two rows with one value in a unique
// index, and what is too large for a commit together with its journal.
//
// An undo walks the journal backwards, and puts back what was there wherever the entry still is what the repair left.
// What it has put back is struck out of the journal.
#pragma once

#include "core/job_runner.h"

namespace kvarts {

// One chunk of each job (table_jobs.h).
Result<JobStep> RepairStep(Txn& txn, const JobRecord& job);
Result<JobStep> UndoStep(Txn& txn, const JobRecord& job);

// How far they are, and in the end what they did. `corruption` when the progress of the job is none.
struct RepairReport {
  uint64_t mended = 0;
  uint64_t sound = 0;  // findings of which nothing was wrong any more
  uint64_t left = 0;   // what could not be mended
  uint64_t kept = 0;   // of these, those in _findings
};
Result<RepairReport> ReadRepairReport(const JobRecord& job);

struct UndoReport {
  uint64_t undone = 0;
  uint64_t left = 0;  // entries that were changed since, or whose index is gone
};
Result<UndoReport> ReadUndoReport(const JobRecord& job);

}  // namespace kvarts
