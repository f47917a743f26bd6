#include "model/structure/tree.h"

#include <algorithm>
#include <array>

#include "core/fields.h"

namespace kvarts::structure {
namespace {

constexpr uint8_t kInline = 0;
constexpr uint8_t kSpread = 1;
// Nodes that are read together.
constexpr size_t kAtOnce = 32;
// Beyond so many nodes more than could not be let go of last time, leaves that were only read are.
constexpr size_t kMaxHeld = 1024;

}  // namespace

Tree::Tree(Txn& txn, CollectionIds& ids, Order order, const TreeLimits& limits)
    : txn_(&txn), ids_(&ids), order_(order), limits_(limits) {
  nodes_.emplace(root_, std::make_unique<TreeNode>());
}

Result<Tree> Tree::Decode(Txn& txn, CollectionIds& ids, Order order, BytesView stored, const TreeLimits& limits) {
  Tree tree(txn, ids, order, limits);
  FieldReader fields(stored);
  tree.spread_ = fields.Byte(kSpread) == kSpread;
  if (tree.spread_) {
    tree.nodes_.clear();
    tree.id_.value = fields.Varint();
    tree.size_ = fields.Varint();
    tree.root_ = fields.Varint();
    tree.height_ = fields.Varint(kMaxTreeHeight);
    tree.next_ = fields.Varint();
  } else {
    tree.size_ = fields.Varint(stored.size());
    const BytesView items = fields.Rest();
    fields.Require(TreeItems::Parse(items, tree.size_, &tree.nodes_[tree.root_]->items),
                   "other items than were counted");
  }
  KVARTS_CHECK_OK(fields.Finish("a collection is damaged"));
  return tree;
}

Bytes Tree::Encode() {
  Bytes record;
  record.push_back(static_cast<char>(spread_ ? kSpread : kInline));
  if (!spread_) {
    AppendVarint(&record, size_);
    record.append(nodes_[root_]->items.bytes());
    return record;
  }
  for (const KeyBuffer& place : removed_) txn_->Erase(place);
  removed_.clear();
  for (const auto& [number, node] : nodes_) {
    if (node->changed) txn_->Put(NodePlace(id_, number), EncodeTreeNode(*node));
    if (node->counts_changed) txn_->Put(NodeCountsPlace(id_, number), EncodeTreeCounts(*node));
    node->stored = node->stored || node->changed;
    node->changed = node->counts_changed = false;
  }
  for (const uint64_t field : {id_.value, size_, root_, uint64_t{height_}, next_}) AppendVarint(&record, field);
  return record;
}

Tree::Wanted Tree::ChildOf(const TreeNode& inner, size_t child) {
  return {inner.children[child], inner.level - 1, inner.counts[child]};
}

Result<TreeNode> Tree::ReadNode(const Wanted& wanted, const Record* record, const Record* counts) const {
  if (record == nullptr || (wanted.level > 0 && counts == nullptr)) {
    return Error(ErrorCode::kCorruption, "a node of a collection is missing",
                 {{"node", std::to_string(wanted.number)}});
  }
  if (wanted.level == 0) return DecodeTreeLeaf(record->value, wanted.count);
  return DecodeTreeInner(record->value, counts->value, wanted.level, wanted.count, order_ == Order::kByBytes);
}

Status Tree::LoadAll(std::span<const Wanted> wanted) {
  std::vector<KeyBuffer> places;
  places.reserve(2 * wanted.size());
  for (const Wanted& one : wanted) {
    places.push_back(NodePlace(id_, one.number));
    if (one.level > 0) places.push_back(NodeCountsPlace(id_, one.number));
  }
  const std::vector<BytesView> keys(places.begin(), places.end());
  std::vector<std::optional<Record>> records(keys.size());
  KVARTS_CHECK_OK(txn_->PeekMany(keys, records));
  reads_ += wanted.size();
  size_t at = 0;
  for (const Wanted& one : wanted) {
    const Record* record = records[at] ? &*records[at] : nullptr;
    const Record* counts = one.level > 0 && records[at + 1] ? &*records[at + 1] : nullptr;
    at += one.level > 0 ? 2 : 1;
    KVARTS_TRY(TreeNode node, ReadNode(one, record, counts));
    node.number = one.number;
    nodes_.insert_or_assign(one.number, std::make_unique<TreeNode>(std::move(node)));
  }
  return {};
}

Result<TreeNode*> Tree::Load(const Wanted& wanted) {
  auto found = nodes_.find(wanted.number);
  if (found == nodes_.end()) {
    KVARTS_CHECK_OK(LoadAll({&wanted, 1}));
    found = nodes_.find(wanted.number);
  }
  // A node that hangs at two places could be asked for as what it is not.
  TreeNode* node = found->second.get();
  const bool is_it = node->level == wanted.level && (node->level > 0 || node->items.size() == wanted.count);
  if (!is_it) return Error(ErrorCode::kCorruption, kDamagedTree);
  return node;
}

Result<Tree::Path> Tree::PathTo(uint64_t position) {
  Path path;
  path.steps.reserve(height_);
  Wanted at = Root();
  while (at.level > 0) {
    KVARTS_TRY(TreeNode * node, Load(at));
    size_t child = 0;
    // The last one takes what would lie behind it.
    while (child + 1 < node->counts.size() && position >= path.before + node->counts[child]) {
      path.before += node->counts[child++];
    }
    path.steps.push_back({node, child});
    at = ChildOf(*node, child);
  }
  KVARTS_TRY(path.leaf, Load(at));
  return path;
}

Result<Tree::Path> Tree::PathTo(BytesView item) {
  Path path;
  path.steps.reserve(height_);
  Wanted at = Root();
  while (at.level > 0) {
    KVARTS_TRY(TreeNode * node, Load(at));
    // Before the first child stands what is not greater than any item.
    const size_t child = node->items.UpperBound(item) - 1;
    for (size_t i = 0; i < child; ++i) path.before += node->counts[i];
    path.steps.push_back({node, child});
    at = ChildOf(*node, child);
  }
  KVARTS_TRY(path.leaf, Load(at));
  return path;
}

Result<Bytes> Tree::At(uint64_t position) {
  LetGo();
  KVARTS_TRY(const Path path, PathTo(position));
  return Bytes(path.leaf->items[position - path.before]);
}

Result<Tree::Place> Tree::Find(BytesView item) {
  KVARTS_TRY(const Path path, PathTo(item));
  const TreeItems& items = path.leaf->items;
  const size_t index = items.LowerBound(item);
  return Place{path.before + index, index < items.size() && items[index] == item};
}

Status Tree::ReadFor(std::span<const Bytes> items) {
  std::vector<Wanted> at(items.size(), Root());
  for (size_t level = height_ + 1; level-- > 0;) {
    std::unordered_map<uint64_t, Wanted> missing;
    for (const Wanted& wanted : at) {
      if (!nodes_.contains(wanted.number)) missing.emplace(wanted.number, wanted);
    }
    std::vector<Wanted> wanted;
    for (const auto& [number, one] : missing) wanted.push_back(one);
    if (!wanted.empty()) KVARTS_CHECK_OK(LoadAll(wanted));
    for (size_t i = 0; level > 0 && i < items.size(); ++i) {
      KVARTS_TRY(const TreeNode* node, Load(at[i]));
      at[i] = ChildOf(*node, node->items.UpperBound(items[i]) - 1);
    }
  }
  return {};
}

void Tree::LetGo() {
  if (nodes_.size() <= kept_ + kMaxHeld) return;
  std::erase_if(nodes_, [](const auto& entry) {
    const TreeNode& node = *entry.second;
    return node.level == 0 && node.stored && !node.changed;
  });
  kept_ = nodes_.size();
}

// Leaves below the same node are read together, as far as they are wanted.
Status Tree::ReadAhead(const TreeNode& inner, size_t child, bool backwards, uint64_t wanted) {
  std::vector<Wanted> missing;
  for (; child < inner.children.size() && wanted > 0 && missing.size() < kAtOnce;
       child = backwards ? child - 1 : child + 1) {
    const Wanted leaf = ChildOf(inner, child);
    if (!nodes_.contains(leaf.number)) missing.push_back(leaf);
    wanted -= std::min(wanted, leaf.count);
  }
  return missing.size() > 1 ? LoadAll(missing) : Status();
}

Result<bool> Tree::Move(Path* path, bool backwards, uint64_t wanted) {
  const auto at_end = [&](const Step& step) {
    return backwards ? step.child == 0 : step.child + 1 == step.node->children.size();
  };
  while (!path->steps.empty() && at_end(path->steps.back())) path->steps.pop_back();
  if (path->steps.empty()) return false;
  path->steps.back().child += backwards ? size_t{0} - 1 : 1;
  while (path->steps.back().node->level > 1) {
    const Step& step = path->steps.back();
    KVARTS_TRY(TreeNode * node, Load(ChildOf(*step.node, step.child)));
    path->steps.push_back({node, backwards ? node->children.size() - 1 : 0});
  }
  LetGo();
  const Step& step = path->steps.back();
  KVARTS_CHECK_OK(ReadAhead(*step.node, step.child, backwards, wanted));
  KVARTS_TRY(path->leaf, Load(ChildOf(*step.node, step.child)));
  return true;
}

Status Tree::Visit(uint64_t from, uint64_t count, bool backwards, const Visitor& visit) {
  if (from >= size_ || count == 0) return {};
  KVARTS_TRY(Path path, PathTo(from));
  size_t index = from - path.before;
  while (true) {
    const TreeItems& items = path.leaf->items;
    if (index >= items.size()) return Error(ErrorCode::kCorruption, kDamagedTree);
    for (size_t left = backwards ? index + 1 : items.size() - index; left > 0 && count > 0; --left, --count) {
      if (!visit(items[index])) return {};
      index += backwards ? size_t{0} - 1 : 1;
    }
    if (count == 0) return {};
    KVARTS_TRY(const bool more, Move(&path, backwards, count));
    if (!more) return {};
    index = backwards ? path.leaf->items.size() - 1 : 0;
  }
}

Result<Tree> Tree::Copy() {
  Tree copy(*txn_, *ids_, order_, limits_);
  copy.size_ = size_;
  if (!spread_) {
    copy.nodes_[copy.root_]->items = nodes_[root_]->items;
    return copy;
  }
  KVARTS_TRY(copy.id_, ids_->Take(*txn_));
  copy.spread_ = true;
  copy.root_ = root_;
  copy.height_ = height_;
  copy.next_ = next_;
  copy.nodes_.clear();
  uint64_t bytes = 0;
  KVARTS_CHECK_OK(CopyBelow(Root(), &copy, &bytes));
  return copy;
}

Status Tree::CopyBelow(const Wanted& wanted, Tree* copy, uint64_t* bytes) {
  KVARTS_TRY(const TreeNode* node, Load(wanted));
  auto made = std::make_unique<TreeNode>(*node);
  made->changed = true;
  made->counts_changed = made->level > 0;
  made->stored = false;
  *bytes += made->items.bytes().size();
  copy->nodes_.emplace(wanted.number, std::move(made));
  if (copy->nodes_.size() > txn_->limits().max_commit_operations || *bytes > txn_->limits().max_commit_bytes) {
    return TooLarge();
  }
  for (size_t child = 0; child < node->children.size(); ++child) {
    if (node->level == 1 && child % kAtOnce == 0) {
      KVARTS_CHECK_OK(ReadAhead(*node, child, false, wanted.count));
    }
    KVARTS_CHECK_OK(CopyBelow(ChildOf(*node, child), copy, bytes));
  }
  return {};
}

Error Tree::TooLarge() const {
  return Error(ErrorCode::kTooLarge, "the collection is too large to be changed so at once",
               {{"limit", "max_commit_operations"}, {"items", std::to_string(size_)}});
}

void Tree::Drop() {
  if (!spread_) return;
  Bytes count;
  AppendVarint(&count, size_);
  txn_->Put(DroppedPlace(id_), count);
}

}  // namespace kvarts::structure
