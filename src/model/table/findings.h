// What a build, a verification or a repair has found about a table, as rows of _findings: each with its kind
// (drift.h), the index, and the row or entry that it is about.
#pragma once

#include <string>
#include <vector>

#include "core/job_record.h"
#include "core/txn.h"
#include "model/table/drift.h"
#include "model/table/ids.h"

namespace kvarts {

struct Finding {
  uint64_t number = 0;  // within its job
  std::string kind;
  std::string index;
  Bytes row;    // a document: the fields of the row's key; empty when none is known
  Bytes other;  // of the row that has the place, if there is one
  // Of a verification and a repair. The states are documents, for people: their values are cut off behind
  // kShownBytes.
  Bytes key = {};       // physical: of the entry, or of the row when it is the row that is wrong
  Bytes there = {};     // the state that was found under it; empty: nothing
  Bytes expected = {};  // the state that should be; empty: nothing

  static constexpr size_t kShownBytes = 1024;

  static Finding Of(const TableInfo& table, const Drift& drift, uint64_t number);
};

// Of a verification or a repair they expire (job_rows.h); those of a build go when they are resolved.
Status PutFinding(Txn& txn, TableId table, JobId job, const Finding& finding);
Status EraseFinding(Txn& txn, TableId table, JobId job, uint64_t number);
void EraseFindings(Txn& txn, TableId table, JobId job);
// All of a job, in their order; there are at most kMaxFindings at a time, and one chunk more.
Result<std::vector<Finding>> ReadFindings(Txn& txn, TableId table, JobId job);
// Those from a number on, at most `limit`. The commit does not rest on them.
Result<std::vector<Finding>> PeekFindings(Txn& txn, TableId table, JobId job, uint64_t from, size_t limit);

}  // namespace kvarts
