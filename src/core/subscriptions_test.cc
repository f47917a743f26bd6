// Who watches is told of what is visible, in commit order; who waits is woken in the order of tickets; and those whom a
// commit does not concern cost it nothing.
#include "core/subscriptions.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "support/stores.h"

namespace kvarts::test {
namespace {

class SubscriptionsTest : public StoreTest {
 protected:
  Subscriptions& subscriptions() { return store().subscriptions(); }
  // Writes down what it is told, as "name:op:key".
  Subscriptions::WatchCallback Noting(const std::string& name) {
    return [this, name](const Mutation* mutation, Version version) {
      if (mutation == nullptr) return;
      constexpr const char* kOps[] = {"put", "erase", "range", "add"};
      const std::lock_guard lock(mutex_);
      told_.push_back(name + ":" + kOps[static_cast<int>(mutation->op)] + ":" + mutation->key);
      versions_.push_back(version);
    };
  }
  std::vector<std::string> Told() {
    const std::lock_guard lock(mutex_);
    return std::exchange(told_, {});
  }

  std::mutex mutex_;
  std::vector<std::string> told_;
  std::vector<Version> versions_;
};
KVARTS_ON_EVERY_ENGINE(SubscriptionsTest);

using Lines = std::vector<std::string>;

TEST_P(SubscriptionsTest, AWatcherIsToldOfEveryChangeInItsRange) {
  subscriptions().Watch({"b", "d"}, Noting("w"));
  Must({Mutation::Put("a", ""), Mutation::Put("b", ""), Mutation::Erase("c"), Mutation::Add("cc", 1),
        Mutation::Put("d", "")});
  Must({Mutation::EraseRange("a", "b")});
  Must({Mutation::EraseRange("c", "z")});
  EXPECT_EQ(Told(), (Lines{"w:put:b", "w:erase:c", "w:add:cc", "w:range:c"}));
}

TEST_P(SubscriptionsTest, IsToldFromTheNextCommitOnWithItsVersion) {
  Put("a", "");
  subscriptions().Watch(KeyRange::All(), Noting("w"));
  const Version version = Put("b", "");
  EXPECT_EQ(Told(), Lines{"w:put:b"});
  EXPECT_EQ(versions_, std::vector<Version>{version});
}

TEST_P(SubscriptionsTest, WhatIsToldCanBeRead) {
  std::string seen;
  std::thread reader;
  subscriptions().Watch(KeyRange::All(), [&](const Mutation* mutation, Version) {
    if (mutation == nullptr || reader.joinable()) return;
    reader = std::thread([&, key = mutation->key] { seen = Value(key); });
  });
  Put("a", "1");
  reader.join();
  EXPECT_EQ(seen, "1");
}

TEST_P(SubscriptionsTest, WatchersOfOneChangeAreToldInTheirOrder) {
  subscriptions().Watch(KeyRange::Single("a"), Noting("1"));
  subscriptions().Watch(KeyRange::All(), Noting("2"));
  subscriptions().Watch({"a", "b"}, Noting("3"));
  Put("a", "");
  EXPECT_EQ(Told(), (Lines{"1:put:a", "2:put:a", "3:put:a"}));
}

TEST_P(SubscriptionsTest, AfterCancelNobodyIsTold) {
  const auto id = subscriptions().Watch(KeyRange::All(), Noting("w"));
  Put("a", "");
  subscriptions().Cancel(id);
  subscriptions().Cancel(id);
  Put("b", "");
  EXPECT_EQ(Told(), Lines{"w:put:a"});
}

TEST_P(SubscriptionsTest, AWatcherMayCancelItselfAndOthers) {
  Subscriptions::Id second = 0;
  Subscriptions::Id first = 0;
  first = subscriptions().Watch(KeyRange::All(), [&](const Mutation* mutation, Version version) {
    if (mutation == nullptr) return;
    Noting("first")(mutation, version);
    subscriptions().Cancel(first);
    subscriptions().Cancel(second);
  });
  second = subscriptions().Watch(KeyRange::All(), Noting("second"));
  subscriptions().Watch(KeyRange::All(), Noting("third"));
  Must({Mutation::Put("a", ""), Mutation::Put("b", "")});
  EXPECT_EQ(Told(), (Lines{"first:put:a", "third:put:a", "third:put:b"}));
}

TEST_P(SubscriptionsTest, IsToldInCommitOrderFromManyThreads) {
  KVARTS_NEEDS_TURNS();
  subscriptions().Watch(KeyRange::All(), Noting("w"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) ASSERT_TRUE(Run(Putting("k", ""), Quick()));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Told().size(), 400u);
  EXPECT_TRUE(std::is_sorted(versions_.begin(), versions_.end()));
}

TEST_P(SubscriptionsTest, WaitersAreWokenOnceInTheOrderOfTheirTickets) {
  KVARTS_NEEDS_TURNS();
  std::string order;
  const auto wake = [&](const std::string& name) {
    return [&order, name]() -> std::unique_ptr<Submission> {
      return RunFirst([&order, name](View&, Commit*) -> Status {
        order += name;
        return {};
      });
    };
  };
  const auto first = subscriptions().NextTicket();
  const auto second = subscriptions().NextTicket();
  const auto third = subscriptions().NextTicket();
  subscriptions().Wait(third, {KeyRange::Single("a")}, wake("3"));
  subscriptions().Wait(first, {KeyRange::All()}, wake("1"));
  subscriptions().Wait(second, {{"a", "c"}}, wake("2"));
  subscriptions().Wait(subscriptions().NextTicket(), {KeyRange::Single("b")}, wake("b"));
  Must({Mutation::Put("aa", ""), Mutation::Put("a", "")});
  EXPECT_EQ(order, "123");
  Put("a", "");
  EXPECT_EQ(order, "123");
  Put("b", "");
  EXPECT_EQ(order, "123b");
}

TEST_P(SubscriptionsTest, AWaiterForSeveralRangesIsWokenOnce) {
  KVARTS_NEEDS_TURNS();
  int woken = 0;
  const auto ticket = subscriptions().NextTicket();
  const auto wait = [&] {
    subscriptions().Wait(ticket, {KeyRange::Single("a"), KeyRange::Single("a"), {"b", "d"}},
                         [&woken]() -> std::unique_ptr<Submission> {
                           return RunFirst([&woken](View&, Commit*) -> Status {
                             ++woken;
                             return {};
                           });
                         });
  };
  wait();
  Must({Mutation::Put("a", ""), Mutation::Put("c", ""), Mutation::EraseRange("a", "z")});
  EXPECT_EQ(woken, 1);
  Put("a", "");
  Put("c", "");
  EXPECT_EQ(woken, 1);
  wait();
  Put("c", "");
  EXPECT_EQ(woken, 2);
  wait();
  subscriptions().Cancel(ticket);
  Must({Mutation::Put("a", ""), Mutation::Put("c", "")});
  EXPECT_EQ(woken, 2);
}

// Waits for what is told when another process might have had a part in it.
class LiveTest : public SubscriptionsTest {
 protected:
  Subscriptions::LiveCallback Live(const std::string& name) {
    return [this, name, noting = Noting(name)](const Subscriptions::News& news) {
      using Kind = Subscriptions::News::Kind;
      if (news.kind == Kind::kChange) return noting(news.mutation, news.version);
      const std::lock_guard lock(mutex_);
      told_.push_back(name + (news.kind == Kind::kBegins ? ":begins" : ":lost"));
    };
  }
  Lines ToldSoon(size_t count) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    Lines all;
    while (all.size() < count && std::chrono::steady_clock::now() < give_up) {
      for (std::string& line : Told()) all.push_back(std::move(line));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return all;
  }
};
KVARTS_ON_EVERY_ENGINE(LiveTest);

TEST_P(LiveTest, ALiveWatcherBeginsAndIsToldOfEveryChangeOnce) {
  const auto id = subscriptions().WatchLive({"b", "d"}, Live("w"));
  EXPECT_EQ(ToldSoon(1), Lines{"w:begins"});
  const Version first =
      Must({Mutation::Put("a", ""), Mutation::Put("b", ""), Mutation::Erase("c"), Mutation::Put("d", "")});
  const Version second = Must({Mutation::EraseRange("c", "z")});
  EXPECT_EQ(ToldSoon(3), (Lines{"w:put:b", "w:erase:c", "w:range:c"}));
  EXPECT_EQ(versions_, (std::vector<Version>{first, first, second}));
  // A second one of the same range begins, too.
  subscriptions().WatchLive({"b", "d"}, Live("v"));
  EXPECT_EQ(ToldSoon(1), Lines{"v:begins"});
  Put("b", "");
  EXPECT_EQ(ToldSoon(2), (Lines{"w:put:b", "v:put:b"}));
  subscriptions().Cancel(id);
  Put("b", "");
  Put("c", "");
  EXPECT_EQ(ToldSoon(2), (Lines{"v:put:b", "v:put:c"}));
}

TEST_P(LiveTest, AnEmptyRangeBeginsAndIsToldNothing) {
  subscriptions().WatchLive({"c", "b"}, Live("w"));
  EXPECT_EQ(ToldSoon(1), Lines{"w:begins"});
  subscriptions().WatchLive(KeyRange::All(), Live("all"));
  EXPECT_EQ(ToldSoon(1), Lines{"all:begins"});
  Put("b", "");
  EXPECT_EQ(ToldSoon(1), Lines{"all:put:b"});
}

// An engine that other processes write to says when a live watcher begins, and is the only one to tell it anything.
TEST_P(LiveTest, OfASharedEngineOnlyThoseAreToldWhoHaveBegun) {
  Subscriptions shared(&engine());
  const auto followed = [&] {
    FollowedRanges ranges;
    shared.Followed(&ranges);
    return ranges;
  };
  const KeyRange range{"a", "c"};
  shared.WatchLive(range, Live("1"));
  shared.WatchLive(KeyRange::All(), Live("2"));
  const auto third = shared.WatchLive(range, Live("3"));
  EXPECT_EQ(followed().beginning.size(), 3u);
  EXPECT_EQ(followed().told.size(), 3u);
  EXPECT_TRUE(followed().touched.empty());
  const Mutation put = Mutation::Put("b", "");
  shared.Changed(put, Version{1});
  shared.Lost();
  EXPECT_EQ(Told(), Lines());
  shared.Begin(std::span(&range, 1));
  EXPECT_EQ(Told(), (Lines{"1:begins", "3:begins"}));
  EXPECT_EQ(followed().beginning, std::vector<KeyRange>{KeyRange::All()});
  EXPECT_EQ(followed().told.size(), 3u);
  shared.Visible(MakeCommit({put}), Version{2});
  EXPECT_EQ(Told(), Lines());
  shared.Changed(put, Version{2});
  shared.Changed(Mutation::Put("c", ""), Version{2});
  EXPECT_EQ(Told(), (Lines{"1:put:b", "3:put:b"}));
  shared.Cancel(third);
  shared.Lost();
  EXPECT_EQ(Told(), Lines{"1:lost"});
}

TEST_P(SubscriptionsTest, WhoReadsWhatIsSettledIsToldOnceItIs) {
  Subscriptions shared(&engine());
  int told = 0;
  const auto id = shared.WatchSettled({"a", "c"}, [&](const Mutation*, Version) { ++told; });
  FollowedRanges followed;
  shared.Followed(&followed);
  EXPECT_EQ(followed.touched, (std::vector<KeyRange>{{"a", "c"}}));
  std::vector<std::unique_ptr<Submission>> next;
  shared.Visible(MakeCommit({Mutation::Put("b", "")}), Version{1});
  shared.Elsewhere(KeyRange::Single("b"), &next);
  shared.Settled(KeyRange::Single("c"));
  EXPECT_EQ(told, 0);
  shared.Settled(KeyRange::Single("b"));
  EXPECT_EQ(told, 1);
  shared.Cancel(id);
  shared.Settled(KeyRange::Single("b"));
  EXPECT_EQ(told, 1);
  // Where nobody else writes, what is visible is settled.
  Subscriptions alone;
  alone.WatchSettled({"a", "c"}, [&](const Mutation*, Version) { ++told; });
  alone.Visible(MakeCommit({Mutation::Put("b", "")}), Version{1});
  EXPECT_EQ(told, 2);
}

// How long a thousand commits take, elsewhere, past everything but the listener.
std::chrono::nanoseconds TimeOfCommits(Subscriptions& subscriptions) {
  const Commit commit = MakeCommit({Mutation::Put("elsewhere", "")});
  std::vector<std::unique_ptr<Submission>> next;
  auto best = std::chrono::nanoseconds::max();
  for (int round = 0; round < 5; ++round) {
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i) {
      subscriptions.Decided(commit, kNoVersion, &next);
      subscriptions.Visible(commit, kNoVersion);
    }
    best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - began);
  }
  EXPECT_TRUE(next.empty());
  return best;
}

TEST(SubscriptionsCostTest, TenThousandWhoWaitElsewhereAreNotLookedAt) {
  Subscriptions few;
  Subscriptions many;
  const auto add = [](Subscriptions& to, int i) {
    const std::string key = "key:" + std::to_string(i);
    to.Wait(to.NextTicket(), {KeyRange::Single(key)}, [] { return std::unique_ptr<Submission>(); });
    to.Watch(KeyRange::Prefix(key + "/"), [](const Mutation*, Version) {});
  };
  for (int i = 0; i < 10; ++i) add(few, i);
  for (int i = 0; i < 10'000; ++i) add(many, i);
  const auto with_few = TimeOfCommits(few);
  const auto with_many = TimeOfCommits(many);
  RecordProperty("ns_per_commit_10", static_cast<int>(with_few.count() / 1000));
  RecordProperty("ns_per_commit_10000", static_cast<int>(with_many.count() / 1000));
  // A thousand times as many are allowed twenty times the time: a walk over all of them would take hundreds.
  EXPECT_LT(with_many, with_few * 20);
}

}  // namespace
}  // namespace kvarts::test
