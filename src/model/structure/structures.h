// Structures: the keys of databases, as one transaction has them. A key is read once, changed in memory however often,
// and written once, by Flush: so many commands in one commit cost what they change, and not how often.
//
//   Structures keys(txn, databases);
//   KVARTS_TRY(Key* key, keys.Open(0, "visits"));
//   KVARTS_TRY(const int64_t visits, IncrementBy(*key, 1));
//   KVARTS_CHECK_OK(keys.Flush());
//
// What has an expiry is owned (core/expiry.h): it stays stored, and counts as a key, until it is removed or replaced.
// So the number of keys is always that of what is stored.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/txn.h"
#include "model/structure/collection.h"
#include "model/structure/databases.h"
#include "model/structure/key_table.h"
#include "model/structure/refusals.h"
#include "model/structure/staged_text.h"

namespace kvarts::structure {

// Of what is stored under a key.
Type TypeOf(const ValueHeader& header);

// A key of a database. It may be absent, and may be made.
class Key {
 public:
  // A longer string lies in chunks; Limits::max_value_bytes may allow less.
  static constexpr size_t kMaxInlineText = 1 << 20;

  Type type() const { return type_; }
  bool exists() const { return type_ != Type::kNone; }
  Timestamp expiry() const { return expiry_; }
  // A place ends with the name.
  BytesView name() const { return place_.view().substr(place_.size() - name_size_); }
  BytesView place() const { return place_; }
  const Limits& limits() const { return txn_->limits(); }
  Timestamp Now() const { return txn_->Now(); }
  // Of what is stored; nothing when that is nothing, or has expired.
  std::optional<Version> version() const { return version_; }

  // Of a string that is not large, or of a key that is absent, which is an empty one; strings.h reads both kinds.
  const Bytes& text() const { return text_; }
  // Of any type; null when it is a small string, or absent.
  Collection* collection() { return collection_ ? &*collection_ : nullptr; }
  // Null, unless it is a large string.
  const LargeText* large_text() const { return collection_ ? std::get_if<LargeText>(&*collection_) : nullptr; }
  // `invalid_argument` (kWrongType) of anything else.
  Status ExpectText() const;

  // The collection that a key of this type holds, as key->As<Members>(Type::kSet); null when the key is absent.
  // kWrongType of anything else.
  template <class T>
  Result<T*> As(Type type);
  // How many elements a collection has; of anything else zero.
  uint64_t size() const { return collection_ ? SizeOf(*collection_) : 0; }
  // The same, which is made when the key is absent.
  template <class T>
  Result<T*> Make(Type type);
  // To be called when what the collection holds has changed. When that is nothing the key is gone.
  void Changed();

  // Replaces whatever there is. The expiry goes, too.
  Status SetText(Bytes text);
  // The same with a text that was written already.
  Status SetStaged(const StagedText& text);
  // Of a string that is not large, or of a key that is absent, which becomes one: another text, which is not large.
  void EditText(Bytes text);
  // Puts text at a place of a string, or of a key that is absent; between the end and it come zeros.
  Status WriteText(uint64_t at, BytesView text);
  // With zeros, if it is shorter.
  Status GrowText(uint64_t size);
  void Persist() {
    if (expiry_ != kNever) SetExpiry(kNever);
  }
  void Remove();
  // With its expiry, in the place of whatever is there. It is another key.
  Status CopyTo(Key* other);
  void MoveTo(Key* other);

 private:
  friend class Structures;

  void SetExpiry(Timestamp expiry);
  // Nothing is there any more; not even an expiry.
  void Clear();
  Status Decode(Record record);
  uint64_t MaxInlineText() const { return std::min<uint64_t>(kMaxInlineText, txn_->limits().max_value_bytes); }
  // A string of so many bytes: it lies in chunks from some size on.
  Result<LargeText*> MakeLarge(uint64_t size);

  Txn* txn_ = nullptr;
  CollectionIds* ids_ = nullptr;
  DatabaseId database_;
  KeyBuffer place_;
  size_t name_size_ = 0;
  Type type_ = Type::kNone;
  Timestamp expiry_ = kNever;
  Bytes text_;
  std::optional<Collection> collection_;
  std::optional<Collection> expired_;  // of what is stored
  std::optional<Version> version_;
  bool stored_ = false;         // be it expired
  Timestamp indexed_ = kNever;  // the expiry of what is stored, which has an entry (core/expiry.h)
  bool lapsed_ = false;         // what is stored has expired, which nobody was told
  bool fields_lapsed_ = false;  // that is, fields of it have
  bool told_ = false;           // that it exists
  bool counted_ = false;        // that the collection is spread out
  Timestamp marked_ = kNever;   // when its first member expires, as is marked
  bool changed_ = false;
};

template <class T>
Result<T*> Key::As(Type type) {
  if (type_ == Type::kNone) return nullptr;
  if (type_ != type) return Refusal(kWrongType);
  return &std::get<T>(*collection_);
}

template <class T>
Result<T*> Key::Make(Type type) {
  if (type_ != Type::kNone) return As<T>(type);
  type_ = type;
  return &std::get<T>(collection_.emplace(std::in_place_type<T>, *txn_, *ids_));
}

// The longest string there may be.
constexpr uint64_t kMaxTextBytes = 512 << 20;

class Structures {
 public:
  Structures(Txn& txn, Databases& databases) : txn_(txn), databases_(databases), events_(txn, databases.events()) {}
  Structures(const Structures&) = delete;
  Structures& operator=(const Structures&) = delete;

  Txn& txn() { return txn_; }
  // What a string may have.
  void set_max_text_bytes(uint64_t bytes) { max_text_bytes_ = bytes; }
  uint64_t max_text_bytes() const { return max_text_bytes_; }
  Timestamp Now() { return txn_.Now(); }
  Result<DatabaseId> IdOf(uint32_t database);

  // Reads together what will be opened.
  struct Name {
    uint32_t database;
    BytesView name;
  };
  Status Read(std::span<const Name> names);
  // Never null; it stays where it is.
  Result<Key*> Open(uint32_t database, BytesView name);
  // From when on a key is gone, which may be now.
  void Expire(Key& key, Timestamp when);

  // What has happened to a key, after it has: that it is new is told before, and first of all that what was there
  // before had expired.
  void Tell(EventClass of, std::string_view event, uint32_t database, Key& key) {
    if (events_.any()) Note(of, event, database, key);
  }
  // That it is new, also if it was there before: whatever was there was removed first.
  void TellNew(uint32_t database, Key& key) {
    if (events_.any()) NoteNew(database, key);
  }
  // That somebody looked for a key that is absent.
  void TellMiss(uint32_t database, const Key& key) {
    if (events_.any()) events_.Add(kMissEvents, "keymiss", database, key.name());
  }
  void TellMiss(uint32_t database, BytesView name) {
    if (events_.any()) events_.Add(kMissEvents, "keymiss", database, name);
  }
  bool TellsMisses() const { return events_.Wants(kMissEvents); }

  // Hands everything that was changed to the transaction. To be called at the end, and before the transaction is asked
  // for keys past this.
  void Flush();

  // Whatever is in them is gone. What hangs on it is taken away by the job `structure_erase`.
  Status FlushDatabases(std::span<const uint32_t> numbers);
  Status SwapDatabases(uint32_t first, uint32_t second);
  Result<uint64_t> CountKeys(uint32_t database);

 private:
  // Keys are made room for so many at a time that were not expected.
  static constexpr size_t kFewKeys = 4;

  // To how many keys a part of a database has been counted since the last Flush.
  struct CountChange {
    DatabaseId database;
    uint64_t part;
    int64_t by;
  };
  struct Opened {
    Key* key;
    bool added;  // it has yet to be read
  };
  void ExpectKeys(size_t count);
  Opened FindOrAdd(DatabaseId database, BytesView name);
  Status ReadAdded(std::span<Key* const> keys);
  Status Fill(Key& key, std::optional<Record> record);
  void Write(Key& key);
  void Count(DatabaseId database, uint64_t part, int64_t by);
  void Note(EventClass of, std::string_view event, uint32_t database, Key& key);
  void NoteNew(uint32_t database, Key& key);
  void NoteLapse(uint32_t database, Key& key);

  Txn& txn_;
  Databases& databases_;
  EventNotes events_;
  uint64_t max_text_bytes_ = kMaxTextBytes;
  std::optional<DatabaseMap> map_;
  // In the order in which they were opened. A part of them is made as long as is expected, and never grows.
  std::vector<std::vector<Key>> keys_;
  KeyTable<Key> table_;
  // What was read together is mostly opened in the same order: which of those comes next.
  std::vector<Key*> read_;
  size_t next_ = 0;
  std::vector<CountChange> counts_;
  std::optional<Error> failed_;  // a read: nothing is known of what it was for
};

// Lets go of what hangs on a key that is removed below this.
Status DropContents(Txn& txn, const Record& record);

}  // namespace kvarts::structure
