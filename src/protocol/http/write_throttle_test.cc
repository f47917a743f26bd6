#include "protocol/http/write_throttle.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace kvarts::http {
namespace {

using std::chrono::seconds;
using Time = WriteThrottle::Time;

const Time kNow = Time(seconds(1'000));
const Time kNever = Time(seconds(1'000'000));

double SecondsFor(double pressure, uint64_t bytes) {
  WriteThrottle throttle;
  EXPECT_EQ(throttle.Reserve(pressure, bytes, kNow, kNever), kNow) << "the first in the line does not wait";
  return std::chrono::duration<double>(*throttle.Reserve(pressure, 1, kNow, kNever) - kNow).count();
}

TEST(WriteThrottleTest, NobodyWaitsWhileTheEngineKeepsUp) {
  for (const double pressure : {0.0, 0.3, WriteThrottle::kFrom}) EXPECT_EQ(SecondsFor(pressure, 1 << 30), 0);
}

TEST(WriteThrottleTest, TheRateFallsWithThePressure) {
  EXPECT_NEAR(SecondsFor(0.5001, 256 << 20), 1, 0.01);
  EXPECT_NEAR(SecondsFor(0.75, 16 << 20), 1, 0.01);
  EXPECT_NEAR(SecondsFor(1, 1 << 20), 1, 0.01);
  EXPECT_NEAR(SecondsFor(2, 1 << 20), 1, 0.01);
}

TEST(WriteThrottleTest, AllWritersStandInOneLine) {
  WriteThrottle throttle;
  std::vector<std::jthread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([&throttle] {
      for (int k = 0; k < 128; ++k) EXPECT_TRUE(throttle.Reserve(1, 10 << 10, kNow, kNever));
    });
  }
  writers.clear();
  // 10 MiB at 1 MiB a second, however many they are.
  const double end = std::chrono::duration<double>(*throttle.Reserve(1, 1, kNow, kNever) - kNow).count();
  EXPECT_NEAR(end, 10, 0.01);
}

TEST(WriteThrottleTest, WhoWouldWaitTooLongHasNoPlaceInTheLine) {
  WriteThrottle throttle;
  ASSERT_TRUE(throttle.Reserve(1, 10 << 20, kNow, kNever));
  EXPECT_FALSE(throttle.Reserve(1, 100 << 20, kNow, kNow + seconds(9)));
  const auto turn = throttle.Reserve(1, 1, kNow, kNow + seconds(10));
  ASSERT_TRUE(turn);
  EXPECT_NEAR(std::chrono::duration<double>(*turn - kNow).count(), 10, 0.01);
}

TEST(WriteThrottleTest, TheLineIsForgottenWhenThePressureIsGone) {
  WriteThrottle throttle;
  ASSERT_TRUE(throttle.Reserve(1, 100 << 20, kNow, kNever));
  EXPECT_EQ(throttle.Reserve(0.1, 1, kNow, kNever), kNow);
  EXPECT_EQ(throttle.Reserve(1, 1, kNow, kNever), kNow);
}

TEST(WriteThrottleTest, TheLineDoesNotSaveUpTimeThatNobodyUsed) {
  WriteThrottle throttle;
  ASSERT_TRUE(throttle.Reserve(1, 1 << 20, kNow, kNever));
  EXPECT_EQ(throttle.Reserve(1, 1 << 20, kNow + seconds(100), kNever), kNow + seconds(100));
  EXPECT_GE(throttle.Reserve(1, 1, kNow + seconds(100), kNever), kNow + seconds(101));
}

}  // namespace
}  // namespace kvarts::http
