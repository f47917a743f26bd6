// RangeIndex: which of many key ranges hold a key, or meet another range. A search costs the logarithm of how many
// ranges there are plus what it finds, so ten thousand that are elsewhere cost nobody anything.
//
// A treap ordered by where ranges start, in which every node knows the range of its subtree that ends last. Not safe
// for use by several threads.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "encoding/key_range.h"

namespace kvarts {

class RangeIndex {
 public:
  using Id = uint64_t;

  RangeIndex();
  ~RangeIndex();

  // An id may stand for several ranges, and is found once for each. One that is empty is never found.
  void Add(Id id, KeyRange range);
  // The id was added with this range. Others of it that start at the same key go, too.
  void Remove(Id id, const KeyRange& range);

  // Both append what they find, in no particular order.
  void FindHolding(BytesView key, std::vector<Id>* found) const;
  void FindMeeting(const KeyRange& range, std::vector<Id>* found) const;

 private:
  struct Node;
  using Tree = std::unique_ptr<Node>;

  static void Split(Tree tree, BytesView start, Id id, Tree* before, Tree* from);
  static Tree Join(Tree before, Tree after);
  static void Search(const Node* node, BytesView first, const KeyRange* range, std::vector<Id>* found);

  Tree root_;
  uint64_t added_ = 0;  // nodes, so far
};

}  // namespace kvarts
