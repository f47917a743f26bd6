// Any bytes are refused as a node of a tree, or are exactly what encoding the decoded node gives. The first bytes say
// which kind of node is asked for, how many items it is said to have, and how long the shape of an inner node is.
// links: kvarts_model_structure
#include <algorithm>
#include <cstdint>

#include "model/structure/tree_node.h"
#include "support/expect.h"

namespace {

using namespace kvarts;             // NOLINT: a target has one subject
using namespace kvarts::structure;  // NOLINT

void CheckRefused(const Error& error) { Expect(error.code() == ErrorCode::kCorruption, "a bad node is corruption"); }

void CheckLeaf(BytesView record, uint64_t count) {
  const auto leaf = DecodeTreeLeaf(record, count);
  if (!leaf.has_value()) return CheckRefused(leaf.error());
  Expect(leaf->items.size() == count, "a leaf has as many items as were asked for");
  Expect(EncodeTreeNode(*leaf) == record, "what decodes encodes to the same bytes");
  for (size_t i = 0; i < count; ++i) Expect(leaf->items.LowerBound(leaf->items[i]) <= count, "a place is in the leaf");
}

void CheckInner(BytesView shape, BytesView counts, size_t level, uint64_t count, bool by_bytes) {
  const auto node = DecodeTreeInner(shape, counts, level, count, by_bytes);
  if (!node.has_value()) return CheckRefused(node.error());
  Expect(node->Count() == count, "what is below a node is as much as was asked for");
  Expect(EncodeTreeNode(*node) == shape, "what decodes encodes to the same bytes");
  Expect(EncodeTreeCounts(*node) == counts, "what decodes encodes to the same bytes");
  Expect(!by_bytes || node->items.UpperBound("any") > 0, "no item is before the first child");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const BytesView bytes(reinterpret_cast<const char*>(data) + 3, size - 3);
  const uint64_t count = data[1];
  if (data[0] < 0x80) {
    CheckLeaf(bytes, count);
  } else {
    const size_t split = std::min<size_t>(data[2], bytes.size());
    CheckInner(bytes.substr(0, split), bytes.substr(split), 1 + (data[0] & 0x3f), count, (data[0] & 0x40) != 0);
  }
  return 0;
}
