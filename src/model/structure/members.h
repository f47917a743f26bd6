// Members: what a set or a hash holds, by name, each with a value (which of a set is empty).
//
// A few small ones lie in the record of their key, in the order in which they came. More of them, or larger ones, lie
// under a collection's id, a record each, in the order of their hashes: so a name is found by one read, a scan can go
// on from a number, and to drop or rename all of them is one write, of the key. What is dropped is put on the list of
// what the job `structure_erase` takes away.
//
// Each change of a member is a change of the key, whose record is written with it.
//
// A member may have an expiry, from which on it is not there. Of those that are spread out and have one there is an
// index, under an id of its own, in the order of their expiries; the count has them until the job `key_expiry` has
// taken them away (field_expiry.h). So how many there are is the count without those that the index says are due.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/fields.h"
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
  // Of those spread out it may count some that have expired, unless Settle was called; it is zero only, and always,
  // when there are none.
  uint64_t size() const { return spread_ ? count_ - due_ : entries_.size(); }
  // Looks through the index for those that are due; whether that may be many.
  Status Settle();
  bool MayBeDue() const { return timed_ > 0 && earliest_ <= txn_->Now(); }

  Result<std::optional<Bytes>> Find(BytesView name);
  // In their order.
  Status FindMany(std::span<const BytesView> names, std::vector<std::optional<Bytes>>* values);
  // Whether it is new. It has no expiry then, unless it is to keep the one it has.
  Result<bool> Put(BytesView name, BytesView value, bool keep_expiry = false);
  // Whether it was there.
  Result<bool> Erase(BytesView name);
  // Of those that are spread out, for who knows whether it is there, and how many there are.
  void PutUnseen(BytesView name, BytesView value) { txn_->Put(PlaceOf(name), value); }
  void EraseUnseen(BytesView name) { txn_->Erase(PlaceOf(name)); }

  // kNever: it has none. Nothing: there is no such member.
  Result<std::optional<Timestamp>> ExpiryOf(BytesView name);
  // The member is there, and the expiry yet to come.
  Status SetExpiry(BytesView name, Timestamp expiry);
  // No member expires before; kNever when none has an expiry. As it was in the record of the key, and as it is.
  Timestamp stored_earliest() const { return stored_earliest_; }
  Timestamp Earliest() const;
  // Takes away members that have expired, at most so many: how many that was, and whether there are more.
  struct Expired {
    uint64_t count = 0;
    bool more = false;
    bool any = false;       // there were some, be they not counted
    bool key_gone = false;  // with the last of them
  };
  Result<Expired> TakeExpired(size_t at_most);

  using Visit = std::function<void(BytesView name, BytesView value)>;
  Status ForEach(const Visit& visit);
  using VisitTimed = std::function<void(BytesView name, BytesView value, Timestamp expiry)>;
  Status ForEachTimed(const VisitTimed& visit);
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
  Result<std::optional<Record>> FindRecord(BytesView name);
  static Result<Members> DecodeInline(Members members, FieldReader& fields, bool timed);
  void PutSpread(BytesView name, BytesView value, Timestamp expiry);
  Status NoteIfAllAreDue();
  Result<ScanPage> DuePage(size_t count);
  Status SpreadOut();
  // The name of a member, from its place.
  static BytesView NameOf(BytesView place, const KeyBuffer& before);
  Result<ScanPage> Page(const KeyRange& range, size_t count);

  Txn* txn_;
  CollectionIds* ids_;
  bool spread_ = false;
  std::vector<Entry> entries_;       // while they are not spread out
  size_t bytes_ = 0;                 // of those
  std::vector<Timestamp> expiries_;  // of those, when one has any; else empty
  CollectionId id_;
  uint64_t count_ = 0;
  CollectionId index_;  // when timed_ is not zero
  uint64_t timed_ = 0;  // how many of count_ are in it
  Timestamp earliest_ = kNever;
  Timestamp stored_earliest_ = kNever;
  uint64_t due_ = 0;  // of count_, as far as is known
  bool settled_ = false;
};

}  // namespace kvarts::structure
