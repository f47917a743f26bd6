#include "model/structure/structures.h"

#include "model/structure/refusals.h"

namespace kvarts::structure {

std::string_view TypeName(Type type) {
  switch (type) {
    case Type::kNone:
      return "none";
    case Type::kString:
      return "string";
  }
  return "none";
}

Type TypeOf(const ValueHeader& header) { return header.kind == ValueKind::kBytes ? Type::kString : Type::kNone; }

Status Key::ExpectText() const {
  if (type_ == Type::kNone || type_ == Type::kString) return {};
  return Refusal(kWrongType);
}

void Key::SetText(Bytes text) {
  type_ = Type::kString;
  text_ = std::move(text);
  expiry_ = kNever;
  changed_ = true;
}

Bytes& Key::EditText() {
  type_ = Type::kString;
  changed_ = true;
  return text_;
}

void Key::SetExpiry(Timestamp expiry) {
  expiry_ = expiry;
  changed_ = true;
}

void Key::Remove() {
  if (!exists()) return;
  type_ = Type::kNone;
  text_.clear();
  expiry_ = kNever;
  changed_ = true;
}

void Key::CopyTo(Key* other) const {
  other->type_ = type_;
  other->text_ = text_;
  other->expiry_ = expiry_;
  other->changed_ = true;
}

void Key::MoveTo(Key* other) {
  CopyTo(other);
  Remove();
}

Result<DatabaseId> Structures::IdOf(uint32_t database) {
  if (!map_) {
    KVARTS_TRY(map_, databases_.Use(txn_));
  }
  return map_->ids[database];
}

Key* Structures::Find(BytesView place) {
  const auto found = by_place_.find(place);
  return found == by_place_.end() ? nullptr : found->second;
}

Status Structures::Read(std::span<const Name> names) {
  std::vector<std::pair<DatabaseId, KeyBuffer>> places;
  std::vector<BytesView> wanted;
  std::vector<size_t> which;
  places.reserve(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    KVARTS_TRY(const DatabaseId id, IdOf(names[i].database));
    KeyBuffer place = KeyPlace(id, names[i].name);
    if (Find(place) != nullptr) continue;
    places.emplace_back(id, std::move(place));
    wanted.push_back(places.back().second);
    which.push_back(i);
  }
  if (wanted.empty()) return {};
  std::vector<std::optional<Record>> records(wanted.size());
  KVARTS_CHECK_OK(txn_.GetManyStored(wanted, records));
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (Find(wanted[i]) != nullptr) continue;  // named twice
    KVARTS_CHECK_OK(Add(places[i].first, names[which[i]].name, places[i].second, std::move(records[i])));
  }
  return {};
}

Result<Key*> Structures::Open(uint32_t database, BytesView name) {
  KVARTS_TRY(const DatabaseId id, IdOf(database));
  const KeyBuffer place = KeyPlace(id, name);
  if (Key* known = Find(place)) return known;
  const BytesView wanted = place;
  std::optional<Record> record;
  KVARTS_CHECK_OK(txn_.GetManyStored({&wanted, 1}, {&record, 1}));
  KVARTS_CHECK_OK(Add(id, name, place, std::move(record)));
  return &keys_.back();
}

void Structures::Expire(Key& key, Timestamp when) {
  if (when <= Now()) {
    key.Remove();
  } else {
    key.SetExpiry(when);
  }
}

Status Structures::Add(DatabaseId database, BytesView name, const KeyBuffer& place, std::optional<Record> record) {
  Key& key = keys_.emplace_back();
  key.name_ = name;
  key.database_ = database;
  key.place_ = place;
  key.stored_ = record.has_value();
  by_place_.emplace(key.place_.view(), &key);
  if (!record || record->header.ExpiredAt(txn_.Now())) return {};
  if (record->header.kind != ValueKind::kBytes) {
    return Error(ErrorCode::kCorruption, "a key of a database is damaged", {{"key", DescribeKey(place)}});
  }
  key.type_ = Type::kString;
  key.expiry_ = record->header.expiry;
  key.version_ = record->header.version;
  key.text_ = std::move(record->value);
  return {};
}

void Structures::Write(Key& key) {
  const bool remains = key.exists();
  if (remains) {
    txn_.Put(key.place_, key.text_, {.expiry = key.expiry_, .owned = key.expiry_ != kNever});
  } else if (key.stored_) {
    txn_.Erase(key.place_);
  }
  if (remains != key.stored_) {
    txn_.Add(CountPlace(key.database_, CountPartOf(key.name_)), remains ? 1 : -1);
  }
  key.stored_ = remains;
  key.changed_ = false;
}

void Structures::Flush() {
  for (Key& key : keys_) {
    if (key.changed_) Write(key);
  }
}

Status Structures::FlushDatabases(std::span<const uint32_t> numbers) {
  KVARTS_CHECK_OK(IdOf(0));
  Flush();
  structure::FlushDatabases(txn_, &*map_, numbers);
  return {};
}

Status Structures::SwapDatabases(uint32_t first, uint32_t second) {
  KVARTS_CHECK_OK(IdOf(0));
  structure::SwapDatabases(txn_, &*map_, first, second);
  return {};
}

Result<uint64_t> Structures::CountKeys(uint32_t database) {
  KVARTS_TRY(const DatabaseId id, IdOf(database));
  Flush();
  return structure::CountKeys(txn_, id);
}

}  // namespace kvarts::structure
