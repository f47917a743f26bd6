// What the oracle forgets, and when. What it shows is tested by the conformance suite.
#include "engine/memory/versioned_map.h"

#include <gtest/gtest.h>

namespace kvarts {
namespace {

constexpr size_t kPlenty = 1000;

ReadPoint At(uint64_t stamp) { return {Version{stamp}, Timestamp{}}; }

Mutation Owned(Mutation put) {
  put.owned = true;
  return put;
}

TEST(VersionedMapTest, KeepsWhatTheOldestReaderSees) {
  VersionedMap map(kPlenty);
  map.Apply(Mutation::Put("a", "1"), Version{1}, At(0));
  map.Apply(Mutation::Put("a", "2"), Version{2}, At(1));
  map.Apply(Mutation::Put("a", "3"), Version{3}, At(1));
  EXPECT_EQ(map.entries(), 3u);
  EXPECT_EQ(map.Find("a", At(1), false)->value, "1");
  EXPECT_EQ(map.Find("a", At(2), false)->value, "2");
  EXPECT_EQ(map.Find("a", At(9), false)->value, "3");
  map.Apply(Mutation::Put("a", "4"), Version{4}, At(3));
  EXPECT_EQ(map.entries(), 2u);
  EXPECT_EQ(map.Find("a", At(3), false)->value, "3");
}

TEST(VersionedMapTest, SweepDropsOldEntriesAndUnownedExpiredRecords) {
  VersionedMap map(kPlenty);
  map.Apply(Mutation::Put("a", "1"), Version{1}, At(0));
  map.Apply(Mutation::Put("a", "2"), Version{2}, At(0));
  map.Apply(Mutation::Put("b", "1", Timestamp{10}), Version{3}, At(0));
  map.Apply(Owned(Mutation::Put("c", "1", Timestamp{10})), Version{4}, At(0));
  map.Sweep(KeyRange::All(), {Version{4}, Timestamp{9}});
  EXPECT_EQ(map.entries(), 3u);
  EXPECT_NE(map.Find("b", At(4), true), nullptr);
  map.Sweep(KeyRange::All(), {Version{4}, Timestamp{10}});
  EXPECT_EQ(map.Find("b", At(4), true), nullptr);
  EXPECT_NE(map.Find("c", At(4), true), nullptr);
  EXPECT_TRUE(map.ChangedSince({"b", "c"}, Version{2}));
  EXPECT_FALSE(map.ChangedSince({"b", "c"}, Version{3}));
}

TEST(VersionedMapTest, RemembersErasures) {
  VersionedMap map(kPlenty);
  map.Apply(Mutation::Put("a", "1"), Version{1}, At(0));
  map.Apply(Mutation::Erase("a"), Version{2}, At(1));
  map.Apply(Mutation::EraseRange("x", "y"), Version{3}, At(2));
  EXPECT_TRUE(map.ChangedSince({"a", "b"}, Version{1}));
  EXPECT_FALSE(map.ChangedSince({"a", "b"}, Version{2}));
  EXPECT_TRUE(map.ChangedSince({"", ""}, Version{2}));
  EXPECT_FALSE(map.ChangedSince({"", ""}, Version{3}));
}

TEST(VersionedMapTest, ForgetsErasuresBeyondItsBoundAndThenAssumesTheWorst) {
  VersionedMap map(10);
  map.Apply(Mutation::Put("live", "1"), Version{1}, At(0));
  uint64_t stamp = 1;
  for (int i = 0; i < 100; ++i) {
    ++stamp;
    map.Apply(Mutation::Erase("k" + std::to_string(i)), Version{stamp}, At(stamp - 1));
    EXPECT_LE(map.keys(), 13u);
  }
  EXPECT_TRUE(map.ChangedSince({"live", "m"}, Version{1}));
  EXPECT_FALSE(map.ChangedSince({"", ""}, Version{stamp}));
  EXPECT_EQ(map.Find("live", At(stamp), false)->value, "1");
}

TEST(VersionedMapTest, ForgettingKeepsWhatAnOldReaderSees) {
  VersionedMap map(2);
  map.Apply(Mutation::Put("a", "1"), Version{1}, At(0));
  for (uint64_t stamp = 2; stamp < 20; ++stamp) {
    map.Apply(Mutation::Erase("a"), Version{stamp}, At(1));
    map.Apply(Mutation::EraseRange("x", ""), Version{stamp}, At(1));
  }
  EXPECT_EQ(map.Find("a", At(1), false)->value, "1");
  EXPECT_EQ(map.Find("a", At(2), false), nullptr);
}

}  // namespace
}  // namespace kvarts
