// StagedText: a string that does not fit into one commit, on its way. Its chunks are written in commits of their own,
// under an id that no key has; then the commit of the key makes it the key's. So readers see all of it or nothing.
//
// While it is on its way it stands on a list, with a time: when that has come the job `structure_erase` takes it away,
// be it that the process has ended in between, or that nobody wanted it.
#pragma once

#include "core/txn.h"
#include "model/structure/collection_ids.h"

namespace kvarts::structure {

struct StagedText {
  // How long it stays without being anybody's, from its last part on.
  static constexpr Duration kKept = Duration::Seconds(600);
  // Of one commit.
  static constexpr size_t kPartBytes = 4 << 20;

  CollectionId id;
  uint64_t size = 0;
};

// Writes what comes next, at most kPartBytes; all parts but the last are as long. The first begins a text anew. What
// the commit has come to is in `text` once it is there, and not before.
Status StagePart(Txn& txn, CollectionIds& ids, BytesView part, bool first, StagedText* text);
// For whoever makes it a key's: it is off the list. `conflict` when it has been taken away.
Status ClaimStaged(Txn& txn, const StagedText& text);
// It is not wanted any more.
Status DiscardStaged(Txn& txn, const StagedText& text);

// Puts the first one whose time has come on the list of what is to be taken away; whether there was one.
Result<bool> DropOverdue(Txn& txn);
// Whether there is one.
Result<bool> IsOverdue(View& view);

}  // namespace kvarts::structure
