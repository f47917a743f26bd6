// Collection: what a key holds that is no small string, of whichever type. What is common to all of them is done here,
// and a new type of collection is a line in each function of collection.cc.
//
// A collection that is small lies in the record of its key. What is larger hangs on an id (collection_ids.h), so to
// drop or rename it is one write, of the key.
#pragma once

#include <variant>

#include "core/txn.h"
#include "model/structure/collection_ids.h"
#include "model/structure/large_text.h"
#include "model/structure/list.h"
#include "model/structure/members.h"
#include "model/structure/sorted_set.h"

namespace kvarts::structure {

// Those of collections stand in the header of their record, as its schema; they are never given to another.
enum class Type : uint8_t { kNone = 0, kString = 1, kList = 2, kSet = 3, kSortedSet = 4, kHash = 5 };
// "string", as clients are told; "none" when there is no such key.
std::string_view TypeName(Type type);

// A string is one when it is large (large_text.h).
using Collection = std::variant<Members, List, SortedSet, LargeText>;

// `corruption` when the bytes are none of this type.
Result<Collection> DecodeCollection(Type type, Txn& txn, CollectionIds& ids, BytesView stored);
// Hands what hangs on it to the transaction, and gives what is to stand in the record of the key.
Bytes EncodeCollection(Collection& collection);
uint64_t SizeOf(const Collection& collection);
// Whether anything hangs on its id.
bool IsSpread(const Collection& collection);
// When the first of its members may expire, in the record of the key and now; kNever when none does.
Timestamp StoredEarliest(const Collection& collection);
Timestamp EarliestOf(const Collection& collection);
// It will not be needed any more: what hangs on it is put on the list of the job `structure_erase`.
void DropCollection(Collection& collection);
// Another one that holds the same. `too_large` when a commit cannot hold it.
Result<Collection> CopyCollection(Collection& collection);

}  // namespace kvarts::structure
