// Databases: which database each of the numbers stands for that clients select.
//
// What swaps or flushes databases changes one record, so it costs the same however much is in them. A transaction rests
// on what it was told here: if a database was swapped or flushed before its commit was decided, it is run again.
//
// Safe from any thread. On an engine of one process it hears of every change before that is acknowledged.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "core/seen_version.h"
#include "core/store.h"
#include "model/structure/collection_ids.h"
#include "model/structure/key_events.h"
#include "model/structure/places.h"

namespace kvarts::structure {

constexpr uint32_t kDatabases = 16;

struct DatabaseMap {
  std::array<DatabaseId, kDatabases> ids;
  DatabaseId next;  // the first that was never given out

  // Before anything was swapped or flushed.
  static DatabaseMap First();
  Bytes Encode() const;
  static Result<DatabaseMap> Decode(BytesView bytes);
  // Which number stands for it; nothing when none does any more.
  std::optional<uint32_t> NumberOf(DatabaseId id) const;
};

class Databases {
 public:
  // The store outlives it.
  static std::unique_ptr<Databases> Open(Store& store);
  ~Databases();
  Databases(const Databases&) = delete;
  Databases& operator=(const Databases&) = delete;

  // As they are for the transaction.
  Result<DatabaseMap> Use(Txn& txn);

  CollectionIds& collections() { return collections_; }
  KeyEvents& events() { return events_; }

 private:
  struct Known {
    Known(const DatabaseMap& databases, std::optional<Version> of, Version at)
        : map(databases), version(of), seen(at) {}
    Precondition Unchanged() const;

    const DatabaseMap map;
    const std::optional<Version> version;  // of the record; nothing: there is none
    SeenVersion seen;
  };

  explicit Databases(Store& store) : store_(store) {}

  void Changed(const Mutation* mutation, Version version);
  void Remember(std::shared_ptr<Known> known, uint64_t changes);

  Store& store_;
  CollectionIds collections_;
  KeyEvents events_;
  Subscriptions::Id watch_ = 0;
  mutable std::mutex mutex_;
  std::shared_ptr<Known> known_;  // null: it has to be read
  uint64_t changes_ = 0;
};

// For a transaction to which the map was told: changes it, and what is stored.
void SwapDatabases(Txn& txn, DatabaseMap* map, uint32_t first, uint32_t second);
// The numbers become new databases, and what was in the old ones is erased, or on its way to be.
Status FlushDatabases(Txn& txn, DatabaseMap* map, std::span<const uint32_t> numbers);

// By range: nothing may hang on its keys.
void EraseDatabase(Txn& txn, DatabaseId database);

// How many keys there are in a database.
Result<uint64_t> CountKeys(Txn& txn, DatabaseId database);

}  // namespace kvarts::structure
