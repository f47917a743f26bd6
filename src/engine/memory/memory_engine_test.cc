// How the memory engine calls back. What it promises as an engine is tested by the conformance suite.
#include "engine/memory/memory_engine.h"

#include <gtest/gtest.h>

#include <thread>

#include "support/commits.h"

namespace kvarts::test {
namespace {

std::unique_ptr<TestSubmission> PutOf(BytesView key) {
  return std::make_unique<TestSubmission>(MakeCommit({Mutation::Put(key, "")}));
}

TEST(MemoryEngineTest, RunsOnTheSystemClockByItself) {
  const auto engine = OpenMemoryEngine({});
  const Timestamp before = SystemClock().Now();
  const auto outcome = CommitAndWait(*engine, MakeCommit({Mutation::Put("a", "")}));
  ASSERT_TRUE(outcome);
  EXPECT_GE(outcome->version.time(), before);
}

TEST(MemoryEngineTest, DoneMaySubmitFromAnotherThread) {
  const auto engine = OpenMemoryEngine({});
  std::shared_ptr<Ticket> second;
  auto first = PutOf("a");
  first->on_done = [&](const auto&) { std::thread([&] { second = SubmitOne(*engine, PutOf("b")); }).join(); };
  EXPECT_TRUE(SubmitOne(*engine, std::move(first))->Outcome());
  EXPECT_TRUE(second->Outcome());
}

TEST(MemoryEngineTest, DoneMayReadAndSubmitItself) {
  const auto engine = OpenMemoryEngine({});
  std::shared_ptr<Ticket> second;
  bool seen = false;
  auto first = PutOf("a");
  first->on_done = [&](const auto&) {
    seen = GetOne(*engine, "a")->has_value();
    second = SubmitOne(*engine, PutOf("b"));
  };
  EXPECT_TRUE(SubmitOne(*engine, std::move(first))->Outcome());
  EXPECT_TRUE(seen);
  EXPECT_TRUE(second->Outcome());
}

TEST(MemoryEngineTest, DoneIsCalledInCommitOrderFromManyThreads) {
  const auto engine = OpenMemoryEngine({});
  std::vector<Version> order;  // Done is never called by two threads at once
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        auto submission = PutOf("k");
        submission->on_done = [&](const Result<Committed>& outcome) { order.push_back(outcome->version); };
        EXPECT_TRUE(SubmitOne(*engine, std::move(submission))->Outcome());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order.size(), 800u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(MemoryEngineTest, MayBeClosedAsSoonAsTheLastIsDone) {
  for (int i = 0; i < 200; ++i) {
    auto engine = OpenMemoryEngine({});
    auto submission = PutOf("a");
    const auto ticket = submission->ticket();
    std::thread submitter([&engine = *engine, &submission] { SubmitOne(engine, std::move(submission)); });
    EXPECT_TRUE(ticket->Outcome());
    engine.reset();
    submitter.join();
  }
}

}  // namespace
}  // namespace kvarts::test
