// Store: runs bodies, commits what they wrote, and owns retries, deadlines and what happens afterwards.
#include "core/store.h"

#include <atomic>
#include <semaphore>
#include <thread>

#include "engine/postgres/postgres_engine.h"
#include "support/stores.h"

namespace kvarts::test {
namespace {

class StoreRunTest : public StoreTest {
 protected:
  // Keeps the engine busy, on a thread of its own, until it is let go: nothing else has its turn meanwhile.
  class Plug {
   public:
    // An engine without an order of commits decides several at once.
    explicit Plug(Engine& engine) {
      const size_t at_once = engine.capabilities().total_order ? 1 : PostgresOptions().commit_connections;
      while (threads_.size() < at_once) {
        threads_.emplace_back([this, &engine] {
          const auto ticket = SubmitOne(engine, RunFirst([this](View&, Commit*) -> Status {
                                          plugged_.release();
                                          pulled_.acquire();
                                          return {};
                                        }));
          ticket->Wait();
        });
        plugged_.acquire();
      }
    }
    ~Plug() { Pull(); }
    void Pull() {
      pulled_.release(static_cast<ptrdiff_t>(threads_.size()));
      threads_.clear();
    }

   private:
    std::counting_semaphore<> plugged_{0};
    std::counting_semaphore<> pulled_{0};
    std::vector<std::jthread> threads_;
  };

  // What an answer to RunAsync was, when it is there.
  struct Answer {
    std::binary_semaphore there{0};
    std::optional<Result<RunReport>> result;
    std::string Code() {
      there.acquire();
      return CodeOf(*result);
    }
  };
  static Store::Request Asking(Store::Body body, const std::shared_ptr<Answer>& answer, RunOptions options = {}) {
    return {std::move(body), std::move(options), [answer](Result<RunReport> result) {
              answer->result = std::move(result);
              answer->there.release();
            }};
  }
  // Loses its race in its first run: somebody else changes "race" under it.
  Store::Body Losing(Store::Body body) {
    return [this, body = std::move(body), lost = std::make_shared<std::atomic<bool>>(false)](Txn& txn) -> Status {
      KVARTS_CHECK_OK(txn.Get("race"));
      if (!lost->exchange(true)) Put("race", "");
      return body(txn);
    };
  }
};
KVARTS_ON_EVERY_ENGINE(StoreRunTest);

TEST_P(StoreRunTest, ReturnsWhatTheBodyReturns) {
  Put("n", "41");
  RunReport report;
  const auto sum = store().Run([](Txn& txn) { return AddToText(txn, "n", 1); }, {}, &report);
  ASSERT_TRUE(sum) << sum.error();
  EXPECT_EQ(*sum, 42);
  EXPECT_EQ(Value("n"), "42");
  EXPECT_EQ(report.version, Find("n")->header.version);
  const Status nothing = store().Run([](Txn& txn) -> Status {
    txn.Erase("n");
    return {};
  });
  EXPECT_TRUE(nothing.has_value());
  EXPECT_EQ(Contents(), "");
}

TEST_P(StoreRunTest, AnErrorOfTheBodyWritesNothing) {
  const auto failed = store().Run([](Txn& txn) -> Result<int> {
    txn.Put("a", "");
    return Error(ErrorCode::kAlreadyExists, "made up", {{"why", "test"}});
  });
  ASSERT_EQ(CodeOf(failed), "already_exists");
  EXPECT_EQ(failed.error().field("why"), "test");
  EXPECT_EQ(Contents(), "");
}

TEST_P(StoreRunTest, AnErrorOfTheSecondRunWritesNothing) {
  int effects = 0;
  int runs = 0;
  const auto failed = Run(Losing([&](Txn& txn) -> Status {
    txn.Put("a", "");
    txn.AfterCommit([&](Version) { ++effects; });
    if (++runs == 1) return {};
    return Error(ErrorCode::kAlreadyExists, "made up");
  }));
  EXPECT_EQ(CodeOf(failed), "already_exists");
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(effects, 0);
  EXPECT_EQ(Contents(), "race=");
}

TEST_P(StoreRunTest, WhatTheSecondRunThrowsReachesTheCaller) {
  int runs = 0;
  const auto body = Losing([&](Txn& txn) -> Status {
    txn.Put("a", "");
    if (++runs == 2) throw std::out_of_range("by the body");
    return {};
  });
  EXPECT_THROW(IgnoreError(Run(body)), std::out_of_range);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(Contents(), "race=");
}

TEST_P(StoreRunTest, WhatIsThrownWhereNobodyWaitsIsAnInternalError) {
  const auto first = std::make_shared<Answer>();
  const auto second = std::make_shared<Answer>();
  const auto third = std::make_shared<Answer>();
  std::vector<Store::Request> requests;
  requests.push_back(Asking([](Txn&) -> Status { throw std::out_of_range("by the body"); }, first));
  requests.push_back(Asking(Putting("a", "1"), second));
  requests.push_back(Asking([](Txn&) -> Status { throw std::out_of_range("by the body"); }, third));
  store().RunAsync(std::move(requests));
  for (const auto& answer : {first, second, third}) answer->there.acquire();
  EXPECT_EQ(CodeOf(*first->result), "internal");
  EXPECT_EQ(CodeOf(*second->result), "ok");
  EXPECT_EQ(CodeOf(*third->result), "internal");
  EXPECT_EQ(Contents(), "a=1");
}

TEST_P(StoreRunTest, ALimitIsNamedAndNothingIsWritten) {
  const auto failed = Run(Putting("a", Bytes((16 << 20) + 1, 'x')));
  ASSERT_EQ(CodeOf(failed), "too_large");
  EXPECT_EQ(failed.error().field("limit"), "max_value_bytes");
  EXPECT_EQ(Contents(), "");
}

TEST_P(StoreRunTest, ALostRaceIsRunAgainUnseen) {
  int runs = 0;
  RunReport report;
  const auto seen = store().Run(
      [&](Txn& txn) -> Result<std::string> {
        KVARTS_TRY(const auto record, txn.Get("a"));
        if (++runs == 1) Put("a", "theirs");
        txn.Put("b", ValueOf(record));
        return ValueOf(record);
      },
      {}, &report);
  ASSERT_TRUE(seen) << seen.error();
  EXPECT_EQ(*seen, "theirs");
  EXPECT_EQ(Value("b"), "theirs");
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(report.cost.runs, 2u);
}

TEST_P(StoreRunTest, ManyThreadsAddUpExactly) {
  constexpr int kThreads = 8;
  constexpr int kEach = 40;
  std::atomic<int> returned = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        const auto sum = store().Run([](Txn& txn) { return AddToText(txn, "n", 1); }, Quick());
        ASSERT_TRUE(sum) << sum.error();
        returned += *sum;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const int total = kThreads * kEach;
  EXPECT_EQ(Value("n"), std::to_string(total));
  EXPECT_EQ(returned, total * (total + 1) / 2) << "a sum was returned twice or not at all";
}

TEST_P(StoreRunTest, AStatedConditionThatFailsIsAnsweredAndNotRunAgain) {
  Put("a", "1");
  int runs = 0;
  const auto body = [&](bool writes) {
    return [&runs, writes](Txn& txn) -> Status {
      ++runs;
      txn.Require(Absent("a"));
      if (writes) txn.Put("b", "");
      return {};
    };
  };
  EXPECT_EQ(CodeOf(Run(body(true))), "precondition_failed");
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(CodeOf(Run(body(false))), "precondition_failed") << "conditions count without writes too";
  Erase("a");
  EXPECT_EQ(CodeOf(Run(body(false))), "ok");
  EXPECT_EQ(Contents(), "");
}

TEST_P(StoreRunTest, ABodyThatOnlyReadsIsAnsweredFromItsView) {
  Put("a", "1");
  std::thread::id effect_thread;  // with nothing submitted, no other thread can be at it
  RunReport report;
  const auto value = store().Run(
      [&](Txn& txn) -> Result<std::string> {
        txn.AfterCommit([&](Version) { effect_thread = std::this_thread::get_id(); });
        KVARTS_TRY(const auto record, txn.Get("a"));
        return ValueOf(record);
      },
      {}, &report);
  ASSERT_TRUE(value) << value.error();
  EXPECT_EQ(*value, "1");
  EXPECT_EQ(effect_thread, std::this_thread::get_id());
  EXPECT_GE(report.version, Find("a")->header.version);
  EXPECT_EQ(report.cost.runs, 1u);
}

TEST_P(StoreRunTest, ReportsWhatItCost) {
  Must({Mutation::Put("a", "1"), Mutation::Put("b", "2")});
  RunReport report;
  const auto ran = store().Run(Losing([](Txn& txn) -> Status {
                                 KVARTS_CHECK_OK(txn.Scan({}));
                                 txn.Put("c", "3");
                                 return {};
                               }),
                               {}, &report);
  ASSERT_TRUE(ran) << ran.error();
  EXPECT_EQ(report.cost.runs, 2u);
  EXPECT_GE(report.cost.read.keys, 6u) << "both runs count";
  EXPECT_EQ(report.cost.keys_written, 2u);
  EXPECT_EQ(report.version, Find("c")->header.version);
}

TEST_P(StoreRunTest, EffectsComeOnceFromTheRunThatCommitted) {
  std::vector<std::pair<int, Version>> called;
  int run = 0;
  const Version version = MustRun(Losing([&](Txn& txn) -> Status {
    txn.Put("a", "");
    txn.AfterCommit([&called, which = ++run](Version at) { called.emplace_back(which, at); });
    return {};
  }));
  ASSERT_EQ(called.size(), 1u);
  EXPECT_EQ(called[0].first, 2);
  EXPECT_EQ(called[0].second, version);
}

TEST_P(StoreRunTest, EffectsComeInCommitOrder) {
  KVARTS_NEEDS_TURNS();
  std::vector<Version> order;  // effects come from one thread at a time
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const auto ran = store().Run(
            [&](Txn& txn) -> Status {
              KVARTS_CHECK_OK(AddToText(txn, "n", 1));
              txn.AfterCommit([&](Version version) { order.push_back(version); });
              return {};
            },
            Quick());
        ASSERT_TRUE(ran) << ran.error();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order.size(), 200u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(StoreRunTest, PatienceEndsWithNothingWritten) {
  Plug plug(engine());
  // On an engine that decides on the submitter's thread, its turn comes after all, but too late.
  std::thread puller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    plug.Pull();
  });
  RunOptions options;
  options.patience = Duration::Millis(20);
  EXPECT_EQ(CodeOf(Run(Putting("a", ""), options)), "overloaded");
  puller.join();
  ASSERT_TRUE(Run(Putting("b", "")));
  EXPECT_EQ(Contents(), "b=");
}

TEST_P(StoreRunTest, PatienceDoesNotMatterWhenTheTurnComes) {
  RunOptions options;
  options.patience = Duration::Seconds(100);
  EXPECT_EQ(CodeOf(Run(Putting("a", ""), options)), "ok");
  options.patience = Duration::Micros(0);
  const auto outcome = Run(Putting("b", ""), options);
  EXPECT_EQ(Contents(), outcome ? "a= b=" : "a=");
}

TEST_P(StoreRunTest, StopEndsTheWaitWithNothingWritten) {
  Plug plug(engine());
  std::stop_source source;
  RunOptions options;
  options.stop = source.get_token();
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    source.request_stop();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    plug.Pull();
  });
  EXPECT_EQ(CodeOf(Run(Putting("a", ""), options)), "overloaded");
  stopper.join();
  ASSERT_TRUE(Run(Putting("b", "")));
  EXPECT_EQ(Contents(), "b=");
}

TEST_P(StoreRunTest, StoppedBeforehandWritesNothing) {
  std::stop_source source;
  source.request_stop();
  RunOptions options;
  options.stop = source.get_token();
  EXPECT_EQ(CodeOf(Run(Putting("a", ""), options)), "overloaded");
  EXPECT_EQ(Contents(), "");
}

TEST_P(StoreRunTest, StoppingRacesWithTheCommitAndNeverLies) {
  for (int i = 0; i < 50; ++i) {
    const std::string key = "k" + std::to_string(100 + i);
    std::stop_source source;
    RunOptions options;
    options.stop = source.get_token();
    options.durability = Durability::kNone;
    std::thread stopper([&] { source.request_stop(); });
    const auto outcome = Run(Putting(key, ""), options);
    stopper.join();
    ASSERT_TRUE(Run(Putting("after", "")));
    EXPECT_EQ(Find(key).has_value(), outcome.has_value()) << i;
  }
}

TEST_P(StoreRunTest, AsynchronousRequestsAreAnswered) {
  const auto answer = std::make_shared<Answer>();
  store().RunAsync(Asking(Putting("a", "1"), answer));
  EXPECT_EQ(answer->Code(), "ok");
  EXPECT_EQ(Find("a")->header.version, (*answer->result)->version);
}

TEST_P(StoreRunTest, ACallerWhoCanWaitMayBeAnsweredBeforeItGoesOn) {
  RunOptions options;
  options.caller_waits = true;
  for (int i = 0; i < 20; ++i) {
    std::vector<std::shared_ptr<Answer>> answers;
    std::vector<Store::Request> batch;
    for (const char* key : {"a", "b", "c"}) {
      answers.push_back(std::make_shared<Answer>());
      batch.push_back(Asking(Putting(key, std::to_string(i)), answers.back(), options));
    }
    store().RunAsync(std::move(batch));
    for (const auto& answer : answers) EXPECT_EQ(answer->Code(), "ok");
  }
  EXPECT_EQ(Contents(), "a=19 b=19 c=19");
}

TEST_P(StoreRunTest, AnAsynchronousRequestThatIsTooLateWritesNothing) {
  std::stop_source source;
  source.request_stop();
  RunOptions options;
  options.stop = source.get_token();
  const auto answer = std::make_shared<Answer>();
  store().RunAsync(Asking(Putting("a", "1"), answer, options));
  EXPECT_EQ(answer->Code(), "overloaded");
  EXPECT_EQ(Contents(), "");
}

TEST_P(StoreRunTest, InABatchOneFailureIsItsOwn) {
  std::vector<std::shared_ptr<Answer>> answers;
  std::vector<Store::Request> batch;
  const auto ask = [&](Store::Body body) {
    answers.push_back(std::make_shared<Answer>());
    batch.push_back(Asking(std::move(body), answers.back()));
  };
  ask(Putting("a", "1"));
  ask([](Txn&) -> Status { return Error(ErrorCode::kInvalidArgument, "made up"); });
  ask(Putting("", "an empty key"));
  ask([](Txn& txn) -> Status {
    txn.Require(Absent("a"));
    txn.Put("b", "");
    return {};
  });
  ask(Putting("c", "3"));
  store().RunAsync(std::move(batch));
  std::string codes;
  for (const auto& answer : answers) codes += answer->Code() + " ";
  EXPECT_EQ(codes, "ok invalid_argument invalid_argument precondition_failed ok ");
  EXPECT_EQ(Contents(), "a=1 c=3");
}

TEST_P(StoreRunTest, InABatchEachSeesWhatThoseBeforeItWrote) {
  Put("gone", "");
  std::vector<std::shared_ptr<Answer>> answers;
  std::vector<Store::Request> batch;
  std::vector<std::string> seen(3);
  const auto ask = [&](Store::Body body) {
    answers.push_back(std::make_shared<Answer>());
    batch.push_back(Asking(std::move(body), answers.back()));
  };
  const auto read = [](std::string* to) {
    return [to](Txn& txn) -> Status {
      KVARTS_TRY(const auto record, txn.Get("n"));
      *to = ValueOf(record);
      return {};
    };
  };
  ask(read(&seen[0]));
  ask([](Txn& txn) -> Status {
    txn.Erase("gone");
    return AddToText(txn, "n", 1) ? Status{} : Status{};
  });
  ask(read(&seen[1]));
  ask([](Txn& txn) -> Status { return AddToText(txn, "n", 1) ? Status{} : Status{}; });
  ask(read(&seen[2]));
  // Fails at the view it is run at first; by its turn the key is gone.
  ask([](Txn& txn) -> Status {
    KVARTS_TRY(const auto record, txn.Get("gone"));
    if (record) return Error(ErrorCode::kAlreadyExists, "it is there");
    txn.Put("gone", "again");
    return {};
  });
  store().RunAsync(std::move(batch));
  for (const auto& answer : answers) EXPECT_EQ(answer->Code(), "ok");
  EXPECT_EQ(seen, (std::vector<std::string>{"absent", "1", "2"}));
  EXPECT_EQ(Contents(), "gone=again n=2");
}

TEST_P(StoreRunTest, ASecondRunThatReadsTooMuchIsOverloaded) {
  Limits limits;
  limits.max_second_run_keys = 10;
  OpenWith(limits);
  const auto outcome = Run(Losing([](Txn& txn) -> Status {
    for (int i = 0; i < 20; ++i) KVARTS_CHECK_OK(txn.Get("k" + std::to_string(i)));
    txn.Put("a", "");
    return {};
  }));
  EXPECT_EQ(CodeOf(outcome), "overloaded");
  EXPECT_EQ(Contents(), "race=");
}

TEST_P(StoreRunTest, TheContextReachesTheBody) {
  RunOptions options;
  options.context = {.actor = "ada", .trace = "t1", .command = "c1"};
  std::vector<Context> seen;
  MustRun(Losing([&](Txn& txn) -> Status {
            seen.push_back(txn.context());
            txn.Put("a", "");
            return {};
          }),
          options);
  EXPECT_EQ(seen, (std::vector<Context>{options.context, options.context}));
}

TEST_P(StoreRunTest, ABodyMayBeRunAtItsTurnAlone) {
  KVARTS_NEEDS_TURNS();
  RunOptions options = Quick();
  options.at_its_turn = true;
  int runs = 0;
  for (int i = 0; i < 3; ++i) {
    const auto report = Run(
        [&](Txn& txn) -> Status {
          ++runs;
          KVARTS_TRY(const auto before, txn.Get("count"));
          txn.Put("count", before ? before->value + "x" : "x");
          return {};
        },
        options);
    ASSERT_TRUE(report) << report.error();
  }
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(Value("count"), "xxx");
}

}  // namespace
}  // namespace kvarts::test
