// A walk over a table that compares its indexes with its rows, a chunk at a time. First over the rows, each of whose
// entries must be there; then over the entries of each index, each of which must be of the row that it names.
//
// A chunk reads at one view, and its commit does not rest on what it reads: writes go on beside it and neither waits
// for the other. What differs is judged again by reads on which the commit does rest (drift.h). So what is told is true
// at the version of the chunk's commit, whatever was written meanwhile.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/fields.h"
#include "core/txn.h"
#include "model/table/drift.h"
#include "model/table/table_info.h"

namespace kvarts {

// How far a walk is.
struct WalkPlace {
  bool rows_done = false;
  IndexNumber index = {};  // whose entries are read, once the rows are done
  Bytes next = {};         // the first key that was not looked at; empty: from the beginning

  void AppendTo(Bytes* to) const;
  static WalkPlace Take(FieldReader* from);
};

// What a chunk has looked at.
struct WalkStep {
  uint64_t rows = 0;
  uint64_t entries = 0;  // of the second part; those of the rows are not counted
  bool finished = false;
};

class DriftWalk {
 public:
  using OnDrift = std::function<Status(const Drift&)>;

  // Of these indexes, those that are ready. All of it outlives the walk.
  DriftWalk(Txn& txn, const TableInfo& table, std::span<const IndexNumber> indexes, OnDrift on_drift);

  Result<WalkStep> Walk(WalkPlace* place);

 private:
  // An entry that a row has.
  struct Claimed {
    const TableIndex* index;
    IndexEntry entry;
    Timestamp expiry;
    Bytes row;
  };

  Status WalkRows(WalkPlace* place);
  Status WalkEntries(const TableIndex& index, WalkPlace* place);
  Status CheckRow(const ScanPage::Entry& row);
  // Looks for what was claimed, and forgets it.
  Status CheckClaimed();
  // The entries [from, to) of a page.
  Status CheckEntries(const TableIndex& index, const ScanPage& page, size_t from, size_t to);
  // Has an entry or a row judged, and tells what is wrong with it.
  Status LookAgain(const TableIndex& index, BytesView key, std::optional<BytesView> claimant);
  Status LookAgainAtRow(const TableIndex* index, BytesView key);
  Status Tell(const Drift& drift);
  // Whether the chunk is as large as a commit should be. The first row or entry is looked at in any case.
  bool IsFull();

  Txn& txn_;
  const TableInfo& table_;
  std::vector<const TableIndex*> indexes_;  // in the order of their numbers
  const OnDrift on_drift_;
  std::vector<Claimed> claimed_;
  size_t claimed_bytes_ = 0;
  size_t looked_for_ = 0;  // entries of rows
  size_t told_ = 0;
  WalkStep step_;
};

}  // namespace kvarts
