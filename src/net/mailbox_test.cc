#include "net/mailbox.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "net/loop.h"

namespace kvarts::net {
namespace {

TEST(MailboxTest, LettersAreOpenedInOrderAndTheFirstWakes) {
  Mailbox box;
  const int poller = ::epoll_create1(0);
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {}};
  ASSERT_EQ(::epoll_ctl(poller, EPOLL_CTL_ADD, box.descriptor(), &event), 0);
  const auto woken = [&] { return ::epoll_wait(poller, &event, 1, 0); };
  std::string opened;
  EXPECT_EQ(woken(), 0);
  box.Put([&] { opened += "a"; });
  EXPECT_EQ(woken(), 1);
  box.Put([&] { opened += "b"; });
  EXPECT_EQ(woken(), 0);
  box.Open();
  EXPECT_EQ(opened, "ab");
  box.Put([&] { opened += "c"; });
  EXPECT_EQ(woken(), 1);
  box.Open();
  EXPECT_EQ(opened, "abc");
  ::close(poller);
}

TEST(MailboxTest, LettersThatBelongTogetherWakeOnceBehindTheLast) {
  Mailbox box;
  const int poller = ::epoll_create1(0);
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {}};
  ASSERT_EQ(::epoll_ctl(poller, EPOLL_CTL_ADD, box.descriptor(), &event), 0);
  const auto woken = [&] { return ::epoll_wait(poller, &event, 1, 0); };
  std::string opened;
  {
    const HeldWakeups together;
    box.Put([&] { opened += "a"; });
    EXPECT_EQ(woken(), 0);
    // Somebody looks who was not woken for it.
    box.Open();
    box.Put([&] { opened += "b"; });
    EXPECT_EQ(woken(), 0);
  }
  EXPECT_EQ(woken(), 1);
  EXPECT_EQ(woken(), 0);
  box.Open();
  EXPECT_EQ(opened, "ab");
  ::close(poller);
}

TEST(MailboxTest, ALetterMayPutAnother) {
  Mailbox box;
  int opened = 0;
  box.Put([&] { box.Put([&] { ++opened; }); });
  box.Open();
  EXPECT_EQ(opened, 0);
  box.Open();
  EXPECT_EQ(opened, 1);
}

// Held to be lost if a wake-up could be: nothing else makes the loop look.
TEST(MailboxTest, NothingIsLeftLyingFromManyThreads) {
  constexpr int kEach = 20'000;
  constexpr int kThreads = 3;
  Loop loop(0);
  int opened = 0;
  std::thread runner([&] { loop.Run(); });
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        loop.Post([&] {
          if (++opened == kThreads * kEach) loop.Stop();
        });
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  runner.join();
  EXPECT_EQ(opened, kThreads * kEach);
}

}  // namespace
}  // namespace kvarts::net
