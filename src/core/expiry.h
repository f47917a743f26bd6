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

// Values that have expired by the transaction's time, earliest first, at most `limit`. Stale entries on the way are
// erased by the transaction.
Result<std::vector<DueOwned>> FindDueOwned(Txn& txn, size_t limit);

}  // namespace kvarts
