// Owned values in order of expiry. An engine never drops a value that things hang on; its model does, with all that
// hangs on it, in one commit. To find what is due, every owned value that is put with an expiry gets an entry in the
// expiry space, in the same commit. An entry whose value has changed since is stale: whoever comes upon it erases it,
// if nobody has before.
#pragma once

#include <optional>
#include <vector>

#include "core/txn.h"

namespace kvarts {

// Adds the entries of everything owned that the transaction puts.
void IndexOwned(Txn& txn);
// Erases the entry of an owned value that had this expiry, and has another or none after this transaction: for who
// knows it. Else it stays until its time comes.
void ForgetOwned(Txn& txn, BytesView key, Timestamp expiry);

struct DueOwned {
  Bytes key;    // of the value
  Bytes entry;  // of the index: the model erases it together with the value
  Record record;
};

struct DuePage {
  std::vector<DueOwned> due;
  // Keys of what is damaged so that not even its expiry can be read. It is set aside: it stays stored, and nobody is
  // shown it again.
  std::vector<Bytes> unreadable;
  // Where to look for more, even if all of these were stale; nothing when that was all.
  std::optional<Bytes> next;
};

// Looks at the first `limit` entries of what has expired by the transaction's time, earliest first. Stale ones are
// erased by the transaction; the others are for the model to erase, or they are found again. Those of several models
// lie among each other: who comes upon what is not its own goes on behind it, `from` where the page before said.
Result<DuePage> FindDueOwned(Txn& txn, size_t limit, BytesView from = {});

// Whether something of this range may be due: it may have been written again since, or there is much before it that is
// other models'. False is for sure.
Result<bool> MayBeDue(View& view, const KeyRange& range);

}  // namespace kvarts
