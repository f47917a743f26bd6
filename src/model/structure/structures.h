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

#include <deque>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/txn.h"
#include "model/structure/collection.h"
#include "model/structure/databases.h"
#include "model/structure/refusals.h"

namespace kvarts::structure {

// Of what is stored under a key.
Type TypeOf(const ValueHeader& header);

// A key of a database. It may be absent, and may be made.
class Key {
 public:
  Type type() const { return type_; }
  bool exists() const { return type_ != Type::kNone; }
  Timestamp expiry() const { return expiry_; }
  BytesView name() const { return name_; }
  BytesView place() const { return place_; }
  // Of what is stored; nothing when that is nothing, or has expired.
  std::optional<Version> version() const { return version_; }

  // Of a string, or of a key that is absent, which is an empty one.
  const Bytes& text() const { return text_; }
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
  void SetText(Bytes text);
  // Changes the text alone; of a key that is absent it makes a string.
  Bytes& EditText();
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

  Txn* txn_ = nullptr;
  CollectionIds* ids_ = nullptr;
  Bytes name_;
  DatabaseId database_;
  KeyBuffer place_;
  Type type_ = Type::kNone;
  Timestamp expiry_ = kNever;
  Bytes text_;
  std::optional<Collection> collection_;
  std::optional<Collection> expired_;  // of what is stored
  std::optional<Version> version_;
  bool stored_ = false;   // be it expired
  bool counted_ = false;  // that the collection is spread out
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

class Structures {
 public:
  Structures(Txn& txn, Databases& databases) : txn_(txn), databases_(databases) {}
  Structures(const Structures&) = delete;
  Structures& operator=(const Structures&) = delete;

  Txn& txn() { return txn_; }
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

  // Hands everything that was changed to the transaction. To be called at the end, and before the transaction is asked
  // for keys past this.
  void Flush();

  // Whatever is in them is gone. What hangs on it is taken away by the job `structure_erase`.
  Status FlushDatabases(std::span<const uint32_t> numbers);
  Status SwapDatabases(uint32_t first, uint32_t second);
  Result<uint64_t> CountKeys(uint32_t database);

 private:
  Key* Find(BytesView place);
  Status Add(DatabaseId database, BytesView name, const KeyBuffer& place, std::optional<Record> record);
  void Write(Key& key);

  Txn& txn_;
  Databases& databases_;
  std::optional<DatabaseMap> map_;
  std::deque<Key> keys_;  // in the order in which they were opened
  std::unordered_map<BytesView, Key*> by_place_;
};

// Lets go of what hangs on a key that is removed below this.
Status DropContents(Txn& txn, const Record& record);

}  // namespace kvarts::structure
