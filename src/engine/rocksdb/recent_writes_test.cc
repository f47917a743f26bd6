#include "engine/rocksdb/recent_writes.h"

#include <gtest/gtest.h>

#include "engine/rocksdb/key_hash.h"

namespace kvarts {
namespace {

class RecentWritesTest : public testing::Test {
 protected:
  void Point(BytesView key, uint64_t version) { recent_.NotePoint(KeyHash(key), key, {version}); }
  bool PointChanged(BytesView key, uint64_t since) { return recent_.PointMayHaveChanged(KeyHash(key), {since}); }
  bool RangeChanged(BytesView start, BytesView end, uint64_t since) {
    return recent_.RangeMayHaveChanged({Bytes(start), Bytes(end)}, {since});
  }

  RecentWrites recent_{{100}};
};

TEST_F(RecentWritesTest, KnowsNothingOfWhatWasBeforeIt) {
  EXPECT_TRUE(PointChanged("a", 99));
  EXPECT_FALSE(PointChanged("a", 100));
  EXPECT_TRUE(RangeChanged("a", "b", 99));
  EXPECT_FALSE(RangeChanged("a", "b", 100));
}

TEST_F(RecentWritesTest, RemembersPoints) {
  Point("a", 101);
  EXPECT_TRUE(PointChanged("a", 100));
  EXPECT_FALSE(PointChanged("a", 101));
  EXPECT_FALSE(PointChanged("b", 100));
  EXPECT_TRUE(RangeChanged("a", "b", 100));
  EXPECT_TRUE(RangeChanged("", "", 100));
  EXPECT_FALSE(RangeChanged("a", "b", 101));
  EXPECT_FALSE(RangeChanged("b", "", 100));
}

TEST_F(RecentWritesTest, RemembersRanges) {
  recent_.NoteRange({"b", "d"}, {101});
  EXPECT_TRUE(RangeChanged("c", "z", 100));
  EXPECT_FALSE(RangeChanged("d", "z", 100));
  EXPECT_FALSE(RangeChanged("a", "b", 100));
  EXPECT_TRUE(PointChanged("c", 100));
}

TEST_F(RecentWritesTest, CountsWhatItHasForgottenAsChanged) {
  Point("z", 101);
  for (uint64_t i = 0; i < 20'000; ++i) Point("k" + std::to_string(i), 102 + i);
  EXPECT_TRUE(RangeChanged("a", "b", 101)) << "some of it is no longer remembered";
  EXPECT_FALSE(RangeChanged("a", "b", 20'000)) << "since then everything is";
  EXPECT_TRUE(PointChanged("k0", 101)) << "points are remembered for ever";
}

}  // namespace
}  // namespace kvarts
