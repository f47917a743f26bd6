#include "base/log_limit.h"

#include <gtest/gtest.h>

namespace kvarts {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

TEST(LogLimit, LetsSoManyThroughASecond) {
  LogLimit limit(3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limit.Pass(5 * kSecond), 0U);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(limit.Pass(5 * kSecond + 999'999'999), std::nullopt);
  EXPECT_EQ(limit.Pass(6 * kSecond), 4U);
  EXPECT_EQ(limit.Pass(6 * kSecond), 0U);
}

TEST(LogLimit, OfNoneLetsNoneThrough) {
  LogLimit limit(0);
  EXPECT_EQ(limit.Pass(kSecond), std::nullopt);
  EXPECT_EQ(limit.Pass(2 * kSecond), std::nullopt);
}

}  // namespace
}  // namespace kvarts
