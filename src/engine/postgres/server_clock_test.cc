#include "engine/postgres/server_clock.h"

#include <gtest/gtest.h>

namespace kvarts::postgres {
namespace {

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kServer = 1'700'000'000 * kSecond;  // when the steady clock says 0

TEST(ServerClockTest, TheAnswerThatWasReadSoonestCounts) {
  ServerClock clock;
  for (const auto& [asked, late] : {std::pair(100, 30'000), {40'000, 10}, {90'000, 400'000}, {600'000, 20}}) {
    clock.Saw(kServer + asked, asked + late);
  }
  EXPECT_EQ(clock.At(kSecond), kServer + kSecond - 10);
}

TEST(ServerClockTest, ItIsBelievedForSomeTimeAndNoLonger) {
  ServerClock clock;
  clock.Saw(kServer, 0);
  // It was set back by a minute.
  for (int64_t at = 100'000; at < 10 * kSecond; at += 100'000) {
    clock.Saw(kServer + at - 60 * kSecond, at);
    const bool set_back = clock.At(at) == kServer + at - 60 * kSecond;
    EXPECT_FALSE(set_back && at < 2 * kSecond) << at;
    EXPECT_TRUE(set_back || at < 4 * kSecond) << at;
  }
  // After a silence only what is said now counts.
  clock.Saw(kServer + 30 * kSecond, 60 * kSecond);
  EXPECT_EQ(clock.At(60 * kSecond), kServer + 30 * kSecond);
}

}  // namespace
}  // namespace kvarts::postgres
