#include "engine/postgres/wal_position.h"

#include <gtest/gtest.h>

namespace kvarts::postgres {
namespace {

TEST(WalPosition, ALaterTimelineHasWhatWasBefore) {
  const WalPosition here{2, 100};
  EXPECT_TRUE(here.Covers({2, 100}));
  EXPECT_TRUE(here.Covers({1, 99}));
  EXPECT_FALSE(here.Covers({2, 101}));
  EXPECT_FALSE(here.Covers({3, 1}));
}

}  // namespace
}  // namespace kvarts::postgres
