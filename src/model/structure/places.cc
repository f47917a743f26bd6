#include "model/structure/places.h"

namespace kvarts::structure {
namespace {

constexpr int64_t kUntagged = 0;
constexpr int64_t kTagged = 1;

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

KeyBuffer DatabasesPlace() {
  KeyBuffer place;
  BeginKey(&place, Space::kSettings).Text("databases");
  return place;
}

}  // namespace kvarts::structure
