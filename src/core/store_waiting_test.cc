// Bodies that wait until they have something to do: woken before anything later, in the order in which they came.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <set>
#include <thread>

#include "support/eventually.h"
#include "support/stores.h"

namespace kvarts::test {
namespace {

// The answers of waiting bodies, as they come.
class Answers {
 public:
  Store::Done For(const std::string& name) {
    return [this, name](Result<RunReport> result) {
      const std::lock_guard lock(mutex_);
      all_.push_back(name + ":" + CodeOf(result));
      if (result) versions_.push_back(result->version);
      changed_.notify_all();
    };
  }
  // Waits for so many.
  std::vector<std::string> Wait(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return all_.size() >= count; });
    return all_;
  }
  std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  std::vector<Version> versions() const {
    const std::lock_guard lock(mutex_);
    return versions_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
  std::vector<Version> versions_;
};

using Names = std::vector<std::string>;

class StoreWaitingTest : public StoreTest {
 protected:
  static KeyRange Queue() { return KeyRange::Prefix("queue/"); }

  // Takes the first item of the queue and writes it under `as`; waits when there is none.
  static Store::WaitingBody Pop(const std::string& as) {
    return [as](Txn& txn) -> Result<Store::Ready> {
      ScanRequest request;
      request.range = Queue();
      request.max_entries = 1;
      KVARTS_TRY(const ScanPage page, txn.Scan(request));
      if (page.empty()) {
        txn.Put("never/" + as, "written only if the body is done");
        return Store::Ready::kWait;
      }
      txn.Put("popped/" + as, Bytes(page[0].key.substr(6)));
      txn.Erase(page[0].key);
      return Store::Ready::kDone;
    };
  }
  std::shared_ptr<Store::Waiting> StartPop(const std::string& as, RunOptions options = {}) {
    return store().RunWhenReady(Queue(), Pop(as), std::move(options), answers_.For(as));
  }
  void Push(const std::string& item) { ASSERT_TRUE(Run(Putting("queue/" + item, ""), Quick())); }
  // Returns when everything submitted so far has had its turn, where there are turns.
  void Settle() { ASSERT_TRUE(Run(Putting("settled", ""), Quick())); }

  Answers answers_;
};
KVARTS_ON_EVERY_ENGINE(StoreWaitingTest);

TEST_P(StoreWaitingTest, WhatIsReadyIsDoneAtOnce) {
  Push("x");
  StartPop("a");
  EXPECT_EQ(answers_.Wait(1), Names{"a:ok"});
  EXPECT_EQ(Contents(), "popped/a=x");
}

TEST_P(StoreWaitingTest, WaitsAndWritesNothingUntilThereIsSomething) {
  StartPop("a");
  Settle();
  EXPECT_TRUE(answers_.all().empty());
  EXPECT_EQ(Contents(), "settled=");
  ASSERT_TRUE(Run(Putting("elsewhere", "")));
  EXPECT_TRUE(answers_.all().empty());
  Push("x");
  EXPECT_EQ(answers_.Wait(1), Names{"a:ok"});
  EXPECT_EQ(Value("popped/a"), "x");
  EXPECT_EQ(Value("queue/x"), "absent");
}

TEST_P(StoreWaitingTest, IsWokenByWhoeverWrites) {
  StartPop("a");
  Put("queue/x", "past the store");
  EXPECT_EQ(answers_.Wait(1), Names{"a:ok"});
}

TEST_P(StoreWaitingTest, TakesItsTurnBeforeAnythingLater) {
  KVARTS_NEEDS_TURNS();
  StartPop("a");
  Settle();
  std::vector<std::unique_ptr<TestSubmission>> batch;
  batch.push_back(std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("queue/x", "")})));
  // Submitted together with the push, and still too late.
  batch.push_back(std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("stolen", "")}, {Present("queue/x")})));
  const auto tickets = SubmitTogether(engine(), std::move(batch));
  EXPECT_EQ(CodeOf(tickets[0]->Outcome()), "ok");
  EXPECT_EQ(CodeOf(tickets[1]->Outcome()), "precondition_failed");
  EXPECT_EQ(answers_.Wait(1), Names{"a:ok"});
}

TEST_P(StoreWaitingTest, AreServedInTheOrderInWhichTheyCame) {
  KVARTS_NEEDS_TURNS();
  for (const char* name : {"a", "b", "c"}) StartPop(name);
  Settle();
  Push("1");
  EXPECT_EQ(answers_.Wait(1), Names{"a:ok"});
  Push("2");
  Push("3");
  EXPECT_EQ(answers_.Wait(3), (Names{"a:ok", "b:ok", "c:ok"}));
  EXPECT_EQ(Value("popped/a") + Value("popped/b") + Value("popped/c"), "123");
}

TEST_P(StoreWaitingTest, WhoWasWokenInVainKeepsItsPlace) {
  KVARTS_NEEDS_TURNS();
  for (const char* name : {"a", "b"}) StartPop(name);
  Settle();
  // Touches the range, and leaves nothing in it: both are run, and wait again.
  for (int i = 0; i < 3; ++i) Must({Mutation::Put("queue/x", ""), Mutation::Erase("queue/x")});
  StartPop("c");
  Settle();
  EXPECT_TRUE(answers_.all().empty());
  Must({Mutation::Put("queue/1", ""), Mutation::Put("queue/2", ""), Mutation::Put("queue/3", "")});
  EXPECT_EQ(answers_.Wait(3), (Names{"a:ok", "b:ok", "c:ok"}));
  EXPECT_EQ(Value("popped/a") + Value("popped/b") + Value("popped/c"), "123");
}

TEST_P(StoreWaitingTest, OneCommitServesAsManyAsItHasItemsFor) {
  KVARTS_NEEDS_TURNS();
  for (const char* name : {"a", "b", "c"}) StartPop(name);
  Settle();
  Must({Mutation::Put("queue/1", ""), Mutation::Put("queue/2", "")});
  EXPECT_EQ(answers_.Wait(2), (Names{"a:ok", "b:ok"}));
  Settle();
  EXPECT_EQ(answers_.all().size(), 2u);
}

TEST_P(StoreWaitingTest, AnErrorOfTheBodyIsItsAnswer) {
  store().RunWhenReady(
      Queue(),
      [](Txn& txn) -> Result<Store::Ready> {
        KVARTS_TRY(const auto record, txn.Get("queue/x"));
        if (record) return Error(ErrorCode::kInvalidArgument, "made up");
        return Store::Ready::kWait;
      },
      {}, answers_.For("a"));
  Settle();
  EXPECT_TRUE(answers_.all().empty());
  Push("x");
  EXPECT_EQ(answers_.Wait(1), Names{"a:invalid_argument"});
  Push("y");
  Settle();
  EXPECT_EQ(answers_.all().size(), 1u);
}

TEST_P(StoreWaitingTest, EffectsComeOnlyFromTheRunThatWasDone) {
  std::atomic<int> effects = 0;
  store().RunWhenReady(
      Queue(),
      [&](Txn& txn) -> Result<Store::Ready> {
        txn.AfterCommit([&](Version) { ++effects; });
        return Pop("a")(txn);
      },
      {}, answers_.For("a"));
  Settle();
  Push("x");
  answers_.Wait(1);
  EXPECT_EQ(effects, 1);
}

TEST_P(StoreWaitingTest, CancelTakesItBack) {
  const auto a = StartPop("a");
  const auto b = StartPop("b");
  Settle();
  EXPECT_TRUE(store().Cancel(a));
  EXPECT_TRUE(store().Cancel(a)) << "twice is once";
  Push("x");
  EXPECT_EQ(answers_.Wait(1), Names{"b:ok"});
  EXPECT_FALSE(store().Cancel(b));
  Push("y");
  Settle();
  EXPECT_EQ(answers_.all(), Names{"b:ok"});
  EXPECT_EQ(Value("queue/y"), "");
}

TEST_P(StoreWaitingTest, CancelledWhileItIsRunInVainItIsTakenBack) {
  KVARTS_NEEDS_TURNS();
  std::binary_semaphore running{0};
  std::binary_semaphore go_on{0};
  std::atomic<int> runs = 0;
  const auto waiting = store().RunWhenReady(
      Queue(),
      [&](Txn&) -> Result<Store::Ready> {
        if (++runs == 2) {
          running.release();
          go_on.acquire();
        }
        return Store::Ready::kWait;
      },
      {}, answers_.For("a"));
  Settle();
  std::thread pusher([&] { Put("queue/x", ""); });
  running.acquire();
  bool cancelled = false;
  std::thread canceller([&] { cancelled = store().Cancel(waiting); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  go_on.release();
  canceller.join();
  pusher.join();
  EXPECT_TRUE(cancelled);
  Push("y");
  Settle();
  EXPECT_EQ(runs, 2);
  EXPECT_TRUE(answers_.all().empty());
}

TEST_P(StoreWaitingTest, CancelIsTrueExactlyWhenThereIsNoAnswer) {
  durability_ = Durability::kNone;
  for (int i = 0; i < 200; ++i) {
    Answers answers;
    const auto waiting = store().RunWhenReady(Queue(), Pop("a"), Quick(), answers.For("a"));
    std::thread pusher([&] {
      // The first wakes it in vain, the second does not.
      for (const bool stays : {false, true}) {
        std::vector<Mutation> push = {Mutation::Put("queue/x", "")};
        if (!stays) push.push_back(Mutation::Erase("queue/x"));
        Must(std::move(push));
      }
    });
    if (i % 3 != 0) std::this_thread::sleep_for(std::chrono::microseconds(i % 7 * 10));
    const bool cancelled = store().Cancel(waiting);
    pusher.join();
    if (!cancelled) answers.Wait(1);
    Settle();
    EXPECT_EQ(answers.all().size(), cancelled ? 0u : 1u) << i;
    EXPECT_EQ(Find("queue/x").has_value(), cancelled) << i;
    Erase("queue/x");
  }
}

TEST_P(StoreWaitingTest, ManyProducersAndConsumersLoseAndDoubleNothing) {
  constexpr int kSides = 4;
  constexpr int kItems = 60;
  std::mutex mutex;
  std::multiset<std::string> taken;
  std::atomic<int> next_consumer = 0;
  const auto consume = [&] {
    for (int i = 0; i < kItems; ++i) {
      const std::string as = std::to_string(next_consumer++);
      std::binary_semaphore done{0};
      store().RunWhenReady(Queue(), Pop(as), Quick(), [&](Result<RunReport> result) {
        EXPECT_TRUE(result) << result.error();
        done.release();
      });
      done.acquire();
      const std::lock_guard lock(mutex);
      taken.insert(Value("popped/" + as));
    }
  };
  const auto produce = [&](int producer) {
    for (int i = 0; i < kItems; ++i) {
      const std::string item = std::to_string(producer) + "-" + std::to_string(i);
      ASSERT_TRUE(Run(Putting("queue/" + item, ""), Quick()));
    }
  };
  std::vector<std::thread> threads;
  for (int side = 0; side < kSides; ++side) {
    threads.emplace_back(consume);
    threads.emplace_back(produce, side);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken.size(), static_cast<size_t>(kSides * kItems));
  EXPECT_EQ(std::set<std::string>(taken.begin(), taken.end()).size(), taken.size());
  EXPECT_FALSE(taken.contains("absent"));
}

TEST_P(StoreWaitingTest, AWaiterOfAWholeRangeIsWokenByItsErasure) {
  Push("x");
  store().RunWhenReady(
      Queue(),
      [](Txn& txn) -> Result<Store::Ready> {
        ScanRequest request;
        request.range = Queue();
        KVARTS_TRY(const ScanPage page, txn.Scan(request));
        return page.empty() ? Store::Ready::kDone : Store::Ready::kWait;
      },
      {}, answers_.For("a"));
  Settle();
  EXPECT_TRUE(answers_.all().empty());
  Must({Mutation::EraseRange("p", "r")});
  EXPECT_EQ(answers_.Wait(1), Names{"a:ok"});
}

TEST_P(StoreWaitingTest, OneMayWaitForSeveralRanges) {
  for (const char* key : {"left", "right"}) {
    std::atomic<int> runs = 0;
    store().RunWhenReady(
        {KeyRange::Single("left"), KeyRange::Single("right"), KeyRange::Single("right")},
        [&](Txn& txn, Store::Ranges*) -> Result<Store::Ready> {
          ++runs;
          for (const char* one : {"left", "right"}) {
            KVARTS_TRY(const auto record, txn.Get(one));
            if (!record) continue;
            txn.Erase(one);
            return Store::Ready::kDone;
          }
          return Store::Ready::kWait;
        },
        Quick(), answers_.For(key));
    Settle();
    const int before = runs;
    Put("between", "");
    Settle();
    if (!GetParam().shared) {
      EXPECT_EQ(runs, before) << "woken by what does not concern it";
    }
    Put(key, "");
    EXPECT_EQ(answers_.Wait(key == BytesView("left") ? 1 : 2).back(), std::string(key) + ":ok");
    EXPECT_EQ(Value(key), "absent");
  }
}

TEST_P(StoreWaitingTest, ARunMaySayForWhatItWaits) {
  Put("where", "here");
  store().RunWhenReady(
      {},
      [](Txn& txn, Store::Ranges* ranges) -> Result<Store::Ready> {
        KVARTS_TRY(const auto where, txn.Get("where"));
        KVARTS_TRY(const auto found, txn.Get(where->value));
        *ranges = {KeyRange::Single("where"), KeyRange::Single(where->value)};
        return found ? Store::Ready::kDone : Store::Ready::kWait;
      },
      Quick(), answers_.For("a"));
  Settle();
  Put("there", "");
  Settle();
  EXPECT_TRUE(answers_.all().empty());
  Erase("there");
  Put("where", "there");
  Put("here", "");
  Settle();
  EXPECT_TRUE(answers_.all().empty());
  Put("there", "");
  EXPECT_EQ(answers_.Wait(1), Names{"a:ok"});
}

TEST_P(StoreWaitingTest, WhoWaitsForSomethingElseKeepsItsPlace) {
  KVARTS_NEEDS_TURNS();
  // The first waits for one key, and then for the other, for which the second has waited before.
  const auto start = [&](const std::string& name, const Bytes& first) {
    store().RunWhenReady(
        {},
        [=](Txn& txn, Store::Ranges* ranges) -> Result<Store::Ready> {
          KVARTS_TRY(const auto moved, txn.Get(first));
          KVARTS_TRY(const auto found, txn.Get("item"));
          *ranges = {KeyRange::Single(moved ? "item" : first)};
          if (!moved || !found) return Store::Ready::kWait;
          txn.Erase("item");
          return Store::Ready::kDone;
        },
        Quick(), answers_.For(name));
  };
  Put("moved", "");
  start("a", "first");
  start("b", "moved");
  Settle();
  Put("first", "");
  Put("item", "");
  EXPECT_EQ(answers_.Wait(1), Names{"a:ok"});
  Put("item", "");
  EXPECT_EQ(answers_.Wait(2), (Names{"a:ok", "b:ok"}));
}

// Those who wait for the same, in a line.
class StoreLineTest : public StoreWaitingTest {
 protected:
  std::shared_ptr<Store::Waiting> Stand(const std::shared_ptr<Store::Line>& line, const std::string& as) {
    return store().RunWhenReady(
        {},
        [this, as](Txn& txn, Store::Ranges* ranges) {
          ++runs_;
          *ranges = {Queue()};
          return Pop(as)(txn);
        },
        Quick(), answers_.For(as), line);
  }

  std::atomic<int> runs_ = 0;
};
KVARTS_ON_EVERY_ENGINE(StoreLineTest);

TEST_P(StoreLineTest, LinesAreServedByWhoCameFirst) {
  KVARTS_NEEDS_TURNS();
  const auto line = store().NewLine();
  const auto other = store().NewLine();
  for (const char* name : {"a", "c", "e"}) {
    Stand(line, name);
    Stand(other, std::string(1, static_cast<char>(name[0] + 1)));
  }
  Settle();
  Must({Mutation::Put("queue/1", ""), Mutation::Put("queue/2", ""), Mutation::Put("queue/3", "")});
  EXPECT_EQ(answers_.Wait(3), (Names{"a:ok", "b:ok", "c:ok"}));
  Push("4");
  Must({Mutation::Put("queue/5", ""), Mutation::Put("queue/6", "")});
  EXPECT_EQ(answers_.Wait(6), (Names{"a:ok", "b:ok", "c:ok", "d:ok", "e:ok", "f:ok"}));
}

TEST_P(StoreLineTest, ACommitRunsWhomItServesAndTheNext) {
  KVARTS_NEEDS_TURNS();
  const auto line = store().NewLine();
  constexpr int kWaiting = 200;
  for (int i = 0; i < kWaiting; ++i) Stand(line, std::to_string(i));
  Settle();
  EXPECT_EQ(runs_, kWaiting);
  Must({Mutation::Put("queue/1", ""), Mutation::Put("queue/2", "")});
  EXPECT_EQ(answers_.Wait(2), (Names{"0:ok", "1:ok"}));
  Settle();
  EXPECT_LE(runs_, kWaiting + 4);
}

TEST_P(StoreLineTest, WhoeverLeavesIsNotMissed) {
  KVARTS_NEEDS_TURNS();
  const auto line = store().NewLine();
  const auto a = Stand(line, "a");
  const auto b = Stand(line, "b");
  const auto c = Stand(line, "c");
  Stand(line, "d");
  Settle();
  EXPECT_TRUE(store().Cancel(b));
  EXPECT_TRUE(store().Cancel(a));
  Push("1");
  EXPECT_EQ(answers_.Wait(1).size(), 1u);
  store().Cancel(c);
  Push("2");
  EXPECT_EQ(answers_.Wait(2), (Names{"c:ok", "d:ok"}));
}

TEST_P(StoreLineTest, WhatOneIsRefusedTheNextTakes) {
  const auto line = store().NewLine();
  for (const bool as_error : {true, false}) {
    const auto first = store().RunWhenReady(
        {},
        [as_error](Txn& txn, Store::Ranges* ranges) -> Result<Store::Ready> {
          *ranges = {Queue()};
          ScanRequest request;
          request.range = Queue();
          KVARTS_TRY(const ScanPage page, txn.Scan(request));
          if (page.empty()) return Store::Ready::kWait;
          if (as_error) return Error(ErrorCode::kInvalidArgument, "made up");
          return Store::Ready::kDone;  // and takes nothing
        },
        Quick(), answers_.For("first"), line);
    Settle();
    Stand(line, "next");
    Settle();
    const size_t before = answers_.all().size();
    Push("x");
    Names expected = {"next:ok", as_error ? "first:invalid_argument" : "first:ok"};
    const auto next_has_it = [&] { return std::ranges::count(answers_.all(), "next:ok") > (as_error ? 0 : 1); };
    // Where turns may overlap the item may be gone before the first has looked.
    if (GetParam().shared && Eventually(next_has_it) && store().Cancel(first)) expected.pop_back();
    Names answers = answers_.Wait(before + expected.size());
    answers.erase(answers.begin(), answers.begin() + static_cast<ptrdiff_t>(before));
    EXPECT_THAT(answers, testing::UnorderedElementsAreArray(expected));
    EXPECT_EQ(Value("queue/x"), "absent");
  }
}

TEST_P(StoreLineTest, ManyComeAndGo) {
  durability_ = Durability::kNone;
  const std::vector<std::shared_ptr<Store::Line>> lines = {store().NewLine(), store().NewLine()};
  const int items = GetParam().shared ? 40 : 400;
  std::atomic<int> taken = 0;
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; !over; ++i) {
        std::binary_semaphore done{0};
        const auto waiting = store().RunWhenReady(
            {},
            [t](Txn& txn, Store::Ranges* ranges) {
              *ranges = {Queue()};
              return Pop(std::to_string(t))(txn);
            },
            Quick(), [&](const Result<RunReport>&) { done.release(); }, lines[static_cast<size_t>(t + i) % 2]);
        if (!done.try_acquire_for(std::chrono::microseconds(i % 5 * 200))) {
          if (store().Cancel(waiting)) continue;
          done.acquire();
        }
        ++taken;
      }
    });
  }
  for (int i = 0; i < items; ++i) Push(std::to_string(i));
  for (int i = 0; i < 60'000 && taken < items; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken, items);
}

}  // namespace
}  // namespace kvarts::test
