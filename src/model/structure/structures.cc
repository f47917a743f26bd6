#include "model/structure/structures.h"

#include "core/expiry.h"
#include "model/structure/field_expiry.h"

namespace kvarts::structure {

Type TypeOf(const ValueHeader& header) {
  return header.kind == ValueKind::kBytes ? Type::kString : static_cast<Type>(header.schema);
}

Status Key::ExpectText() const {
  if (type_ == Type::kNone || type_ == Type::kString) return {};
  return Refusal(kWrongType);
}

void Key::Changed() {
  changed_ = true;
  if (SizeOf(*collection_) == 0) Remove();
}

void Key::Clear() {
  if (collection_) DropCollection(*collection_);
  collection_.reset();
  text_.clear();
  type_ = Type::kNone;
  expiry_ = kNever;
  changed_ = true;
}

Status Key::SetText(Bytes text) {
  Clear();
  type_ = Type::kString;
  if (text.size() > MaxInlineText()) return WriteText(0, text);
  text_ = std::move(text);
  return {};
}

Status Key::SetStaged(const StagedText& text) {
  KVARTS_CHECK_OK(ClaimStaged(*txn_, text));
  Clear();
  type_ = Type::kString;
  collection_.emplace(std::in_place_type<LargeText>, *txn_, *ids_, text.id, text.size);
  return {};
}

void Key::EditText(Bytes text) {
  type_ = Type::kString;
  changed_ = true;
  text_ = std::move(text);
}

Result<LargeText*> Key::MakeLarge(uint64_t size) {
  if (!collection_ && size <= MaxInlineText()) return nullptr;
  if (collection_) return &std::get<LargeText>(*collection_);
  LargeText& large = std::get<LargeText>(collection_.emplace(std::in_place_type<LargeText>, *txn_, *ids_));
  KVARTS_CHECK_OK(large.Write(0, text_));
  text_ = {};
  return &large;
}

Status Key::WriteText(uint64_t at, BytesView text) {
  type_ = Type::kString;
  changed_ = true;
  KVARTS_TRY(LargeText * large, MakeLarge(std::max<uint64_t>(text_.size(), at + text.size())));
  if (large != nullptr) return large->Write(at, text);
  text_.resize(std::max<uint64_t>(text_.size(), at + text.size()));
  text.copy(text_.data() + at, text.size());
  return {};
}

Status Key::GrowText(uint64_t size) {
  type_ = Type::kString;
  changed_ = true;
  KVARTS_TRY(LargeText * large, MakeLarge(std::max<uint64_t>(text_.size(), size)));
  if (large != nullptr) {
    large->GrowTo(size);
  } else {
    text_.resize(std::max<uint64_t>(text_.size(), size));
  }
  return {};
}

void Key::SetExpiry(Timestamp expiry) {
  expiry_ = expiry;
  changed_ = true;
}

void Key::Remove() {
  if (exists()) Clear();
}

Status Key::CopyTo(Key* other) {
  std::optional<Collection> collection;
  if (collection_) {
    KVARTS_TRY(collection, CopyCollection(*collection_));
  }
  other->Clear();
  other->collection_ = std::move(collection);
  other->type_ = type_;
  other->text_ = text_;
  other->expiry_ = expiry_;
  return {};
}

void Key::MoveTo(Key* other) {
  other->Clear();
  other->type_ = type_;
  other->text_ = std::move(text_);
  other->collection_ = std::move(collection_);
  other->expiry_ = expiry_;
  collection_.reset();  // it is not dropped
  Clear();
}

Status Key::Decode(Record record) {
  type_ = TypeOf(record.header);
  if (record.header.kind != ValueKind::kStructure) {
    text_ = std::move(record.value);
  } else {
    KVARTS_TRY(collection_, DecodeCollection(type_, *txn_, *ids_, record.value));
    counted_ = IsSpread(*collection_);
    marked_ = StoredEarliest(*collection_);
    // All that it had has expired.
    if (SizeOf(*collection_) == 0 && marked_ != kNever) {
      type_ = Type::kNone;
      expired_ = std::move(collection_);
      collection_.reset();
      return {};
    }
  }
  expiry_ = record.header.expiry;
  version_ = record.header.version;
  return {};
}

Status DropContents(Txn& txn, const Record& record) {
  if (record.header.kind != ValueKind::kStructure) return {};
  CollectionIds none;
  KVARTS_TRY(Collection collection, DecodeCollection(TypeOf(record.header), txn, none, record.value));
  DropCollection(collection);
  return {};
}

Result<DatabaseId> Structures::IdOf(uint32_t database) {
  if (!map_) {
    KVARTS_TRY(map_, databases_.Use(txn_));
  }
  return map_->ids[database];
}

Status Structures::Read(std::span<const Name> names) {
  ExpectKeys(names.size());
  const size_t before = read_.size();
  for (const Name& name : names) {
    KVARTS_TRY(const DatabaseId id, IdOf(name.database));
    const Opened opened = FindOrAdd(id, name.name);
    if (opened.added) read_.push_back(opened.key);
  }
  return ReadAdded(std::span(read_).subspan(before));
}

Result<Key*> Structures::Open(uint32_t database, BytesView name) {
  if (failed_) return *failed_;
  KVARTS_TRY(const DatabaseId id, IdOf(database));
  if (next_ < read_.size() && read_[next_]->database_ == id && read_[next_]->name() == name) return read_[next_++];
  const Opened opened = FindOrAdd(id, name);
  if (opened.added) KVARTS_CHECK_OK(ReadAdded({&opened.key, 1}));
  return opened.key;
}

void Structures::ExpectKeys(size_t count) {
  keys_.emplace_back().reserve(count);
  table_.Expect(count);
  read_.reserve(read_.size() + count);
}

Structures::Opened Structures::FindOrAdd(DatabaseId database, BytesView name) {
  KeyBuffer place = KeyPlace(database, name);
  const uint64_t hash = table_.HashOf(place);
  if (Key* known = table_.Find(hash, place)) return {known, false};
  if (keys_.empty() || keys_.back().size() == keys_.back().capacity()) keys_.emplace_back().reserve(kFewKeys);
  Key& key = keys_.back().emplace_back();
  key.database_ = database;
  key.place_ = std::move(place);
  key.name_size_ = name.size();
  key.txn_ = &txn_;
  key.ids_ = &databases_.collections();
  table_.Add(hash, &key);
  return {&key, true};
}

Status Structures::ReadAdded(std::span<Key* const> keys) {
  std::vector<BytesView> places;
  places.reserve(keys.size());
  for (const Key* key : keys) places.push_back(key->place_);
  std::vector<std::optional<Record>> records(keys.size());
  Status read = keys.empty() ? Status() : txn_.GetManyStored(places, records);
  for (size_t i = 0; i < keys.size() && read.has_value(); ++i) read = Fill(*keys[i], std::move(records[i]));
  if (!read.has_value()) failed_ = read.error();
  return read;
}

void Structures::Expire(Key& key, Timestamp when) {
  if (when <= Now()) {
    key.Remove();
  } else {
    key.SetExpiry(when);
  }
}

Status Structures::Fill(Key& key, std::optional<Record> record) {
  key.stored_ = record.has_value();
  if (!record) return {};
  if (record->header.owned) key.indexed_ = record->header.expiry;
  if (!record->header.ExpiredAt(txn_.Now())) {
    KVARTS_CHECK_OK(key.Decode(*std::move(record)));
    key.told_ = key.exists();
    // What is written anew is without those that have expired.
    const bool due = key.marked_ <= txn_.Now();
    key.lapsed_ = key.fields_lapsed_ = due && !(key.exists() && key.counted_);
    return {};
  }
  key.lapsed_ = true;
  if (record->header.kind == ValueKind::kStructure) {
    KVARTS_TRY(key.expired_, DecodeCollection(TypeOf(record->header), txn_, databases_.collections(), record->value));
    key.marked_ = StoredEarliest(*key.expired_);
  }
  return {};
}

// Of a hash it may be fields that have expired, or all of them.
void Structures::NoteLapse(uint32_t database, Key& key) {
  if (!std::exchange(key.lapsed_, false)) return;
  if (key.fields_lapsed_) {
    events_.Add(kHashEvents, "hexpired", database, key.name());
    if (!key.told_) events_.Add(kGenericEvents, "del", database, key.name());
  } else {
    events_.Add(kExpiredEvents, "expired", database, key.name());
  }
}

void Structures::NoteNew(uint32_t database, Key& key) {
  NoteLapse(database, key);
  events_.Add(kNewEvents, "new", database, key.name());
  key.told_ = true;
}

void Structures::Note(EventClass of, std::string_view event, uint32_t database, Key& key) {
  NoteLapse(database, key);
  if (!key.told_ && key.exists()) NoteNew(database, key);
  key.told_ = key.exists();
  events_.Add(of, event, database, key.name());
}

void Structures::Write(Key& key) {
  const bool remains = key.exists();
  if (key.expired_) DropCollection(*key.expired_);
  key.expired_.reset();
  if (remains) {
    PutOptions options{.expiry = key.expiry_, .owned = key.expiry_ != kNever};
    if (key.collection_) {
      options.kind = ValueKind::kStructure;
      options.schema = static_cast<uint32_t>(key.type_);
    }
    txn_.Put(key.place_, key.collection_ ? EncodeCollection(*key.collection_) : key.text_, options);
  } else if (key.stored_) {
    txn_.Erase(key.place_);
  }
  if (key.collection_ && IsSpread(*key.collection_) && !key.counted_) {
    Count(key.database_, kSpreadPart, 1);
    key.counted_ = true;
  }
  if (remains != key.stored_) {
    Count(key.database_, CountPartOf(key.name()), remains ? 1 : -1);
  }
  const Timestamp expiry = remains ? key.expiry_ : kNever;
  if (key.indexed_ != kNever && key.indexed_ != expiry) ForgetOwned(txn_, key.place_, key.indexed_);
  key.indexed_ = expiry;
  const Timestamp earliest = key.collection_ ? EarliestOf(*key.collection_) : kNever;
  if (earliest != key.marked_) MarkFields(txn_, key.place_, earliest);
  key.marked_ = earliest;
  key.stored_ = remains;
  key.changed_ = false;
}

void Structures::Count(DatabaseId database, uint64_t part, int64_t by) {
  for (CountChange& change : counts_) {
    if (change.database == database && change.part == part) {
      change.by += by;
      return;
    }
  }
  counts_.push_back({database, part, by});
}

void Structures::Flush() {
  for (std::vector<Key>& some : keys_) {
    for (Key& key : some) {
      if (key.changed_) Write(key);
    }
  }
  for (const CountChange& change : counts_) {
    if (change.by != 0) txn_.Add(CountPlace(change.database, change.part), change.by);
  }
  counts_.clear();
}

Status Structures::FlushDatabases(std::span<const uint32_t> numbers) {
  KVARTS_CHECK_OK(IdOf(0));
  Flush();
  return structure::FlushDatabases(txn_, &*map_, numbers);
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
