#include "model/structure/sorted_sets.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "model/structure/secret_hash.h"

namespace kvarts::structure {
namespace {

using Entry = SortedSet::Entry;

// Names that are looked up together.
constexpr size_t kAtOnce = 256;

double NumberOr0(double score) { return std::isnan(score) ? 0 : score; }

double Together(double a, double b, Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::kMin:
      return std::min(a, b);
    case Aggregate::kMax:
      return std::max(a, b);
    default:
      return NumberOr0(a + b);
  }
}

std::vector<Scored> BySize(std::span<const Scored> inputs) {
  std::vector<Scored> sorted(inputs.begin(), inputs.end());
  std::ranges::stable_sort(sorted, {}, &Scored::size);
  return sorted;
}

Result<std::vector<Entry>> All(const Scored& input) {
  std::vector<Entry> entries;
  KVARTS_CHECK_OK(input.ForEach([&](Bytes name, double score) { entries.emplace_back(std::move(name), score); }));
  return entries;
}

// Of entries those that an input has, or has not. `meet` is told the score of each that it has.
template <class Meet>
Status Keep(const Scored& input, bool having, std::vector<Entry>* entries, const Meet& meet) {
  std::vector<Entry> kept;
  for (size_t begin = 0; begin < entries->size(); begin += kAtOnce) {
    const size_t end = std::min(begin + kAtOnce, entries->size());
    std::vector<BytesView> names;
    for (size_t i = begin; i < end; ++i) names.emplace_back((*entries)[i].first);
    std::vector<std::optional<double>> scores;
    KVARTS_CHECK_OK(input.Scores(names, &scores));
    for (size_t i = begin; i < end; ++i) {
      const std::optional<double> score = scores[i - begin];
      if (score.has_value() != having) continue;
      kept.push_back(std::move((*entries)[i]));
      if (score) meet(kept.back(), *score);
    }
  }
  *entries = std::move(kept);
  return {};
}

void Sort(std::vector<Entry>* entries) {
  std::ranges::sort(*entries, [](const Entry& a, const Entry& b) {
    return a.second != b.second ? a.second < b.second : a.first < b.first;
  });
}

}  // namespace

std::optional<double> ParseScore(BytesView text) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])) != 0) return std::nullopt;
  const Bytes copy(text);
  char* end = nullptr;
  errno = 0;
  const double number = std::strtod(copy.c_str(), &end);
  const bool out_of_range = errno == ERANGE && (std::isinf(number) || std::fpclassify(number) == FP_ZERO);
  if (end != copy.c_str() + copy.size() || out_of_range || std::isnan(number)) return std::nullopt;
  return number;
}

Status EraseAll(Key& key, SortedSet& set, const SortedSet::Places& places) {
  if (places.size() == 0) return {};
  if (places.size() == set.size()) {
    key.Remove();
    return {};
  }
  KVARTS_CHECK_OK(set.EraseAll(places));
  key.Changed();
  return {};
}

Result<std::vector<Entry>> Pop(Key& key, SortedSet& set, uint64_t count, bool highest) {
  count = std::min(count, set.size());
  std::vector<Entry> popped;
  if (count == 0) return popped;
  popped.reserve(count);
  const uint64_t first = highest ? set.size() - 1 : 0;
  KVARTS_CHECK_OK(
      set.Visit(first, count, highest, [&](BytesView name, double score) { popped.emplace_back(name, score); }));
  const uint64_t begin = highest ? set.size() - count : 0;
  KVARTS_CHECK_OK(EraseAll(key, set, {begin, begin + count}));
  return popped;
}

Status SetMembers(Key& key, std::span<const Entry> members) {
  key.Remove();
  if (members.empty()) return {};
  KVARTS_TRY(SortedSet * set, key.Make<SortedSet>(Type::kSortedSet));
  for (const auto& [name, score] : members) KVARTS_CHECK_OK(set->Put(name, score, std::nullopt));
  key.Changed();
  return {};
}

Result<Scored> Scored::Of(Key& key) {
  Scored input;
  if (key.type() == Type::kSet) {
    KVARTS_TRY(input.set_, key.As<Members>(Type::kSet));
  } else {
    KVARTS_TRY(input.sorted_, key.As<SortedSet>(Type::kSortedSet));
  }
  return input;
}

uint64_t Scored::size() const {
  if (sorted_ != nullptr) return sorted_->size();
  return set_ != nullptr ? set_->size() : 0;
}

Status Scored::ForEach(const Visitor& visit) const {
  if (set_ != nullptr) return set_->ForEach([&](BytesView name, BytesView) { visit(Bytes(name), 1); });
  if (sorted_ == nullptr) return {};
  return sorted_->Visit(0, sorted_->size(), false, [&](BytesView name, double score) { visit(Bytes(name), score); });
}

Result<uint64_t> Scored::Page(uint64_t place, size_t count, std::vector<Entry>* entries) const {
  if (set_ != nullptr) {
    return set_->Scan(place, count, [&](BytesView name, BytesView) { entries->emplace_back(name, 1); });
  }
  if (sorted_ == nullptr) return 0;
  KVARTS_CHECK_OK(
      sorted_->Visit(place, count, false, [&](BytesView name, double score) { entries->emplace_back(name, score); }));
  return place + count < sorted_->size() ? place + count : 0;
}

Status Scored::Scores(std::span<const BytesView> names, std::vector<std::optional<double>>* scores) const {
  if (sorted_ != nullptr) return sorted_->Scores(names, scores);
  scores->assign(names.size(), std::nullopt);
  if (set_ == nullptr) return {};
  std::vector<std::optional<Bytes>> found;
  KVARTS_CHECK_OK(set_->FindMany(names, &found));
  for (size_t i = 0; i < names.size(); ++i) {
    if (found[i]) (*scores)[i] = 1;
  }
  return {};
}

Result<std::vector<Entry>> Union(std::span<const Scored> inputs, Aggregate aggregate) {
  std::unordered_map<Bytes, double, SecretHash> scores;
  for (const Scored& input : BySize(inputs)) {
    KVARTS_CHECK_OK(input.ForEach([&](Bytes name, double score) {
      score = NumberOr0(score * input.weight);
      const auto [known, is_new] = scores.try_emplace(std::move(name), score);
      if (!is_new) known->second = Together(known->second, score, aggregate);
    }));
  }
  std::vector<Entry> entries;
  entries.reserve(scores.size());
  while (!scores.empty()) {
    auto taken = scores.extract(scores.begin());
    entries.emplace_back(std::move(taken.key()), taken.mapped());
  }
  Sort(&entries);
  return entries;
}

Result<std::vector<Entry>> Intersection(std::span<const Scored> inputs, Aggregate aggregate) {
  const std::vector<Scored> sorted = BySize(inputs);
  KVARTS_TRY(std::vector<Entry> entries, All(sorted[0]));
  for (Entry& entry : entries) entry.second = NumberOr0(entry.second * sorted[0].weight);
  for (const Scored& other : std::span(sorted).subspan(1)) {
    KVARTS_CHECK_OK(Keep(other, true, &entries, [&](Entry& entry, double score) {
      entry.second = Together(entry.second, NumberOr0(score * other.weight), aggregate);
    }));
  }
  Sort(&entries);
  return entries;
}

Result<std::vector<Entry>> Difference(std::span<const Scored> inputs) {
  KVARTS_TRY(std::vector<Entry> entries, All(inputs[0]));
  for (const Scored& other : inputs.subspan(1)) KVARTS_CHECK_OK(Keep(other, false, &entries, [](Entry&, double) {}));
  Sort(&entries);
  return entries;
}

Result<uint64_t> CountIntersection(std::span<const Scored> inputs, uint64_t at_most) {
  const std::vector<Scored> sorted = BySize(inputs);
  uint64_t found = 0;
  uint64_t place = 0;
  do {
    std::vector<Entry> entries;
    KVARTS_TRY(place, sorted[0].Page(place, kAtOnce, &entries));
    for (const Scored& other : std::span(sorted).subspan(1)) {
      KVARTS_CHECK_OK(Keep(other, true, &entries, [](Entry&, double) {}));
    }
    found += entries.size();
  } while (place != 0 && found < at_most);
  return std::min(found, at_most);
}

}  // namespace kvarts::structure
