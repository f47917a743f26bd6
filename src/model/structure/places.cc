#include "model/structure/places.h"

#include <algorithm>
#include <functional>

namespace kvarts::structure {
namespace {

constexpr int64_t kUntagged = 0;
constexpr int64_t kTagged = 1;
constexpr int64_t kNode = -1;
constexpr int64_t kNodeCounts = -2;

constexpr int64_t kCollectionDropped = 0;
constexpr int64_t kDatabaseDropped = 1;
constexpr int64_t kStaged = 2;

KeyBuffer BeginDropped(int64_t what) {
  KeyBuffer place;
  BeginKey(&place, Space::kStructuresDropped).Int(what);
  return place;
}

TupleWriter<KeyBuffer> BeginDatabase(KeyBuffer* place, DatabaseId database) {
  TupleWriter<KeyBuffer> writer = BeginKey(place, Space::kStructures);
  writer.Uint(database.value);
  return writer;
}

}  // namespace

BytesView HashTag(BytesView name) {
  const size_t open = name.find('{');
  if (open == BytesView::npos) return name;
  const size_t close = name.find('}', open + 1);
  if (close == BytesView::npos || close == open + 1) return name;
  return name.substr(open + 1, close - open - 1);
}

KeyBuffer KeyPlace(DatabaseId database, BytesView name) {
  const BytesView tag = HashTag(name);
  KeyBuffer place;
  TupleWriter<KeyBuffer> writer = BeginDatabase(&place, database);
  if (tag.size() == name.size()) {
    writer.Int(kUntagged).Tail(name);
  } else {
    writer.Int(kTagged).Bytes(tag).Tail(name);
  }
  return place;
}

std::optional<PlacedKey> KeyAt(BytesView place) {
  TupleReader reader(place);
  const Result<int64_t> space = reader.TakeInt();
  if (!space.has_value() || *space != static_cast<int64_t>(Space::kStructures)) return std::nullopt;
  const Result<uint64_t> database = reader.TakeUint();
  if (!database.has_value()) return std::nullopt;
  const Result<int64_t> kind = reader.TakeInt();
  if (!kind.has_value() || (*kind == kTagged && !reader.Skip().has_value())) return std::nullopt;
  const Result<BytesView> name = reader.TakeTail();
  if (!name.has_value()) return std::nullopt;
  PlacedKey key{{*database}, Bytes(*name)};
  return KeyPlace(key.database, key.name).view() == place ? std::optional(std::move(key)) : std::nullopt;
}

KeyRange DatabaseRange(DatabaseId database) {
  KeyBuffer place;
  BeginDatabase(&place, database);
  return KeyRange::Prefix(place);
}

std::vector<KeyRange> NameRanges(DatabaseId database, BytesView beginning) {
  KeyBuffer untagged;
  BeginDatabase(&untagged, database).Int(kUntagged).Tail(beginning);
  KeyBuffer tagged;
  BeginDatabase(&tagged, database).Int(kTagged);
  return {KeyRange::Prefix(untagged), KeyRange::Prefix(tagged)};
}

KeyBuffer CountPlace(DatabaseId database, uint64_t part) {
  KeyBuffer place;
  BeginKey(&place, Space::kStructureCounts).Uint(database.value).Uint(part);
  return place;
}

uint64_t CountPartOf(BytesView name) { return std::hash<BytesView>()(HashTag(name)) % kCountParts; }

KeyBuffer DatabasesPlace() {
  KeyBuffer place;
  BeginKey(&place, Space::kSettings).Text("databases");
  return place;
}

KeyBuffer CollectionsPlace() {
  KeyBuffer place;
  BeginKey(&place, Space::kSettings).Text("collections");
  return place;
}

KeyBuffer MemberPlace(CollectionId collection, uint64_t hash, BytesView name) {
  KeyBuffer place;
  BeginKey(&place, Space::kStructureMembers).Uint(collection.value).Uint(hash).Tail(name);
  return place;
}

KeyBuffer ChunkPlace(CollectionId collection, uint64_t number) { return MemberPlace(collection, number, {}); }

Result<PlacedMember> MemberAt(CollectionId collection, BytesView place) {
  KeyBuffer before;
  BeginKey(&before, Space::kStructureMembers).Uint(collection.value);
  TupleReader reader(place.substr(std::min(before.size(), place.size())));
  KVARTS_TRY(const uint64_t hash, reader.TakeUint());
  KVARTS_TRY(const BytesView name, reader.TakeTail());
  return PlacedMember{hash, name};
}

KeyBuffer NodePlace(CollectionId collection, uint64_t node) {
  KeyBuffer place;
  BeginKey(&place, Space::kStructureMembers).Uint(collection.value).Int(kNode).Uint(node);
  return place;
}

KeyBuffer NodeCountsPlace(CollectionId collection, uint64_t node) {
  KeyBuffer place;
  BeginKey(&place, Space::kStructureMembers).Uint(collection.value).Int(kNodeCounts).Uint(node);
  return place;
}

KeyRange CollectionRange(CollectionId collection) {
  KeyBuffer all;
  BeginKey(&all, Space::kStructureMembers).Uint(collection.value);
  return KeyRange::Prefix(all);
}

KeyRange MembersFrom(CollectionId collection, uint64_t hash) {
  KeyRange range = CollectionRange(collection);
  KeyBuffer from;
  BeginKey(&from, Space::kStructureMembers).Uint(collection.value).Uint(hash);
  range.start = Bytes(from.view());
  return range;
}

KeyBuffer DroppedPlace(CollectionId collection) {
  KeyBuffer place;
  BeginKey(&place, Space::kStructuresDropped).Int(kCollectionDropped).Uint(collection.value);
  return place;
}

KeyBuffer DroppedPlace(DatabaseId database) {
  KeyBuffer place;
  BeginKey(&place, Space::kStructuresDropped).Int(kDatabaseDropped).Uint(database.value);
  return place;
}

KeyRange DroppedRange() {
  return {Bytes(SpaceRange(Space::kStructuresDropped).start), Bytes(BeginDropped(kStaged).view())};
}

KeyBuffer StagedPlace(CollectionId collection) {
  KeyBuffer place;
  BeginKey(&place, Space::kStructuresDropped).Int(kStaged).Uint(collection.value);
  return place;
}

KeyRange StagedRange() { return KeyRange::Prefix(BeginDropped(kStaged)); }

Result<Dropped> DroppedAt(BytesView place) {
  TupleReader reader(place);
  KVARTS_CHECK_OK(reader.Skip());
  KVARTS_TRY(const int64_t what, reader.TakeInt());
  KVARTS_TRY(const uint64_t number, reader.TakeUint());
  KVARTS_CHECK_OK(reader.Finish());
  return Dropped{what == kDatabaseDropped, number};
}

}  // namespace kvarts::structure
