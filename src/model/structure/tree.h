// Tree: many items of which each is found by its place among them: a B+-tree that counts, whose nodes are records
// under a collection's id. Lists and sorted sets are thin layers on it.
//
// Items are bytes. They lie in their byte order (sorted sets), or in the order in which they were put (lists). What is
// asked of a tree costs a read per level, however large it is, and nothing of it is kept between transactions.
//
//   - A leaf is a block of items. A tree of one small leaf lies in the record of its key; an id is taken when it grows.
//   - An inner node is two records: its shape (numbers of children, and what separates them), which is written when a
//     child is split or goes, and its counts (the items below each child), which every change writes.
//   - Nodes are read once, changed in memory, and written once, by Encode. They are read without preconditions: a
//     commit rests on the record of the key, which every change of the tree rewrites.
//
// Where items are put at either end of the tree, its leaves are left full. A node that is damaged is `corruption`.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/txn.h"
#include "model/structure/collection_ids.h"
#include "model/structure/tree_node.h"

namespace kvarts::structure {

// What a node may have; beyond any of it, it is split. A leaf of one item may have more bytes.
struct TreeLimits {
  size_t max_items = 64;
  size_t max_leaf_bytes = 1024;
  // Of the leaf that lies in the record of its key.
  size_t max_inline_bytes = 1024;
  size_t max_children = 192;
  size_t max_shape_bytes = 6144;
};

class Tree {
 public:
  enum class Order : uint8_t { kByBytes, kByPosition };

  // There is nothing in it.
  Tree(Txn& txn, CollectionIds& ids, Order order, const TreeLimits& limits = {});
  // `corruption` when the bytes are none.
  static Result<Tree> Decode(Txn& txn, CollectionIds& ids, Order order, BytesView stored,
                             const TreeLimits& limits = {});
  // Hands the nodes that were changed to the transaction, and gives what is to stand in the record of the key.
  Bytes Encode();

  uint64_t size() const { return size_; }
  // Whether its nodes are records of their own, under `id`.
  bool spread() const { return spread_; }
  CollectionId id() const { return id_; }

  // The position is below the size.
  Result<Bytes> At(uint64_t position);
  // Items from a position on, backwards to lower ones, until `visit` says false or it was called `count` times. What is
  // visited must not be changed meanwhile, and a view of it ends with the call.
  using Visitor = std::function<bool(BytesView item)>;
  Status Visit(uint64_t from, uint64_t count, bool backwards, const Visitor& visit);

  // By bytes.
  struct Place {
    uint64_t position;  // how many items are less
    bool found;
  };
  Result<Place> Find(BytesView item);
  // Reads together what finding them needs.
  Status ReadFor(std::span<const Bytes> items);
  // Whether it is new; whether it was there.
  Result<bool> Insert(BytesView item);
  Result<bool> Erase(BytesView item);

  // By position: it is put before what is there, or at the end. The item may be of any size that a record may have.
  Status InsertAt(uint64_t position, BytesView item);
  Status ReplaceAt(uint64_t position, BytesView item);

  // Of either kind: all of them are there. `too_large` when a commit cannot hold it: nothing of it may be committed.
  // When that is everything, it is better dropped.
  Status EraseAt(uint64_t position, uint64_t count);

  // Another tree with the same items. `too_large` when a commit cannot hold it.
  Result<Tree> Copy();
  // It will not be needed any more: what hangs on its id is put on the list of the job `structure_erase`.
  void Drop();

  // That the whole tree is sound, and `corruption` when it is not. For tests: it reads everything.
  struct Survey {
    uint64_t leaves = 0;
    uint64_t inner = 0;
    uint64_t bytes = 0;  // of items in leaves
    size_t height = 0;   // levels above the leaves
  };
  Result<Survey> Check();
  // How many nodes were read so far.
  uint64_t reads() const { return reads_; }

 private:
  // Where a leaf hangs: an inner node of each level, from the root on, and which of its children it is.
  struct Step {
    TreeNode* node;
    size_t child;
  };
  struct Path {
    std::vector<Step> steps;
    TreeNode* leaf = nullptr;
    uint64_t before = 0;  // items before the leaf
  };
  // A node that is to be read, and the items that are said to be in it.
  struct Wanted {
    uint64_t number;
    size_t level;
    uint64_t count;
  };

  Result<TreeNode*> Load(const Wanted& wanted);
  Status LoadAll(std::span<const Wanted> wanted);
  Result<TreeNode> ReadNode(const Wanted& wanted, const Record* record, const Record* counts) const;
  static Wanted ChildOf(const TreeNode& inner, size_t child);
  Wanted Root() const { return {root_, height_, size_}; }
  Status ReadAhead(const TreeNode& inner, size_t child, bool backwards, uint64_t wanted);
  void LetGo();
  Error TooLarge() const;

  Result<Path> PathTo(uint64_t position);
  Result<Path> PathTo(BytesView item);
  // To the leaf beside it, of what follows so many items being wanted; whether there is one.
  Result<bool> Move(Path* path, bool backwards, uint64_t wanted);
  Status CopyBelow(const Wanted& wanted, Tree* copy, uint64_t* bytes);
  Status CheckBelow(const Wanted& wanted, BytesView low, const Bytes* high, Survey* survey);

  // tree_change.cc
  TreeNode& Make(size_t level);
  void Remove(const TreeNode& node);
  static bool IsAtEdge(const Path& path, size_t depth, bool end);
  bool IsTooLarge(const TreeNode& node) const;
  bool IsSmall(const TreeNode& node) const;
  bool FitTogether(const TreeNode& left, const TreeNode& right) const;
  Status SpreadOut();
  Status InsertInto(Path& path, size_t index, BytesView item);
  // Where a node is split: in its middle, or so that what was put at an end of the tree is alone.
  enum class Cut : uint8_t { kEven, kFirst, kLast };
  static size_t CutOf(const TreeNode& node, Cut cut);
  void Split(Path& path, size_t depth, TreeNode& node, Cut cut);
  void SplitBelow(TreeNode& parent, size_t child, TreeNode& node, Cut cut);
  Bytes Separate(const TreeNode& left, TreeNode* right) const;
  Status EraseFrom(Path& path, size_t index);
  void EraseChild(TreeNode& parent, size_t child);
  void MergeWithNext(TreeNode& parent, size_t child, TreeNode& left, TreeNode& right);
  Result<bool> Shrink(const Path& path, size_t depth);
  Status ShrinkRoot();
  Status ShrinkAt(uint64_t position);
  Status EraseWithin(TreeNode& node, uint64_t from, uint64_t count);
  Status RemoveBelow(const Wanted& wanted);

  Txn* txn_;
  CollectionIds* ids_;
  Order order_;
  TreeLimits limits_;
  uint64_t size_ = 0;
  bool spread_ = false;
  CollectionId id_;
  uint64_t root_ = 0;
  size_t height_ = 0;
  uint64_t next_ = 1;  // no node has this number, or a higher one
  uint64_t reads_ = 0;
  // What was read or made. Of a tree in the record of its key, its leaf.
  std::unordered_map<uint64_t, std::unique_ptr<TreeNode>> nodes_;
  size_t kept_ = 0;                 // so many were left when others were let go of
  std::vector<KeyBuffer> removed_;  // records that are to go
};

}  // namespace kvarts::structure
