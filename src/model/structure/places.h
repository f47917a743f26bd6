// Where the structures of databases lie in the keyspace.
//
// A key of a database is written with its partition first: its hash tag, or the whole name where there is none. Names
// without tags lie in their order; behind them those with tags, which lie together when they share one.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "core/keyspace.h"

namespace kvarts::structure {

// What a number that clients select stands for: it changes when databases are swapped or flushed, and is never given to
// another.
struct DatabaseId {
  uint64_t value = 0;
  friend auto operator<=>(DatabaseId, DatabaseId) = default;
};

// What stands between the first "{" and the next "}", if that is anything; else the whole name.
BytesView HashTag(BytesView name);

// (8, uint database, 0, tail name), or of a name with a tag (8, uint database, 1, bytes tag, tail name).
KeyBuffer KeyPlace(DatabaseId database, BytesView name);
// Of a place that KeyPlace has made; nothing of any other.
struct PlacedKey {
  DatabaseId database;
  Bytes name;
};
std::optional<PlacedKey> KeyAt(BytesView place);
KeyRange DatabaseRange(DatabaseId database);
// In their order, what holds all keys whose names begin so, and others.
std::vector<KeyRange> NameRanges(DatabaseId database, BytesView beginning);

// (9, uint database, uint part): the keys of a database are counted in parts, so that writers on several servers do
// not wait for each other.
constexpr uint64_t kCountParts = 16;
// Behind them stands how many of its keys ever had members that are spread out.
constexpr uint64_t kSpreadPart = kCountParts;
KeyBuffer CountPlace(DatabaseId database, uint64_t part);
// The part in which a key is counted, by a process: any will do.
uint64_t CountPartOf(BytesView name);

// What the elements of a collection hang on, and not its name: it stays when that changes, and is never given to
// another.
struct CollectionId {
  uint64_t value = 0;
  friend auto operator<=>(CollectionId, CollectionId) = default;
};

// (10, uint collection, uint hash, tail name).
KeyBuffer MemberPlace(CollectionId collection, uint64_t hash, BytesView name);
struct PlacedMember {
  uint64_t hash;
  BytesView name;  // borrowed from the place
};
// Of a place that MemberPlace has made of this collection.
Result<PlacedMember> MemberAt(CollectionId collection, BytesView place);
// (10, uint collection, uint number, the empty tail): a chunk of a string.
KeyBuffer ChunkPlace(CollectionId collection, uint64_t number);
// All members from a hash on.
KeyRange MembersFrom(CollectionId collection, uint64_t hash);
// (10, uint collection, -1, uint node), (10, uint collection, -2, uint node): a node of a tree, and what it counts.
// They lie before the members that the same collection may have.
KeyBuffer NodePlace(CollectionId collection, uint64_t node);
KeyBuffer NodeCountsPlace(CollectionId collection, uint64_t node);
// Whatever hangs on it.
KeyRange CollectionRange(CollectionId collection);

// (11, 0, uint collection), (11, 1, uint database): what is to be taken away.
KeyBuffer DroppedPlace(CollectionId collection);
KeyBuffer DroppedPlace(DatabaseId database);
KeyRange DroppedRange();
// (11, 2, uint collection): a string on its way, which is taken away when it does not arrive.
KeyBuffer StagedPlace(CollectionId collection);
KeyRange StagedRange();
// Of any of them: whether it is a database, and its number.
struct Dropped {
  bool database;
  uint64_t number;
};
Result<Dropped> DroppedAt(BytesView place);

// (1, "databases"), (1, "collections").
KeyBuffer DatabasesPlace();
KeyBuffer CollectionsPlace();

}  // namespace kvarts::structure
