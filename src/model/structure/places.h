// Where the structures of databases lie in the keyspace.
//
// A key of a database is written with its partition first: its hash tag, or the whole name where there is none. Names
// without tags lie in their order; behind them those with tags, which lie together when they share one.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

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
KeyBuffer CountPlace(DatabaseId database, uint64_t part);

// (1, "databases").
KeyBuffer DatabasesPlace();

}  // namespace kvarts::structure
