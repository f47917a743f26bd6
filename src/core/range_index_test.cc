// RangeIndex against a plain list, and how its cost grows.
#include "core/range_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace kvarts {
namespace {

using Ids = std::vector<RangeIndex::Id>;

Ids Holding(const RangeIndex& index, BytesView key) {
  Ids found;
  index.FindHolding(key, &found);
  std::ranges::sort(found);
  return found;
}

Ids Meeting(const RangeIndex& index, const KeyRange& range) {
  Ids found;
  index.FindMeeting(range, &found);
  std::ranges::sort(found);
  return found;
}

TEST(RangeIndexTest, FindsKeysPrefixesAndEverything) {
  RangeIndex index;
  EXPECT_EQ(Holding(index, "a"), Ids{});
  index.Add(1, KeyRange::Single("user:1"));
  index.Add(2, KeyRange::Prefix("user:"));
  index.Add(3, KeyRange::All());
  index.Add(4, {"v", "u"});  // empty
  EXPECT_EQ(Holding(index, "user:1"), (Ids{1, 2, 3}));
  EXPECT_EQ(Holding(index, "user:10"), (Ids{2, 3}));
  EXPECT_EQ(Holding(index, ""), Ids{3});
  EXPECT_EQ(Meeting(index, {"user:0", "user:1"}), (Ids{2, 3}));
  EXPECT_EQ(Meeting(index, {"user:0", ""}), (Ids{1, 2, 3}));
  EXPECT_EQ(Meeting(index, {"b", "a"}), Ids{});
  index.Remove(2, KeyRange::Prefix("user:"));
  EXPECT_EQ(Holding(index, "user:1"), (Ids{1, 3}));
}

TEST(RangeIndexTest, FindsWhatAListFinds) {
  std::mt19937 random(7);
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  const auto key = [&] {
    Bytes made;
    for (size_t i = below(4); i > 0; --i) made.push_back(static_cast<char>('a' + below(3)));
    return made;
  };
  RangeIndex index;
  std::map<RangeIndex::Id, KeyRange> list;
  for (RangeIndex::Id id = 1; id <= 20'000; ++id) {
    if (list.size() < 5 || below(2) == 0) {
      const KeyRange range = below(3) == 0 ? KeyRange::Single(key()) : KeyRange{key(), key()};
      index.Add(id, range);
      list.emplace(id, range);
    } else {
      const auto removed = std::next(list.begin(), static_cast<std::ptrdiff_t>(below(list.size())));
      index.Remove(removed->first, removed->second);
      list.erase(removed);
    }
    if (list.size() > 60) {
      for (const auto& [one, range] : list) index.Remove(one, range);
      list.clear();
    }
    const Bytes sought = key();
    const KeyRange met{key(), key()};
    Ids holding;
    Ids meeting;
    for (const auto& [one, range] : list) {
      if (range.Contains(BytesView(sought))) holding.push_back(one);
      if (!range.IsEmpty() && !met.IsEmpty() && range.Intersects(met)) meeting.push_back(one);
    }
    ASSERT_EQ(Holding(index, sought), holding) << id;
    ASSERT_EQ(Meeting(index, met), meeting) << id << " " << met;
  }
}

// Were its cost that of a list, this would take minutes, and its depth more than the stack has.
TEST(RangeIndexTest, AnIdMayStandForVeryManyRanges) {
  constexpr size_t kRanges = 300'000;
  const auto range = [](size_t i) { return KeyRange::Single("key:" + std::to_string(i)); };
  RangeIndex index;
  for (size_t i = 0; i < kRanges; ++i) index.Add(1, range(i));
  for (size_t i = 0; i < kRanges; i += 1000) EXPECT_EQ(Holding(index, range(i).start), Ids{1});
  for (size_t i = 0; i < kRanges; ++i) index.Remove(1, range(i));
  EXPECT_EQ(Meeting(index, KeyRange::All()), Ids{});
}

}  // namespace
}  // namespace kvarts
