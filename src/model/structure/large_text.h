// LargeText: a string that is too long for the record of its key. It lies in chunks under a collection's id, so that
// what reads or writes a part of it costs what it touches, and to drop or rename it is one write, of the key.
//
// Zeros need not be stored: a chunk that is not there, and what is missing at the end of one, are zeros. Each change of
// a chunk is a change of the key, whose record is written with it.
#pragma once

#include <functional>
#include <optional>

#include "core/txn.h"
#include "model/structure/collection_ids.h"

namespace kvarts::structure {

class LargeText {
 public:
  static constexpr uint64_t kChunkBytes = 32 << 10;

  // It is empty yet.
  LargeText(Txn& txn, CollectionIds& ids) : txn_(&txn), ids_(&ids) {}
  // One whose chunks are there already.
  LargeText(Txn& txn, CollectionIds& ids, CollectionId id, uint64_t size)
      : txn_(&txn), ids_(&ids), id_(id), size_(size) {}
  // `corruption` when the bytes are none.
  static Result<LargeText> Decode(Txn& txn, CollectionIds& ids, BytesView stored);
  Bytes Encode() const;

  bool spread() const { return true; }
  uint64_t size() const { return size_; }

  // From a place on so much of it as there is, in order, until `visit` says false.
  using Visit = std::function<bool(BytesView piece)>;
  Status ForEachPiece(uint64_t at, uint64_t size, const Visit& visit) const;
  // Puts text at a place; between the end and it come zeros.
  Status Write(uint64_t at, BytesView text);
  // With zeros, if it is shorter.
  void GrowTo(uint64_t size) { size_ = std::max(size_, size); }

  // It will not be needed any more.
  void Drop();
  // Another one with the same text. `too_large` when a commit cannot hold it.
  Result<LargeText> Copy();

 private:
  Txn* txn_;
  CollectionIds* ids_;
  std::optional<CollectionId> id_;  // once something was written
  uint64_t size_ = 0;
};

}  // namespace kvarts::structure
