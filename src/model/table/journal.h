// What a repair has changed, as rows of _journal: of every entry, what was there and what it left. By that it can be
// undone, for as long as the rows are kept (job_rows.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/job_record.h"
#include "core/txn.h"
#include "model/table/entry_state.h"
#include "model/table/ids.h"

namespace kvarts {

struct JournalEntry {
  uint64_t number = 0;  // within its job, in the order of the changes
  std::string index;
  std::string kind;  // what was wrong
  Bytes key;         // physical: of the entry
  std::optional<EntryState> before;
  std::optional<EntryState> after;

  // What it takes in a commit, or more.
  size_t bytes() const;
};

Status PutJournalEntry(Txn& txn, TableId table, JobId job, const JournalEntry& entry);
Status EraseJournalEntry(Txn& txn, TableId table, JobId job, uint64_t number);
// Of those below a number the last ones, backwards; at most `limit`, and not many bytes more than fit into a page.
Result<std::vector<JournalEntry>> ReadJournalBackwards(Txn& txn, TableId table, JobId job, uint64_t below,
                                                       size_t limit);

}  // namespace kvarts
