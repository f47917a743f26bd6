// When something in a collection expires. For each key whose collection has members with an expiry there is a mark,
// which is owned and expires with the first of them (core/expiry.h): so the job `key_expiry` comes upon it in time,
// takes those members away, and marks the next.
#pragma once

#include "core/expiry.h"
#include "model/structure/structures.h"

namespace kvarts::structure {

// For a key that is written: from now on its first member expires then, or none does.
void MarkFields(Txn& txn, BytesView place, Timestamp earliest);

// The place of the key that a mark is of; nothing of what is no mark.
std::optional<Bytes> MarkedPlace(BytesView mark);
// For the job: takes away members of the key that have expired, and the key when none is left.
Result<Members::Expired> ExpireFields(Txn& txn, const DueOwned& mark, BytesView place, size_t at_most);

}  // namespace kvarts::structure
