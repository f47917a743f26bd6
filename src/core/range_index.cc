#include "core/range_index.h"

#include <utility>

namespace kvarts {
namespace {

// Spreads numbers over all 64 bits (the finisher of SplitMix64), so that the treap is as good as random.
uint64_t Spread(uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

bool EndsLater(const KeyRange& a, const KeyRange& b) {
  if (!a.HasEnd() || !b.HasEnd()) return b.HasEnd();
  return a.end > b.end;
}

}  // namespace

struct RangeIndex::Node {
  Node(Id its_id, KeyRange its_range, uint64_t its_priority)
      : id(its_id), range(std::move(its_range)), priority(its_priority) {}

  bool Before(BytesView start, Id other) const {
    const int order = BytesView(range.start).compare(start);
    return order < 0 || (order == 0 && id < other);
  }
  // To be called when a child has changed.
  void Update() {
    latest = this;
    for (const Node* child : {left.get(), right.get()}) {
      if (child != nullptr && EndsLater(child->latest->range, latest->range)) latest = child->latest;
    }
  }

  const Id id;
  const KeyRange range;
  const uint64_t priority;
  const Node* latest = this;  // of the subtree, the one whose range ends last
  Tree left;
  Tree right;
};

RangeIndex::RangeIndex() = default;
RangeIndex::~RangeIndex() = default;

void RangeIndex::Split(Tree tree, BytesView start, Id id, Tree* before, Tree* from) {
  if (tree == nullptr) {
    before->reset();
    from->reset();
    return;
  }
  Tree rest;
  if (tree->Before(start, id)) {
    Split(std::move(tree->right), start, id, &rest, from);
    tree->right = std::move(rest);
    tree->Update();
    *before = std::move(tree);
  } else {
    Split(std::move(tree->left), start, id, before, &rest);
    tree->left = std::move(rest);
    tree->Update();
    *from = std::move(tree);
  }
}

RangeIndex::Tree RangeIndex::Join(Tree before, Tree after) {
  if (before == nullptr || after == nullptr) return std::move(before ? before : after);
  if (before->priority > after->priority) {
    before->right = Join(std::move(before->right), std::move(after));
    before->Update();
    return before;
  }
  after->left = Join(std::move(before), std::move(after->left));
  after->Update();
  return after;
}

void RangeIndex::Add(Id id, KeyRange range) {
  Tree before;
  Tree after;
  Split(std::move(root_), range.start, id, &before, &after);
  Tree added = std::make_unique<Node>(id, std::move(range), Spread(added_++));
  root_ = Join(Join(std::move(before), std::move(added)), std::move(after));
}

void RangeIndex::Remove(Id id, const KeyRange& range) {
  Tree before;
  Tree rest;
  Tree removed;
  Tree after;
  Split(std::move(root_), range.start, id, &before, &rest);
  Split(std::move(rest), range.start, id + 1, &removed, &after);
  root_ = Join(std::move(before), std::move(after));
}

void RangeIndex::FindHolding(BytesView key, std::vector<Id>* found) const { Search(root_.get(), key, nullptr, found); }

void RangeIndex::FindMeeting(const KeyRange& range, std::vector<Id>* found) const {
  if (!range.IsEmpty()) Search(root_.get(), range.start, &range, found);
}

// Finds what meets `range`, which begins with the key `first`; without a range, what holds that key.
void RangeIndex::Search(const Node* node, BytesView first, const KeyRange* range, std::vector<Id>* found) {
  const auto ends_after = [&](const KeyRange& one) { return !one.HasEnd() || one.end > first; };
  while (node != nullptr && ends_after(node->latest->range)) {
    Search(node->left.get(), first, range, found);
    const BytesView start = node->range.start;
    const bool starts_before = range == nullptr ? start <= first : !range->HasEnd() || start < range->end;
    if (!starts_before) return;
    if (ends_after(node->range) && !node->range.IsEmpty()) found->push_back(node->id);
    node = node->right.get();
  }
}

}  // namespace kvarts
