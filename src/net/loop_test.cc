#include "net/loop.h"

#include <gtest/gtest.h>

#include <latch>
#include <thread>

namespace kvarts::net {
namespace {

bool TurnsWithin(Loop& loop, std::chrono::milliseconds time) {
  const auto give_up = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < give_up) {
    if (loop.TakeTurned()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST(LoopTest, SaysWhetherItTurns) {
  Loop loop(0);
  std::latch held(1);
  std::latch go_on(1);
  std::jthread thread([&loop] { loop.Run(); });
  loop.TakeTurned();
  EXPECT_TRUE(TurnsWithin(loop, std::chrono::seconds(20)));
  loop.Post([&] {
    held.count_down();
    go_on.wait();
  });
  held.wait();
  loop.TakeTurned();
  EXPECT_FALSE(TurnsWithin(loop, 3 * Loop::kTick));
  go_on.count_down();
  EXPECT_TRUE(TurnsWithin(loop, std::chrono::seconds(20)));
  loop.Stop();
}

}  // namespace
}  // namespace kvarts::net
