// Owned values in order of expiry. An engine never drops a value that things hang on; its model does, with all that
// hangs on it, in one commit. To find what is due, every owned value that is put with an expiry gets an entry in the
// expiry space, in the same commit. An entry whose value has changed since is stale: whoever comes upon it erases it.
#pragma once

#include <vector>

#include "core/txn.h"

namespace kvarts {

// Adds the entries of everything owned that the transaction puts.
void IndexOwned(Txn& txn);

struct DueOwned {
  Bytes key;    // of the value
  Bytes entry;  // of the index: the model erases it together with the value
  Record record;
};

struct DuePage {
  std::vector<DueOwned> due;
  bool more = false;  // there are more entries to look at, even if all of these were stale
};

// Looks at the first `limit` entries of what has expired by the transaction's time, earliest first. Stale ones are
// erased by the transaction; the others are for the model to erase, or they are found again.
Result<DuePage> FindDueOwned(Txn& txn, size_t limit);

}  // namespace kvarts
