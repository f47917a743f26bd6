// Whether a tree (tree.h) is sound, by reading all of it.
#include "model/structure/tree.h"

namespace kvarts::structure {
namespace {

Error Wrong(const char* why, uint64_t node) {
  return Error(ErrorCode::kCorruption, kDamagedTree, {{"why", why}, {"node", std::to_string(node)}});
}

}  // namespace

Result<Tree::Survey> Tree::Check() {
  Survey survey;
  survey.height = height_;
  KVARTS_CHECK_OK(CheckBelow(Root(), {}, nullptr, &survey));
  return survey;
}

Status Tree::CheckBelow(const Wanted& wanted, BytesView low, const Bytes* high, Survey* survey) {
  KVARTS_TRY(const TreeNode* loaded, Load(wanted));
  const TreeNode& node = *loaded;
  if (node.Count() != wanted.count) return Wrong("other items than were counted", wanted.number);
  if (wanted.number >= next_) return Wrong("a number that was not given out", wanted.number);
  if (IsTooLarge(node)) return Wrong("too large", wanted.number);
  if (order_ == Order::kByBytes) {
    for (size_t i = node.level > 0 ? 1 : 0; i < node.items.size(); ++i) {
      const BytesView item = node.items[i];
      if (i > 0 && item <= node.items[i - 1]) return Wrong("items are not in order", wanted.number);
      if (item < low || (high != nullptr && item >= *high)) return Wrong("an item is elsewhere", wanted.number);
    }
  }
  if (node.level == 0) {
    ++survey->leaves;
    survey->bytes += node.items.bytes().size();
    return {};
  }
  ++survey->inner;
  if (wanted.number == root_ && node.children.size() < 2) return Wrong("a root of one child", wanted.number);
  for (size_t child = 0; child < node.children.size(); ++child) {
    if (node.counts[child] == 0) return Wrong("a child that is empty", wanted.number);
    if (order_ == Order::kByPosition) {
      KVARTS_CHECK_OK(CheckBelow(ChildOf(node, child), {}, nullptr, survey));
      continue;
    }
    const bool last = child + 1 == node.children.size();
    const Bytes next = last ? Bytes() : Bytes(node.items[child + 1]);
    KVARTS_CHECK_OK(
        CheckBelow(ChildOf(node, child), child == 0 ? low : node.items[child], last ? high : &next, survey));
  }
  return {};
}

}  // namespace kvarts::structure
