#include "model/structure/sets.h"

#include <algorithm>
#include <unordered_set>

#include "model/structure/secret_hash.h"

namespace kvarts::structure {
namespace {

// Names that are looked up together.
constexpr size_t kAtOnce = 256;

// Of names, those that a set has, or has not.
Status Keep(Members& set, bool having, std::vector<Bytes>* names) {
  std::vector<Bytes> kept;
  for (size_t begin = 0; begin < names->size(); begin += kAtOnce) {
    const size_t end = std::min(begin + kAtOnce, names->size());
    const std::vector<BytesView> asked(names->begin() + static_cast<ptrdiff_t>(begin),
                                       names->begin() + static_cast<ptrdiff_t>(end));
    std::vector<std::optional<Bytes>> found;
    KVARTS_CHECK_OK(set.FindMany(asked, &found));
    for (size_t i = 0; i < asked.size(); ++i) {
      if (found[i].has_value() == having) kept.push_back(std::move((*names)[begin + i]));
    }
  }
  *names = std::move(kept);
  return {};
}

// The smallest first; none when one of them is empty.
std::vector<Members*> BySize(std::span<Members* const> sets) {
  std::vector<Members*> sorted(sets.begin(), sets.end());
  if (std::ranges::count(sorted, nullptr) > 0) return {};
  std::ranges::sort(sorted, {}, &Members::size);
  return sorted;
}

Result<std::vector<Bytes>> All(Members* set) {
  std::vector<Bytes> names;
  if (set != nullptr) {
    KVARTS_CHECK_OK(set->ForEach([&](BytesView name, BytesView) { names.emplace_back(name); }));
  }
  return names;
}

}  // namespace

Result<std::vector<Bytes>> Intersection(std::span<Members* const> sets) {
  const std::vector<Members*> sorted = BySize(sets);
  if (sorted.empty()) return std::vector<Bytes>();
  KVARTS_TRY(std::vector<Bytes> names, All(sorted[0]));
  for (Members* other : std::span(sorted).subspan(1)) KVARTS_CHECK_OK(Keep(*other, true, &names));
  return names;
}

Result<uint64_t> CountIntersection(std::span<Members* const> sets, uint64_t at_most) {
  const std::vector<Members*> sorted = BySize(sets);
  if (sorted.empty()) return 0;
  uint64_t count = 0;
  uint64_t place = 0;
  do {
    std::vector<Bytes> names;
    KVARTS_TRY(place, sorted[0]->Scan(place, kAtOnce, [&](BytesView name, BytesView) { names.emplace_back(name); }));
    for (Members* other : std::span(sorted).subspan(1)) KVARTS_CHECK_OK(Keep(*other, true, &names));
    count += names.size();
  } while (place != 0 && count < at_most);
  return std::min(count, at_most);
}

Result<std::vector<Bytes>> Union(std::span<Members* const> sets) {
  std::vector<Bytes> names;
  std::unordered_set<Bytes, SecretHash> seen;
  for (Members* set : sets) {
    KVARTS_TRY(std::vector<Bytes> more, All(set));
    for (Bytes& name : more) {
      if (seen.insert(name).second) names.push_back(std::move(name));
    }
  }
  return names;
}

Result<std::vector<Bytes>> Difference(std::span<Members* const> sets) {
  KVARTS_TRY(std::vector<Bytes> names, All(sets[0]));
  for (Members* other : sets.subspan(1)) {
    if (other != nullptr) KVARTS_CHECK_OK(Keep(*other, false, &names));
  }
  return names;
}

}  // namespace kvarts::structure
