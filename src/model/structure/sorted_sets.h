// Sorted sets: what commands do with a key that holds one, and make of several of them.
#pragma once

#include <span>
#include <vector>

#include "model/structure/structures.h"

namespace kvarts::structure {

// As Redis reads a score: any that strtod takes as a whole, but no NaN and nothing around it.
std::optional<double> ParseScore(BytesView text);

// Takes members away; if those are all, the key goes.
Status EraseAll(Key& key, SortedSet& set, const SortedSet::Places& places);
// Takes away those with the lowest scores, or the highest, and gives them in that order.
Result<std::vector<SortedSet::Entry>> Pop(Key& key, SortedSet& set, uint64_t count, bool highest);
// Replaces whatever the key holds by members, of which none is there twice; without any the key goes.
Status SetMembers(Key& key, std::span<const SortedSet::Entry> members);

// A sorted set, or a set, of which every member has the score 1; or nothing.
class Scored {
 public:
  // kWrongType when it holds something else.
  static Result<Scored> Of(Key& key);

  uint64_t size() const;
  // By which scores are multiplied.
  double weight = 1;

  using Visitor = std::function<void(Bytes name, double score)>;
  Status ForEach(const Visitor& visit) const;
  // About so many from a place on, of which the first is zero; the next place, or zero when that was all.
  Result<uint64_t> Page(uint64_t place, size_t count, std::vector<SortedSet::Entry>* entries) const;
  // In the order of names.
  Status Scores(std::span<const BytesView> names, std::vector<std::optional<double>>* scores) const;

 private:
  SortedSet* sorted_ = nullptr;
  Members* set_ = nullptr;
};

enum class Aggregate : uint8_t { kSum, kMin, kMax };

// In their order. A score that would be no number is zero.
Result<std::vector<SortedSet::Entry>> Union(std::span<const Scored> inputs, Aggregate aggregate);
Result<std::vector<SortedSet::Entry>> Intersection(std::span<const Scored> inputs, Aggregate aggregate);
// Those of the first that no other has.
Result<std::vector<SortedSet::Entry>> Difference(std::span<const Scored> inputs);
// How many are in all of them; no more than `at_most` are counted, and none is looked for beyond.
Result<uint64_t> CountIntersection(std::span<const Scored> inputs, uint64_t at_most);

}  // namespace kvarts::structure
