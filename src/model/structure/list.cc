#include "model/structure/list.h"

#include <algorithm>

namespace kvarts::structure {

Result<List> List::Decode(Txn& txn, CollectionIds& ids, BytesView stored) {
  KVARTS_TRY(Tree items, Tree::Decode(txn, ids, Tree::Order::kByPosition, stored));
  return List(std::move(items));
}

Result<List> List::Copy() {
  KVARTS_TRY(Tree items, items_.Copy());
  return List(std::move(items));
}

Status List::Push(End end, BytesView item) { return items_.InsertAt(end == End::kHead ? 0 : size(), item); }

Result<std::vector<Bytes>> List::Pop(End end, uint64_t count) {
  std::vector<Bytes> taken;
  count = std::min(count, size());
  if (count == 0) return taken;
  taken.reserve(count);
  const bool tail = end == End::kTail;
  KVARTS_CHECK_OK(items_.Visit(tail ? size() - 1 : 0, count, tail, [&taken](BytesView item) {
    taken.emplace_back(item);
    return true;
  }));
  KVARTS_CHECK_OK(items_.EraseAt(tail ? size() - count : 0, count));
  return taken;
}

std::optional<uint64_t> List::PositionOf(int64_t index) const {
  const auto size = static_cast<int64_t>(this->size());
  if (index < -size || index >= size) return std::nullopt;
  return static_cast<uint64_t>(index < 0 ? size + index : index);
}

List::Range List::RangeOf(int64_t first, int64_t last) const {
  const auto size = static_cast<int64_t>(this->size());
  if (first < 0) first = std::max<int64_t>(first + size, 0);
  if (last < 0) last += size;
  last = std::min(last, size - 1);
  if (first > last) return {};
  return {static_cast<uint64_t>(first), static_cast<uint64_t>(last - first + 1)};
}

Status List::Visit(const Range& range, const Tree::Visitor& visit) {
  if (range.count == 0) return {};
  return items_.Visit(range.first, range.count, false, visit);
}

Status List::Keep(const Range& range) {
  const uint64_t end = range.first + range.count;
  if (end < size()) KVARTS_CHECK_OK(items_.EraseAt(end, size() - end));
  if (range.first > 0) KVARTS_CHECK_OK(items_.EraseAt(0, range.first));
  return {};
}

Result<bool> List::InsertBeside(BytesView pivot, bool before, BytesView item) {
  KVARTS_TRY(const std::vector<uint64_t> found, Find(pivot, {}));
  if (found.empty()) return false;
  KVARTS_CHECK_OK(items_.InsertAt(found[0] + (before ? 0 : 1), item));
  return true;
}

Result<uint64_t> List::Remove(BytesView item, int64_t count) {
  Search search;
  search.backwards = count < 0;
  search.at_most = count < 0 ? -static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
  KVARTS_TRY(std::vector<uint64_t> found, Find(item, search));
  // From the end, so that the places of the others stay; those that lie beside each other together.
  std::ranges::sort(found, std::greater());
  for (size_t i = 0; i < found.size();) {
    size_t run = 1;
    while (i + run < found.size() && found[i + run] == found[i] - run) ++run;
    KVARTS_CHECK_OK(items_.EraseAt(found[i] - (run - 1), run));
    i += run;
  }
  return found.size();
}

Result<std::vector<uint64_t>> List::Find(BytesView item, const Search& search) {
  std::vector<uint64_t> found;
  if (size() == 0) return found;
  const uint64_t compared = search.max_compared == 0 ? size() : std::min(search.max_compared, size());
  uint64_t position = search.backwards ? size() - 1 : 0;
  uint64_t skipped = 0;
  KVARTS_CHECK_OK(items_.Visit(position, compared, search.backwards, [&](BytesView one) {
    if (one == item && skipped++ >= search.skipped) found.push_back(position);
    search.backwards ? --position : ++position;
    return search.at_most == 0 || found.size() < search.at_most;
  }));
  return found;
}

}  // namespace kvarts::structure
