// Members: what a set or a hash holds, by name, each with a value (which of a set is empty).
//
// A few small ones lie in the record of their key, in the order in which they came. More of them, or larger ones, lie
// under a collection's id, a record each, in the order of their hashes: so a name is found by one read, a scan can go
// on from a number, and to drop or rename all of them is one write, of the key. What is dropped is put on the list of
// what the job `structure_erase` takes away.
//
// Each change of a member is a change of the key, whose record is written with it.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/txn.h"
#include "model/structure/collection_ids.h"

namespace kvarts::structure {

class Members {
 public:
  // Beyond either they are spread out.
  static constexpr size_t kMaxInline = 128;
  static constexpr size_t kMaxInlineBytes = 1024;
  // Asked for by one scan.
  static constexpr int64_t kMaxScanned = 1000;

  // There are none yet.
  Members(Txn& txn, CollectionIds& ids) : txn_(&txn), ids_(&ids) {}
  // They are spread out under an id that is another collection's, too.
  Members(Txn& txn, CollectionIds& ids, CollectionId id, uint64_t count)
      : txn_(&txn), ids_(&ids), spread_(true), id_(id), count_(count) {}
  // `corruption` when the bytes are none.
  static Result<Members> Decode(Txn& txn, CollectionIds& ids, BytesView stored);
  Bytes Encode() const;

  bool spread() const { return spread_; }
  uint64_t size() const { return spread_ ? count_ : entries_.size(); }

  Result<std::optional<Bytes>> Find(BytesView name);
  // In their order.
  Status FindMany(std::span<const BytesView> names, std::vector<std::optional<Bytes>>* values);
  // Whether it is new.
  Result<bool> Put(BytesView name, BytesView value);
  // Whether it was there.
  Result<bool> Erase(BytesView name);
  // Of those that are spread out, for who knows whether it is there, and how many there are.
  void PutUnseen(BytesView name, BytesView value) { txn_->Put(PlaceOf(name), value); }
  void EraseUnseen(BytesView name) { txn_->Erase(PlaceOf(name)); }

  using Visit = std::function<void(BytesView name, BytesView value)>;
  Status ForEach(const Visit& visit);
  // Those from a place on, about `count` of them; where to go on, or zero when that was all. Whoever goes through all
  // of it sees each that is there all the while.
  Result<uint64_t> Scan(uint64_t place, size_t count, const Visit& visit);
  // Any one, each about as likely as any other; there is one.
  using Entry = std::pair<Bytes, Bytes>;
  Result<Entry> Any(uint64_t random);
  // So many different ones, or all; of a negative number as many, which need not differ.
  Result<std::vector<Entry>> Choose(int64_t count, const std::function<uint64_t()>& random);

  // They will not be needed any more.
  void Drop();
  // Another collection with the same members. `too_large` when a commit cannot hold it.
  Result<Members> Copy();

 private:
  KeyBuffer PlaceOf(BytesView name) const;
  KeyRange RangeFrom(uint64_t hash) const;
  std::vector<Entry>::iterator FindInline(BytesView name);
  Status SpreadOut();
  // The name of a member, from its place.
  static BytesView NameOf(BytesView place, const KeyBuffer& before);
  Result<ScanPage> Page(const KeyRange& range, size_t count);

  Txn* txn_;
  CollectionIds* ids_;
  bool spread_ = false;
  std::vector<Entry> entries_;  // while they are not spread out
  size_t bytes_ = 0;            // of those
  CollectionId id_;
  uint64_t count_ = 0;
};

}  // namespace kvarts::structure
