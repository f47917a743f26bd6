// The nodes of a tree (tree.h): in memory, and as records.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "model/structure/places.h"

namespace kvarts::structure {

// Items one behind the other, as they are stored: the size of each as a varint, and its bytes.
class TreeItems {
 public:
  size_t size() const { return starts_.size(); }
  BytesView bytes() const { return bytes_; }
  BytesView operator[](size_t index) const;
  // The first that is not less; the first that is greater. They lie in their order.
  size_t LowerBound(BytesView item) const;
  size_t UpperBound(BytesView item) const;

  void Insert(size_t index, BytesView item);
  void Append(BytesView item) { Insert(size(), item); }
  void Replace(size_t index, BytesView item);
  void Erase(size_t index, size_t count);
  // Takes the items from an index on away.
  TreeItems TakeFrom(size_t index);
  void AppendAll(const TreeItems& others);
  // Where an item begins among the bytes; of the one behind the last, where they end.
  size_t StartOf(size_t index) const { return index < starts_.size() ? starts_[index] : bytes_.size(); }

  // Exactly so many; whether that is what the bytes are.
  static bool Parse(BytesView bytes, size_t count, TreeItems* items);

 private:
  Bytes bytes_;
  std::vector<uint32_t> starts_;
};

struct TreeNode {
  uint64_t number = 0;
  size_t level = 0;  // 0: a leaf
  TreeItems items;   // a leaf's; of an inner node by bytes, where each child begins (of the first: nothing)
  std::vector<uint64_t> children;
  std::vector<uint64_t> counts;
  bool changed = false;         // the record, or the shape
  bool counts_changed = false;  // of an inner node
  bool stored = false;          // there are records of it

  uint64_t Count() const;
};

// Of a leaf, or of an inner node's shape: the level as a byte, and the items; or varints: how many children, and the
// number of each, and where they begin.
Bytes EncodeTreeNode(const TreeNode& node);
// A varint for each child.
Bytes EncodeTreeCounts(const TreeNode& node);
// `corruption` unless it is a node of this level, with so many items below it.
Result<TreeNode> DecodeTreeLeaf(BytesView record, uint64_t count);
Result<TreeNode> DecodeTreeInner(BytesView shape, BytesView counts, size_t level, uint64_t count, bool by_bytes);

// More than any tree needs.
inline constexpr size_t kMaxTreeHeight = 32;

inline constexpr const char* kDamagedTree = "a node of a collection is damaged";

}  // namespace kvarts::structure
