// What the commit thread may spend on one commit while all others wait, what it keeps afterwards, and what a small
// memory budget leaves room for.
#include <fmt/format.h>

#include <fstream>

#include "fault/fault_test_base.h"

namespace kvarts::test {
namespace {

class BudgetTest : public FaultTest {
 protected:
  // The code of a transaction that scans for the first key of a prefix, on the commit thread.
  std::string FirstOf(BytesView prefix) {
    auto scan = RunFirst([prefix](View& view, kvarts::Commit*) -> Status {
      ScanRequest request;
      request.range = KeyRange::Prefix(prefix);
      request.max_entries = 1;
      KVARTS_CHECK_OK(view.Scan(request));
      return {};
    });
    return CodeOf(SubmitOne(engine(), std::move(scan))->Outcome());
  }
};

// What a tombstone hides is stepped over like the tombstone.
TEST_F(BudgetTest, ASecondRunStepsOverSoManyTombstones) {
  options.limits.max_second_run_keys = 20;
  Open();
  for (const auto& [prefix, keys] : {std::pair("few", 5), std::pair("many", 30)}) {
    for (int i = 0; i < keys; ++i) {
      const std::string key = prefix + std::to_string(100 + i);
      Put(key, "", Durability::kNone);
      ASSERT_TRUE(Commit({Mutation::Erase(key)}, Durability::kNone));
    }
  }
  EXPECT_EQ(FirstOf("few"), "ok");
  EXPECT_EQ(FirstOf("many"), "overloaded");
}

TEST_F(BudgetTest, LookingPreconditionsUpTakesSoLong) {
  options.limits.max_second_run_time = Duration{0};
  Open();
  const auto depending_on = [&](int keys) {
    std::vector<Precondition> preconditions;
    for (int i = 0; i < keys; ++i) preconditions.push_back(Absent("k" + std::to_string(i)));
    return CommitAndWait(engine(), MakeCommit({Mutation::Put("done", std::to_string(keys))}, preconditions));
  };
  EXPECT_EQ(CodeOf(depending_on(200)), "ok");
  const auto refused = depending_on(2000);
  ASSERT_EQ(CodeOf(refused), "overloaded");
  EXPECT_EQ(refused.error().field("limit"), "max_second_run_time");
  EXPECT_EQ(Value("done"), "200");
}

TEST_F(BudgetTest, WhatWasAnsweredIsLetGoWithoutAnotherCommit) {
  Open();
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = held;
  auto submission = std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("a", "")}));
  submission->on_done = [held = std::move(held)](const auto&) {};
  const auto ticket = SubmitOne(engine(), std::move(submission));
  ASSERT_TRUE(ticket->Outcome());
  WaitUntil([&] { return watched.expired(); });
}

TEST_F(BudgetTest, ManyRangesErasedAtOnceAreGoneFromTheCacheToo) {
  Open();
  std::vector<Mutation> erasures;
  for (int i = 100; i < 150; ++i) {
    const std::string key = "k" + std::to_string(i);
    Put(key, "v", Durability::kNone);
    EXPECT_EQ(Value(key), "v");  // now it is in the cache
    if (i < 140) erasures.push_back(Mutation::EraseRange(key, key + "~"));
  }
  ASSERT_TRUE(Commit(std::move(erasures), Durability::kNone));
  for (int i = 100; i < 150; ++i) EXPECT_EQ(Value("k" + std::to_string(i)), i < 140 ? "absent" : "v") << i;
}

TEST_F(BudgetTest, HotValuesArePartOfASmallMemoryBudget) {
  options.memory_budget = 16 << 20;
  options.hot_cache_bytes = 64 << 20;
  Open();
  const auto stats = engine().Stats();
  ASSERT_TRUE(stats) << stats.error();
  EXPECT_LE(stats->hot_values.capacity + stats->block_cache_capacity, options.memory_budget);
  EXPECT_EQ(stats->memory_budget_bytes, options.memory_budget);
}

// Bytes that this process has read from files.
uint64_t ReadBytes() {
  std::ifstream io("/proc/self/io");
  std::string name;
  uint64_t bytes = 0;
  io >> name >> bytes;
  EXPECT_EQ(name, "rchar:");
  return bytes;
}

// The filter of a file of a million small keys is larger than a shard of the cache.
TEST_F(BudgetTest, KeysThatAreNotThereAreNotLookedForInFilesOverAndOver) {
  options.memory_budget = 40 << 20;
  options.hot_cache_bytes = 0;
  Open();
  constexpr int kKeys = 1'000'000;
  constexpr int kTogether = 10'000;
  const auto key = [](int number) { return fmt::format("{:07}", number); };
  for (int from = 0; from < kKeys; from += kTogether) {
    std::vector<Mutation> puts;
    for (int i = from; i < from + kTogether; ++i) puts.push_back(Mutation::Put(key(i), ""));
    ASSERT_TRUE(Commit(std::move(puts), Durability::kNone));
  }
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  constexpr int kGets = 500;
  const auto get_all = [&] {
    for (int i = 0; i < kGets; ++i) ASSERT_EQ(Value(key(i * (kKeys / kGets)) + "x"), "absent");
  };
  get_all();
  const uint64_t before = ReadBytes();
  get_all();
  EXPECT_LT((ReadBytes() - before) / kGets, 32 << 10);
}

}  // namespace
}  // namespace kvarts::test
