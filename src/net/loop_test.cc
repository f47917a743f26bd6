#include "net/loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <latch>
#include <string>
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

TEST(LoopTest, SaysWhoseThreadItIs) {
  Loop loop(0);
  EXPECT_FALSE(loop.IsHere());
  bool there = false;
  std::jthread thread([&] {
    loop.Run();
    EXPECT_FALSE(loop.IsHere()) << "it has ended";
  });
  loop.Post([&] {
    there = loop.IsHere();
    loop.Stop();
  });
  thread.join();
  EXPECT_TRUE(there);
  EXPECT_FALSE(loop.IsHere());
}

TEST(LoopTest, AtTheEndOfATurnAllOfItHasBeenDealtWith) {
  Loop loop(0);
  std::string order;
  // Both letters are there before the loop looks: they are one turn.
  loop.Post([&] {
    loop.AtEndOfTurn([&] { order += "e"; });
    order += "a";
  });
  loop.Post([&] {
    loop.AtEndOfTurn([&] {
      order += "f";
      // Of the next one, which comes though nothing else happens.
      loop.AtEndOfTurn([&] {
        order += "g";
        loop.Stop();
      });
      order += "F";
    });
    order += "b";
  });
  loop.Run();
  EXPECT_EQ(order, "abefFg");
}

Task<> AskAtTheEnd(Loop& loop, std::string* order) {
  loop.AtEndOfTurn([&loop, order] {
    *order += "e";
    loop.Stop();
  });
  *order += "a";
  co_return;
}

TEST(LoopTest, ATurnNeedsNoSocketToEnd) {
  Loop loop(0);
  std::string order;
  loop.Spawn(AskAtTheEnd(loop, &order));
  loop.Run();
  EXPECT_EQ(order, "ae");
}

// A pair of sockets, one of which is watched.
class WatchTest : public testing::Test {
 protected:
  WatchTest() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()), 0); }
  ~WatchTest() override {
    for (const int end : ends_) ::close(end);
  }

  std::string Take() {
    std::array<char, 3> some;
    const ssize_t got = ::read(ends_[0], some.data(), some.size());
    return got < 0 ? "-" : std::string(some.data(), static_cast<size_t>(got));
  }
  void Give(const std::string& text) {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }

  Loop loop_{0};
  std::array<int, 2> ends_{};
};

TEST_F(WatchTest, IsToldForAsLongAsThereIsSomethingToRead) {
  std::string taken;
  Watch watch(loop_.poller(), [&](Watch::Ready ready) {
    EXPECT_TRUE(ready.readable);
    EXPECT_FALSE(ready.writable) << "nobody asked for that";
    taken += Take() + "/";
    if (taken == "abc/de/") Give("f");
    if (taken.ends_with("f/")) loop_.Stop();
  });
  ASSERT_TRUE(watch.Start(ends_[0]));
  Give("abcde");
  loop_.Run();
  EXPECT_EQ(taken, "abc/de/f/");
}

TEST_F(WatchTest, IsToldAboutWritingWhileThatIsWanted) {
  int writable = 0;
  Watch watch(loop_.poller(), [&](Watch::Ready ready) {
    if (ready.writable && ++writable == 3) {
      watch.WantWrite(false);
      Give("a");
    }
    if (ready.readable) {
      EXPECT_FALSE(ready.writable);
      loop_.Stop();
    }
  });
  ASSERT_TRUE(watch.Start(ends_[0]));
  watch.WantWrite(true);
  loop_.Run();
  EXPECT_EQ(writable, 3);
}

TEST_F(WatchTest, HearsOfTheEndAndNothingOnceStopped) {
  int told = 0;
  Watch watch(loop_.poller(), [&](Watch::Ready ready) {
    EXPECT_TRUE(ready.readable);
    EXPECT_EQ(Take(), "");
    ++told;
    watch.Stop();
    // There would be something to tell at every turn.
    loop_.Post([this] { loop_.Post([this] { loop_.Stop(); }); });
  });
  ASSERT_TRUE(watch.Start(ends_[0]));
  ::shutdown(ends_[1], SHUT_WR);
  loop_.Run();
  EXPECT_EQ(told, 1);
  EXPECT_FALSE(watch.Start(-1));
}

Task<> NoteWhenReadable(Pollable& socket, std::string* order) {
  socket.ReadDrained();
  co_await socket.Readable();
  *order += "socket";
}

// Its callback may resume others, and end those of whom there is something to tell.
TEST_F(WatchTest, IsToldBehindAllSocketsThatAreReady) {
  std::array<int, 2> others{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, others.data()), 0);
  std::string order;
  auto socket = std::make_unique<Pollable>();
  Watch watch(loop_.poller(), [&](Watch::Ready) {
    order += " watch";
    socket.reset();
    watch.Stop();
    loop_.Stop();
  });
  ASSERT_TRUE(watch.Start(ends_[0]));
  ASSERT_TRUE(loop_.poller().Add(others[0], socket.get()));
  loop_.Spawn(NoteWhenReadable(*socket, &order));
  // Both are ready when the loop looks, the one that is watched first.
  loop_.Post([&] {
    Give("a");
    EXPECT_EQ(::write(others[1], "a", 1), 1);
  });
  loop_.Run();
  EXPECT_EQ(order, "socket watch");
  for (const int other : others) ::close(other);
}

TEST_F(WatchTest, AnotherDescriptorTakesItsPlace) {
  std::array<int, 2> others{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, others.data()), 0);
  int told = 0;
  Watch watch(loop_.poller(), [&](Watch::Ready) {
    ++told;
    loop_.Stop();
  });
  ASSERT_TRUE(watch.Start(ends_[0]));
  ASSERT_TRUE(watch.Start(others[0]));
  Give("not watched any more");
  EXPECT_EQ(::write(others[1], "a", 1), 1);
  loop_.Run();
  EXPECT_EQ(told, 1);
  for (const int other : others) ::close(other);
}

}  // namespace
}  // namespace kvarts::net
