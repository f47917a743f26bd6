#include "protocol/http/partitions.h"

#include <algorithm>

#include "core/user_keys.h"

namespace kvarts::http {

BytesView NamespaceOf(const NamespaceTable& table, BytesView key) {
  if (table.entries().empty()) return {};
  NamespaceTable::Reading reading;
  table.Read(key, &reading);
  return reading.space == nullptr ? BytesView("(none)") : BytesView(reading.space->spec.name);
}

size_t CutAtPartition(const NamespaceTable& table, BytesView key, PrefixEnds* ends) {
  const size_t delimiters = CutAtDelimiters(key, ends);
  if (table.entries().empty()) return delimiters;
  NamespaceTable::Reading reading;
  table.Read(key, &reading);
  if (reading.verdict != NamespaceTable::Verdict::kGoverned) return delimiters;
  // With the literal that follows the field, so that no other value of the field begins with it.
  const size_t end = reading.space->PartitionEnd(key, reading.fields) + 1;
  if (end >= key.size() || end > TopKeys::kKeptBytes) return delimiters;
  size_t count = 0;
  while (count < delimiters && count + 1 < ends->size() && (*ends)[count] < end) ++count;
  (*ends)[count++] = static_cast<uint16_t>(end);
  return count;
}

std::vector<HotKey> Innermost(std::vector<HotKey> prefixes) {
  std::vector<HotKey> inner;
  for (const HotKey& prefix : prefixes) {
    const bool holds_another = std::ranges::any_of(prefixes, [&](const HotKey& other) {
      return other.key.size() > prefix.key.size() && other.key.starts_with(prefix.key);
    });
    if (!holds_another) inner.push_back(prefix);
  }
  return inner;
}

const std::vector<Partition>& WidestPartitions::Update(Engine& engine, const HotKeys& hot) {
  std::vector<Partition> found;
  for (HotKey& candidate : Innermost(hot.Prefixes(HotOrder::kWrites, kLookedAt))) {
    const bool known = std::ranges::any_of(widest_, [&](const Partition& p) { return p.prefix == candidate.key; });
    if (!known) widest_.push_back({std::move(candidate.key), {}});
  }
  for (Partition& partition : widest_) {
    const Result<KeyRange> range = CheckedUserRange(KeyRange::Prefix(partition.prefix), engine.limits());
    if (!range.has_value()) continue;
    const Result<RangeEstimate> estimate = engine.Estimate(*range);
    if (!estimate.has_value() || estimate->entries == 0) continue;
    found.push_back({std::move(partition.prefix), *estimate});
  }
  std::ranges::stable_sort(found, std::greater(), [](const Partition& p) { return p.holds.bytes; });
  if (found.size() > kShown) found.resize(kShown);
  widest_ = std::move(found);
  return widest_;
}

}  // namespace kvarts::http
