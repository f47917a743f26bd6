#include "model/structure/databases.h"

#include <algorithm>
#include <vector>

#include "core/fields.h"

namespace kvarts::structure {
namespace {

// How often a thread looks at the record itself, so that what rests on it is found true without a read.
constexpr uint32_t kUsesUntilLook = 256;

void Erase(Txn& txn, const KeyRange& range) {
  Mutation erase = Mutation::EraseRange(range.start, range.end);
  erase.reclaim = true;
  txn.Apply(std::move(erase));
}

KeyRange CountsRange(DatabaseId database) {
  return {Bytes(CountPlace(database, 0).view()), Bytes(CountPlace({database.value + 1}, 0).view())};
}

}  // namespace

DatabaseMap DatabaseMap::First() {
  DatabaseMap map;
  for (uint32_t number = 0; number < kDatabases; ++number) map.ids[number] = {number};
  map.next = {kDatabases};
  return map;
}

Bytes DatabaseMap::Encode() const {
  Bytes bytes;
  for (const DatabaseId id : ids) AppendVarint(&bytes, id.value);
  AppendVarint(&bytes, next.value);
  return bytes;
}

Result<DatabaseMap> DatabaseMap::Decode(BytesView bytes) {
  FieldReader fields(bytes);
  DatabaseMap map;
  for (DatabaseId& id : map.ids) id.value = fields.Varint();
  map.next.value = fields.Varint();
  KVARTS_CHECK_OK(fields.Finish("the record of the databases is damaged"));
  return map;
}

std::optional<uint32_t> DatabaseMap::NumberOf(DatabaseId id) const {
  const auto* const found = std::ranges::find(ids, id);
  return found == ids.end() ? std::nullopt : std::optional(static_cast<uint32_t>(found - ids.begin()));
}

Precondition Databases::Known::Unchanged() const {
  Precondition known;
  known.kind = version ? Precondition::Kind::kVersionIs : Precondition::Kind::kAbsent;
  known.key = DatabasesPlace();
  if (version) known.version = *version;
  known.seen_at = seen.get();
  return known;
}

std::unique_ptr<Databases> Databases::Open(Store& store) {
  std::unique_ptr<Databases> databases(new Databases(store));
  Databases* const told = databases.get();
  const Bytes place(DatabasesPlace().view());
  databases->watch_ = store.subscriptions().Watch(
      {place, KeyAfter(place)},
      [told](const Mutation* mutation, Version version) { told->Changed(mutation, version); });
  return databases;
}

Databases::~Databases() { store_.subscriptions().Cancel(watch_); }

void Databases::Changed(const Mutation* mutation, Version version) {
  std::shared_ptr<Known> known;
  if (mutation != nullptr && mutation->op == Mutation::Op::kPut) {
    const Result<DatabaseMap> map = DatabaseMap::Decode(mutation->value);
    if (map.has_value()) known = std::make_shared<Known>(*map, version, version);
  }
  const std::lock_guard lock(mutex_);
  known_ = std::move(known);
  ++changes_;
}

void Databases::Remember(std::shared_ptr<Known> known, uint64_t changes) {
  const std::lock_guard lock(mutex_);
  // What changed since may be newer.
  if (changes == changes_) known_ = std::move(known);
}

Result<DatabaseMap> Databases::Use(Txn& txn) {
  uint64_t changes = 0;
  std::shared_ptr<Known> known;
  {
    const std::lock_guard lock(mutex_);
    changes = changes_;
    known = known_;
  }
  thread_local uint32_t uses = 0;
  const bool look =
      known == nullptr || txn.ViewVersion() || store_.engine().capabilities().shared || ++uses % kUsesUntilLook == 0;
  if (!look) {
    txn.RestOn(known->Unchanged());
    return known->map;
  }
  KVARTS_TRY(const std::optional<Record> record, txn.Get(DatabasesPlace()));
  const std::optional<Version> version = record ? std::optional(record->header.version) : std::nullopt;
  const Version seen = txn.ViewVersion().value_or(kNoVersion);
  if (known != nullptr && known->version == version) {
    known->seen.Raise(seen);
    return known->map;
  }
  DatabaseMap map = DatabaseMap::First();
  if (record) {
    KVARTS_TRY(map, DatabaseMap::Decode(record->value));
  }
  if (known == nullptr) Remember(std::make_shared<Known>(map, version, seen), changes);
  return map;
}

void SwapDatabases(Txn& txn, DatabaseMap* map, uint32_t first, uint32_t second) {
  std::swap(map->ids[first], map->ids[second]);
  txn.Put(DatabasesPlace(), map->Encode());
}

Status FlushDatabases(Txn& txn, DatabaseMap* map, std::span<const uint32_t> numbers) {
  for (const uint32_t number : numbers) {
    const DatabaseId old = map->ids[number];
    KVARTS_TRY(const std::optional<Record> spread, txn.Get(CountPlace(old, kSpreadPart)));
    if (spread) {
      txn.Put(DroppedPlace(old), {});
    } else {
      EraseDatabase(txn, old);
    }
    map->ids[number] = map->next;
    ++map->next.value;
  }
  txn.Put(DatabasesPlace(), map->Encode());
  return {};
}

void EraseDatabase(Txn& txn, DatabaseId database) {
  Erase(txn, DatabaseRange(database));
  Erase(txn, CountsRange(database));
}

Result<uint64_t> CountKeys(Txn& txn, DatabaseId database) {
  std::vector<KeyBuffer> places;
  for (uint64_t part = 0; part < kCountParts; ++part) places.push_back(CountPlace(database, part));
  const std::vector<BytesView> keys(places.begin(), places.end());
  std::vector<std::optional<Record>> records(keys.size());
  KVARTS_CHECK_OK(txn.PeekMany(keys, records));
  int64_t count = 0;
  for (const std::optional<Record>& record : records) {
    if (record) count += CounterNumber(record->header, record->value);
  }
  return static_cast<uint64_t>(std::max<int64_t>(count, 0));
}

}  // namespace kvarts::structure
