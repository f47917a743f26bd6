#include "model/structure/tree_node.h"

#include <algorithm>
#include <numeric>

namespace kvarts::structure {
namespace {

// Takes numbers and items off bytes, of which most are short. Nodes are read often: so it is made for that.
class Taker {
 public:
  explicit Taker(BytesView bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  const char* at() const { return at_; }
  BytesView rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }

  bool Number(uint64_t* number) {
    if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) {
      *number = static_cast<uint8_t>(*at_++);
      return true;
    }
    if (end_ - at_ >= 2 && static_cast<uint8_t>(at_[1]) < 0x80 && at_[1] != 0) {
      *number = (static_cast<uint8_t>(at_[0]) & 0x7f) | uint64_t{static_cast<uint8_t>(at_[1])} << 7;
      at_ += 2;
      return true;
    }
    BytesView left = rest();
    const bool taken = TakeVarint(&left, number);
    at_ = left.data();
    return taken;
  }
  bool Item(BytesView* item) {
    uint64_t size = 0;
    if (!Number(&size) || size > static_cast<size_t>(end_ - at_)) return false;
    *item = {at_, size};
    at_ += size;
    return true;
  }

 private:
  const char* at_;
  const char* const end_;
};

Error Damaged(const char* why) { return Error(ErrorCode::kCorruption, kDamagedTree, {{"why", why}}); }

}  // namespace

BytesView TreeItems::operator[](size_t index) const {
  Taker taker(BytesView(bytes_).substr(starts_[index]));
  BytesView item;
  taker.Item(&item);  // which is there
  return item;
}

size_t TreeItems::LowerBound(BytesView item) const {
  size_t first = 0;
  for (size_t left = size(); left > 0;) {
    const size_t half = left / 2;
    if ((*this)[first + half] < item) {
      first += half + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  return first;
}

size_t TreeItems::UpperBound(BytesView item) const {
  const size_t first = LowerBound(item);
  return first < size() && (*this)[first] == item ? first + 1 : first;
}

void TreeItems::Insert(size_t index, BytesView item) {
  Bytes head;
  AppendVarint(&head, item.size());
  const size_t at = StartOf(index);
  const size_t added = head.size() + item.size();
  bytes_.insert(at, added, '\0');
  head.copy(bytes_.data() + at, head.size());
  item.copy(bytes_.data() + at + head.size(), item.size());
  starts_.insert(starts_.begin() + static_cast<ptrdiff_t>(index), static_cast<uint32_t>(at));
  for (size_t i = index + 1; i < starts_.size(); ++i) starts_[i] += static_cast<uint32_t>(added);
}

void TreeItems::Replace(size_t index, BytesView item) {
  Erase(index, 1);
  Insert(index, item);
}

void TreeItems::Erase(size_t index, size_t count) {
  const size_t begin = StartOf(index);
  const size_t erased = StartOf(index + count) - begin;
  bytes_.erase(begin, erased);
  const auto first = starts_.begin() + static_cast<ptrdiff_t>(index);
  starts_.erase(first, first + static_cast<ptrdiff_t>(count));
  for (size_t i = index; i < starts_.size(); ++i) starts_[i] -= static_cast<uint32_t>(erased);
}

TreeItems TreeItems::TakeFrom(size_t index) {
  TreeItems taken;
  const size_t begin = StartOf(index);
  taken.bytes_ = bytes_.substr(begin);
  taken.starts_.assign(starts_.begin() + static_cast<ptrdiff_t>(index), starts_.end());
  for (uint32_t& start : taken.starts_) start -= static_cast<uint32_t>(begin);
  bytes_.resize(begin);
  starts_.resize(index);
  return taken;
}

void TreeItems::AppendAll(const TreeItems& others) {
  const auto behind = static_cast<uint32_t>(bytes_.size());
  for (const uint32_t start : others.starts_) starts_.push_back(behind + start);
  bytes_.append(others.bytes_);
}

bool TreeItems::Parse(BytesView bytes, size_t count, TreeItems* items) {
  if (count > bytes.size()) return false;
  items->starts_.clear();
  items->starts_.reserve(count + 1);
  Taker taker(bytes);
  BytesView item;
  for (size_t i = 0; i < count; ++i) {
    items->starts_.push_back(static_cast<uint32_t>(taker.at() - bytes.data()));
    if (!taker.Item(&item)) return false;
  }
  if (!taker.rest().empty()) return false;
  items->bytes_ = bytes;
  return true;
}

uint64_t TreeNode::Count() const {
  return level == 0 ? items.size() : std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

Bytes EncodeTreeNode(const TreeNode& node) {
  Bytes record;
  record.reserve(16 + 5 * node.children.size() + node.items.bytes().size());
  record.push_back(static_cast<char>(node.level));
  if (node.level > 0) {
    AppendVarint(&record, node.children.size());
    for (const uint64_t child : node.children) AppendVarint(&record, child);
  }
  record.append(node.items.bytes());
  return record;
}

Bytes EncodeTreeCounts(const TreeNode& node) {
  Bytes record;
  record.reserve(4 * node.counts.size());
  for (const uint64_t count : node.counts) AppendVarint(&record, count);
  return record;
}

Result<TreeNode> DecodeTreeLeaf(BytesView record, uint64_t count) {
  TreeNode node;
  node.stored = true;
  if (!record.starts_with('\0')) return Damaged("no leaf");
  if (!TreeItems::Parse(record.substr(1), count, &node.items)) return Damaged("other items than were counted");
  return node;
}

Result<TreeNode> DecodeTreeInner(BytesView shape, BytesView counts, size_t level, uint64_t count, bool by_bytes) {
  TreeNode node;
  node.level = level;
  node.stored = true;
  if (shape.empty() || static_cast<uint8_t>(shape[0]) != level) return Damaged("a node of another level");
  Taker taker(shape.substr(1));
  uint64_t children = 0;
  if (!taker.Number(&children) || children == 0 || children > shape.size()) return Damaged("a node without children");
  node.children.resize(children);
  for (uint64_t& child : node.children) {
    if (!taker.Number(&child)) return Damaged("fewer children than it has");
  }
  const bool parsed = TreeItems::Parse(taker.rest(), by_bytes ? children : 0, &node.items);
  if (!parsed || (by_bytes && !node.items[0].empty())) return Damaged("other separators than children");

  Taker numbers(counts);
  node.counts.resize(children);
  uint64_t left = count;
  for (uint64_t& below : node.counts) {
    if (!numbers.Number(&below) || below == 0 || below > left) return Damaged("other items than were counted");
    left -= below;
  }
  if (left != 0 || !numbers.rest().empty()) return Damaged("other items than were counted");
  return node;
}

}  // namespace kvarts::structure
