// How a tree (tree.h) is changed: what is put into a leaf or taken out of it, and what nodes become of that.
#include <algorithm>

#include "model/structure/tree.h"

namespace kvarts::structure {
namespace {

// Of a node that is too large, the fewest children by which it is split for its bytes.
constexpr size_t kFewChildren = 8;

}  // namespace

TreeNode& Tree::Make(size_t level) {
  auto node = std::make_unique<TreeNode>();
  node->number = next_++;
  node->level = level;
  node->changed = true;
  node->counts_changed = level > 0;
  return *nodes_.emplace(node->number, std::move(node)).first->second;
}

void Tree::Remove(const TreeNode& node) {
  if (node.stored) {
    removed_.push_back(NodePlace(id_, node.number));
    if (node.level > 0) removed_.push_back(NodeCountsPlace(id_, node.number));
  }
  nodes_.erase(uint64_t{node.number});
}

// Whether the way to the node at the end of the first `depth` steps is along an end of the tree.
bool Tree::IsAtEdge(const Path& path, size_t depth, bool end) {
  return std::all_of(path.steps.begin(), path.steps.begin() + static_cast<ptrdiff_t>(depth),
                     [end](const Step& step) { return step.child == (end ? step.node->children.size() - 1 : 0); });
}

bool Tree::IsTooLarge(const TreeNode& node) const {
  if (node.level == 0) {
    const size_t max_bytes = spread_ ? limits_.max_leaf_bytes : limits_.max_inline_bytes;
    return node.items.size() > 1 && (node.items.size() > limits_.max_items || node.items.bytes().size() > max_bytes);
  }
  return node.children.size() > limits_.max_children ||
         (node.items.bytes().size() > limits_.max_shape_bytes && node.children.size() >= kFewChildren);
}

Status Tree::SpreadOut() {
  KVARTS_TRY(id_, ids_->Take(*txn_));
  spread_ = true;
  nodes_[root_]->changed = true;
  return {};
}

Result<bool> Tree::Insert(BytesView item) {
  KVARTS_TRY(Path path, PathTo(item));
  const TreeItems& items = path.leaf->items;
  const size_t index = items.LowerBound(item);
  if (index < items.size() && items[index] == item) return false;
  KVARTS_CHECK_OK(InsertInto(path, index, item));
  return true;
}

Status Tree::InsertAt(uint64_t position, BytesView item) {
  KVARTS_TRY(Path path, PathTo(position));
  return InsertInto(path, position - path.before, item);
}

Status Tree::InsertInto(Path& path, size_t index, BytesView item) {
  TreeNode& leaf = *path.leaf;
  leaf.items.Insert(index, item);
  leaf.changed = true;
  ++size_;
  for (const Step& step : path.steps) {
    ++step.node->counts[step.child];
    step.node->counts_changed = true;
  }
  if (!IsTooLarge(leaf)) return {};
  if (!spread_) KVARTS_CHECK_OK(SpreadOut());
  const size_t depth = path.steps.size();
  Cut cut = Cut::kEven;
  if (index == 0 && IsAtEdge(path, depth, false)) cut = Cut::kFirst;
  if (index + 1 == leaf.items.size() && IsAtEdge(path, depth, true)) cut = Cut::kLast;
  Split(path, depth, leaf, cut);
  return {};
}

Status Tree::ReplaceAt(uint64_t position, BytesView item) {
  KVARTS_TRY(Path path, PathTo(position));
  TreeNode& leaf = *path.leaf;
  leaf.items.Replace(position - path.before, item);
  leaf.changed = true;
  if (!IsTooLarge(leaf)) return {};
  if (!spread_) KVARTS_CHECK_OK(SpreadOut());
  Split(path, path.steps.size(), leaf, Cut::kEven);
  return {};
}

size_t Tree::CutOf(const TreeNode& node, Cut cut) {
  const size_t all = node.level == 0 ? node.items.size() : node.children.size();
  if (cut == Cut::kFirst) return 1;
  if (cut == Cut::kLast) return all - 1;
  if (node.level > 0) return all / 2;
  // Where the bytes on both sides are as even as they can be.
  const size_t bytes = node.items.bytes().size();
  size_t at = 1;
  while (at + 1 < all && node.items.StartOf(at) + node.items.StartOf(at + 1) <= bytes) ++at;
  return at;
}

// The shortest that is greater than everything in the one and not greater than anything in the other; of inner nodes,
// what stood before the first child of the other.
Bytes Tree::Separate(const TreeNode& left, TreeNode* right) const {
  if (order_ == Order::kByPosition) return {};
  const BytesView first = right->items[0];
  if (right->level > 0) {
    Bytes separator(first);
    right->items.Replace(0, {});
    return separator;
  }
  const BytesView last = left.items[left.items.size() - 1];
  const auto differ = std::ranges::mismatch(last, first).in2;
  return Bytes(first.begin(), differ + 1);
}

void Tree::SplitBelow(TreeNode& parent, size_t child, TreeNode& node, Cut cut) {
  TreeNode& right = Make(node.level);
  const size_t at = CutOf(node, cut);
  if (node.level == 0 || order_ == Order::kByBytes) right.items = node.items.TakeFrom(at);
  if (node.level > 0) {
    const auto behind = static_cast<ptrdiff_t>(at);
    right.children.assign(node.children.begin() + behind, node.children.end());
    right.counts.assign(node.counts.begin() + behind, node.counts.end());
    node.children.resize(at);
    node.counts.resize(at);
    node.counts_changed = true;
  }
  node.changed = true;
  const Bytes separator = Separate(node, &right);
  const auto next = static_cast<ptrdiff_t>(child + 1);
  parent.children.insert(parent.children.begin() + next, right.number);
  parent.counts.insert(parent.counts.begin() + next, right.Count());
  parent.counts[child] -= right.Count();
  if (order_ == Order::kByBytes) parent.items.Insert(child + 1, separator);
  parent.changed = parent.counts_changed = true;
  if (IsTooLarge(right)) SplitBelow(parent, child + 1, right, Cut::kEven);
  if (IsTooLarge(node)) SplitBelow(parent, child, node, Cut::kEven);
}

void Tree::Split(Path& path, size_t depth, TreeNode& node, Cut cut) {
  if (depth == 0) {
    TreeNode& root = Make(node.level + 1);
    root.children.push_back(root_);
    root.counts.push_back(size_);
    if (order_ == Order::kByBytes) root.items.Append({});
    root_ = root.number;
    ++height_;
    path.steps.insert(path.steps.begin(), Step{&root, 0});
    depth = 1;
  }
  const Step step = path.steps[depth - 1];
  SplitBelow(*step.node, step.child, node, cut);
  if (IsTooLarge(*step.node)) Split(path, depth - 1, *step.node, cut);
}

Result<bool> Tree::Erase(BytesView item) {
  KVARTS_TRY(Path path, PathTo(item));
  const TreeItems& items = path.leaf->items;
  const size_t index = items.LowerBound(item);
  if (index == items.size() || items[index] != item) return false;
  KVARTS_CHECK_OK(EraseFrom(path, index));
  return true;
}

Status Tree::EraseFrom(Path& path, size_t index) {
  TreeNode& leaf = *path.leaf;
  leaf.items.Erase(index, 1);
  leaf.changed = true;
  --size_;
  for (const Step& step : path.steps) {
    --step.node->counts[step.child];
    step.node->counts_changed = true;
  }
  KVARTS_TRY(const bool shrunk, Shrink(path, path.steps.size()));
  if (!shrunk) return {};
  if (path.before > 0) KVARTS_CHECK_OK(ShrinkAt(path.before - 1));
  return ShrinkAt(path.before);
}

bool Tree::IsSmall(const TreeNode& node) const {
  if (node.level == 0) {
    return node.items.size() < limits_.max_items / 4 && node.items.bytes().size() < limits_.max_leaf_bytes / 4;
  }
  return node.children.size() < limits_.max_children / 4 && node.items.bytes().size() < limits_.max_shape_bytes / 4;
}

// With some room left, so that the next item does not split them again.
bool Tree::FitTogether(const TreeNode& left, const TreeNode& right) const {
  const size_t bytes = left.items.bytes().size() + right.items.bytes().size();
  if (left.level == 0) {
    return left.items.size() + right.items.size() <= limits_.max_items * 3 / 4 &&
           bytes <= limits_.max_leaf_bytes * 3 / 4;
  }
  return left.children.size() + right.children.size() <= limits_.max_children * 3 / 4 &&
         bytes <= limits_.max_shape_bytes * 3 / 4;
}

void Tree::EraseChild(TreeNode& parent, size_t child) {
  const auto at = static_cast<ptrdiff_t>(child);
  parent.children.erase(parent.children.begin() + at);
  parent.counts.erase(parent.counts.begin() + at);
  parent.changed = parent.counts_changed = true;
  if (order_ == Order::kByPosition) return;
  parent.items.Erase(child, 1);
  if (child == 0 && parent.items.size() > 0) parent.items.Replace(0, {});
}

void Tree::MergeWithNext(TreeNode& parent, size_t child, TreeNode& left, TreeNode& right) {
  const size_t first = left.items.size();
  if (left.level == 0 || order_ == Order::kByBytes) left.items.AppendAll(right.items);
  if (left.level > 0) {
    if (order_ == Order::kByBytes) left.items.Replace(first, parent.items[child + 1]);
    left.children.insert(left.children.end(), right.children.begin(), right.children.end());
    left.counts.insert(left.counts.end(), right.counts.begin(), right.counts.end());
    left.counts_changed = true;
  }
  left.changed = true;
  parent.counts[child] += parent.counts[child + 1];
  Remove(right);
  EraseChild(parent, child + 1);
}

// What hangs below the last of the first `depth` steps goes when it is empty, and to a neighbour when it is small,
// unless it lies at an end of the tree: there it may become empty, or full again, on its own.
Result<bool> Tree::Shrink(const Path& path, size_t depth) {
  if (depth == 0) return false;
  TreeNode& parent = *path.steps[depth - 1].node;
  const size_t child = path.steps[depth - 1].child;
  TreeNode& node = depth == path.steps.size() ? *path.leaf : *path.steps[depth].node;
  if (node.Count() == 0) {
    Remove(node);
    EraseChild(parent, child);
    return parent.children.empty() && depth > 1 ? Shrink(path, depth - 1) : Result<bool>(true);
  }
  if (!IsSmall(node) || IsAtEdge(path, depth, false) || IsAtEdge(path, depth, true)) return false;
  for (const size_t left : {child, child - 1}) {
    const bool is_there = left <= child && left + 1 < parent.children.size();  // the first has none before it
    if (!is_there) continue;
    const size_t other = left == child ? child + 1 : left;
    if (node.level == 0 && parent.counts[child] + parent.counts[other] > limits_.max_items * 3 / 4) continue;
    KVARTS_TRY(TreeNode * neighbour, Load(ChildOf(parent, other)));
    if (!FitTogether(node, *neighbour)) continue;
    MergeWithNext(parent, left, left == child ? node : *neighbour, left == child ? *neighbour : node);
    return true;
  }
  return false;
}

Status Tree::ShrinkRoot() {
  while (height_ > 0) {
    KVARTS_TRY(TreeNode * root, Load(Root()));
    if (root->children.size() > 1) return {};
    --height_;
    // Of a tree that is empty only a leaf is left.
    const uint64_t only = root->children.empty() ? next_ : root->children[0];
    if (root->children.empty()) {
      height_ = 0;
      Make(0);
    }
    Remove(*root);
    root_ = only;
  }
  return {};
}

// Goes on around a place where something has gone, until nothing shrinks any more: a level at a time, at most.
Status Tree::ShrinkAt(uint64_t position) {
  KVARTS_CHECK_OK(ShrinkRoot());
  bool shrunk = size_ > 0;
  while (shrunk) {
    shrunk = false;
    KVARTS_TRY(const Path path, PathTo(std::min(position, size_ - 1)));
    for (size_t depth = path.steps.size(); depth > 0 && !shrunk; --depth) {
      KVARTS_TRY(shrunk, Shrink(path, depth));
    }
  }
  return ShrinkRoot();
}

Status Tree::EraseAt(uint64_t position, uint64_t count) {
  if (count == 0) return {};
  if (count == 1) {
    KVARTS_TRY(Path path, PathTo(position));
    return EraseFrom(path, position - path.before);
  }
  KVARTS_TRY(TreeNode * root, Load(Root()));
  KVARTS_CHECK_OK(EraseWithin(*root, position, count));
  size_ -= count;
  if (position > 0) KVARTS_CHECK_OK(ShrinkAt(position - 1));
  return ShrinkAt(position);
}

Status Tree::EraseWithin(TreeNode& node, uint64_t from, uint64_t count) {
  if (node.level == 0) {
    node.items.Erase(from, count);
    node.changed = true;
    return {};
  }
  node.counts_changed = true;
  uint64_t before = 0;
  for (size_t child = 0; count > 0;) {
    const uint64_t held = node.counts[child];
    if (from >= before + held) {
      before += held;
      ++child;
      continue;
    }
    const uint64_t begin = from - before;
    const uint64_t erased = std::min(count, held - begin);
    count -= erased;
    if (erased == held) {
      KVARTS_CHECK_OK(RemoveBelow(ChildOf(node, child)));
      EraseChild(node, child);
      continue;
    }
    KVARTS_TRY(TreeNode * below, Load(ChildOf(node, child)));
    KVARTS_CHECK_OK(EraseWithin(*below, begin, erased));
    node.counts[child] -= erased;
    before += node.counts[child++];
  }
  return {};
}

Status Tree::RemoveBelow(const Wanted& wanted) {
  if (removed_.size() > txn_->limits().max_commit_operations) return TooLarge();
  const auto found = nodes_.find(wanted.number);
  if (wanted.level == 0 && found == nodes_.end()) {
    removed_.push_back(NodePlace(id_, wanted.number));
    return {};
  }
  KVARTS_TRY(const TreeNode* node, Load(wanted));
  for (size_t child = 0; child < node->children.size(); ++child) KVARTS_CHECK_OK(RemoveBelow(ChildOf(*node, child)));
  Remove(*node);
  return {};
}

}  // namespace kvarts::structure
