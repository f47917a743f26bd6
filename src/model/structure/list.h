// List: items in the order in which they were put, found by their place: a tree that counts (tree.h), by position.
//
// To put, take or find an item at any place costs as many reads as the tree has levels. What looks for an item by what
// it is goes through the list. Each change of a list is a change of the key, whose record is written with it.
#pragma once

#include <optional>
#include <vector>

#include "model/structure/tree.h"

namespace kvarts::structure {

class List {
 public:
  enum class End : uint8_t { kHead, kTail };

  // There is nothing in it.
  List(Txn& txn, CollectionIds& ids) : items_(txn, ids, Tree::Order::kByPosition) {}
  // `corruption` when the bytes are none.
  static Result<List> Decode(Txn& txn, CollectionIds& ids, BytesView stored);
  Bytes Encode() { return items_.Encode(); }

  uint64_t size() const { return items_.size(); }
  bool spread() const { return items_.spread(); }

  Status Push(End end, BytesView item);
  // So many from an end on, or all, as they come.
  Result<std::vector<Bytes>> Pop(End end, uint64_t count);

  // A place of a list as clients give it: less than zero counts from the end. Nothing: there is none.
  std::optional<uint64_t> PositionOf(int64_t index) const;
  Result<Bytes> At(uint64_t position) { return items_.At(position); }
  Status Replace(uint64_t position, BytesView item) { return items_.ReplaceAt(position, item); }
  // From one place to another, both included; where it begins, and how many those are, which may be none.
  struct Range {
    uint64_t first = 0;
    uint64_t count = 0;
  };
  Range RangeOf(int64_t first, int64_t last) const;
  Status Visit(const Range& range, const Tree::Visitor& visit);
  // Takes away whatever is not in the range.
  Status Keep(const Range& range);

  // Beside the first that is `pivot`; whether there is one.
  Result<bool> InsertBeside(BytesView pivot, bool before, BytesView item);
  // The first so many that are `item`, or of a negative number the last; of zero all. How many those were.
  Result<uint64_t> Remove(BytesView item, int64_t count);
  // Where `item` is.
  struct Search {
    bool backwards = false;
    uint64_t skipped = 0;       // of those that are found
    uint64_t at_most = 1;       // to find; zero: all
    uint64_t max_compared = 0;  // zero: all
  };
  Result<std::vector<uint64_t>> Find(BytesView item, const Search& search);

  void Drop() { items_.Drop(); }
  // Another list with the same items. `too_large` when a commit cannot hold it.
  Result<List> Copy();

 private:
  explicit List(Tree items) : items_(std::move(items)) {}

  Tree items_;
};

}  // namespace kvarts::structure
