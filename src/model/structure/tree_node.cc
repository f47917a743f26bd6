#include "model/structure/tree_node.h"

#include <algorithm>
#include <numeric>

#include "core/fields.h"

namespace kvarts::structure {
namespace {

// The head of an item that is there.
uint64_t SizeAt(BytesView bytes, size_t* at) {
  const auto first = static_cast<uint8_t>(bytes[*at]);
  if (first < 0x80) {
    ++*at;
    return first;
  }
  BytesView rest = bytes.substr(*at);
  uint64_t size = 0;
  TakeVarint(&rest, &size);
  *at = bytes.size() - rest.size();
  return size;
}

}  // namespace

BytesView TreeItems::operator[](size_t index) const {
  size_t at = starts_[index];
  const uint64_t size = SizeAt(bytes_, &at);
  return {bytes_.data() + at, size};
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
  BytesView rest = bytes;
  for (size_t i = 0; i < count; ++i) {
    items->starts_.push_back(static_cast<uint32_t>(bytes.size() - rest.size()));
    BytesView item;
    if (!TakeSized(&rest, &item)) return false;
  }
  if (!rest.empty()) return false;
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
  FieldReader fields(record);
  fields.Require(fields.Byte() == 0, "no leaf");
  const BytesView items = fields.Rest();
  fields.Require(TreeItems::Parse(items, count, &node.items), "other items than were counted");
  KVARTS_CHECK_OK(fields.Finish(kDamagedTree));
  return node;
}

Result<TreeNode> DecodeTreeInner(BytesView shape, BytesView counts, size_t level, uint64_t count, bool by_bytes) {
  TreeNode node;
  node.level = level;
  node.stored = true;
  FieldReader fields(shape);
  fields.Require(fields.Byte() == level, "a node of another level");
  const uint64_t children = fields.Varint(shape.size());
  fields.Require(children > 0, "a node without children");
  node.children.reserve(children + 1);
  for (uint64_t i = 0; i < children && fields.ok(); ++i) node.children.push_back(fields.Varint());
  const BytesView items = fields.Rest();
  fields.Require(TreeItems::Parse(items, by_bytes ? children : 0, &node.items), "other separators than children");
  fields.Require(!by_bytes || node.items.size() == 0 || node.items[0].empty(), "something before the first child");
  KVARTS_CHECK_OK(fields.Finish(kDamagedTree));

  FieldReader numbers(counts);
  node.counts.reserve(children + 1);
  uint64_t sum = 0;
  for (uint64_t i = 0; i < children && numbers.ok(); ++i) {
    // Below what is left of the sum, which so does not overflow.
    node.counts.push_back(numbers.Varint(count - sum));
    numbers.Require(node.counts.back() > 0, "a child that is empty");
    sum += node.counts.back();
  }
  numbers.Require(sum == count, "other items than were counted");
  KVARTS_CHECK_OK(numbers.Finish(kDamagedTree));
  return node;
}

}  // namespace kvarts::structure
