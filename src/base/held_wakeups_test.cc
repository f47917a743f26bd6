#include "base/held_wakeups.h"

#include <gtest/gtest.h>

#include <thread>

namespace kvarts {
namespace {

struct Counted final : Wakeable {
  void Wake() override { ++wakes; }
  int wakes = 0;
};

TEST(HeldWakeupsTest, WithoutOneTheyAreNotHeld) {
  Counted sleeper;
  HeldWakeups::Wake(sleeper);
  HeldWakeups::Wake(sleeper);
  EXPECT_EQ(sleeper.wakes, 2);
}

TEST(HeldWakeupsTest, EachIsWokenOnceAtTheEndOfTheOutermost) {
  Counted one;
  Counted other;
  Counted unconcerned;
  {
    const HeldWakeups held;
    HeldWakeups::Wake(one);
    {
      const HeldWakeups inner;
      HeldWakeups::Wake(other);
      HeldWakeups::Wake(one);
    }
    EXPECT_EQ(one.wakes + other.wakes, 0);
  }
  EXPECT_EQ(one.wakes, 1);
  EXPECT_EQ(other.wakes, 1);
  EXPECT_EQ(unconcerned.wakes, 0);
  HeldWakeups::Wake(one);
  EXPECT_EQ(one.wakes, 2);
}

TEST(HeldWakeupsTest, OtherThreadsAreNotHeldUp) {
  Counted sleeper;
  const HeldWakeups held;
  std::thread([&] { HeldWakeups::Wake(sleeper); }).join();
  EXPECT_EQ(sleeper.wakes, 1);
}

}  // namespace
}  // namespace kvarts
