#include "engine/postgres/group.h"

#include <gtest/gtest.h>

namespace kvarts::postgres {
namespace {

TEST(SnapshotsTest, OfTwoWithOneVersionTheOlderCountsWhicheverIsToldFirst) {
  const std::vector<std::string> oldest_first = {"a/5:9:5,7,8", "a/5:9:5,8", "a/9:9:", "a/9:10:", "a/9:12:9,10,11"};
  for (size_t older = 0; older < oldest_first.size(); ++older) {
    for (size_t newer = older; newer < oldest_first.size(); ++newer) {
      for (const bool swapped : {false, true}) {
        Snapshots snapshots;
        snapshots.Add(Version{1}, oldest_first[swapped ? newer : older]);
        snapshots.Add(Version{1}, oldest_first[swapped ? older : newer]);
        EXPECT_EQ(snapshots.Find(Version{1}), oldest_first[older]);
      }
    }
  }
  EXPECT_FALSE(Snapshots().Find(Version{1}));
}

}  // namespace
}  // namespace kvarts::postgres
