// Versions: strictly growing, never issued twice, and close to the clock.
#include <set>
#include <thread>

#include "conformance/conformance.h"

namespace kvarts::test {
namespace {

class VersionTest : public EngineTest {};
KVARTS_ON_EVERY_ENGINE(VersionTest);

TEST_P(VersionTest, GrowsPerKeyOnAStandingClock) {
  durability_ = Durability::kNone;
  Version last;
  for (int i = 0; i < 3000; ++i) {  // more than fit into a microsecond
    const Version version = Put("a", "");
    EXPECT_GT(version, last);
    last = version;
  }
  EXPECT_EQ(Find("a")->header.version, last);
}

TEST_P(VersionTest, GrowsPerKeyWithEveryKindOfWrite) {
  durability_ = Durability::kNone;
  Version last = Put("a", "");
  for (int i = 0; i < 10; ++i) {
    for (const Mutation& write : {Mutation::Put("a", ""), Mutation::Add("a", 1), Mutation::Erase("a"),
                                  Mutation::Add("a", 1), Mutation::EraseRange("", "")}) {
      const Version version = Must({write});
      EXPECT_GT(version, last);
      const auto record = Find("a");
      EXPECT_EQ(record ? record->header.version : version, version);
      last = version;
    }
  }
}

TEST_P(VersionTest, GrowsOverAllKeysInCommitOrder) {
  durability_ = Durability::kNone;
  if (!engine().capabilities().total_order) GTEST_SKIP() << "the engine orders keys one by one";
  Version last;
  for (int i = 0; i < 2000; ++i) {
    if (i % 100 == 0) Wait(Duration::Millis(i));
    const Version version = Put("key" + std::to_string(i % 17), "");
    EXPECT_GT(version, last);
    last = version;
  }
  EXPECT_EQ(engine().LastVersion(), last);
}

TEST_P(VersionTest, GrowsWithinABatch) {
  std::vector<std::unique_ptr<TestSubmission>> batch;
  for (int i = 0; i < 100; ++i) {
    batch.push_back(std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("a", "")})));
  }
  Version last;
  for (const auto& ticket : SubmitTogether(engine(), std::move(batch))) {
    const auto outcome = ticket->Outcome();
    ASSERT_TRUE(outcome) << outcome.error();
    EXPECT_GT(outcome->version, last);
    last = outcome->version;
  }
}

TEST_P(VersionTest, ItsTimeIsTheClocks) {
  for (int i = 0; i < 10; ++i) {
    Wait(Duration::Seconds(1));
    EXPECT_EQ(Put("a", "").time(), clock().Now());
  }
}

TEST_P(VersionTest, ItsTimeRunsAheadOfAStandingClockByNoMoreThanNeeded) {
  durability_ = Durability::kNone;
  Wait(Duration::Seconds(1));
  Version last;
  for (int i = 0; i < 3000; ++i) last = Put("a", "");
  EXPECT_LE(last.time().micros - clock().Now().micros, 3000u);
  Wait(Duration::Seconds(1));
  EXPECT_EQ(Put("a", "").time(), clock().Now());
}

TEST_P(VersionTest, NoneIsIssuedTwice) {
  constexpr int kThreads = 4;
  constexpr int kCommits = 300;
  std::vector<std::vector<Version>> issued(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kCommits; ++i) {
        Commit commit = MakeCommit({Mutation::Put("key" + std::to_string(t), "")});
        commit.durability = Durability::kNone;
        const auto outcome = CommitAndWait(engine(), std::move(commit));
        if (outcome) issued[t].push_back(outcome->version);
        if (i % 50 == 0) clock().Advance(Duration::Micros(1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<Version> all;
  for (const auto& versions : issued) {
    EXPECT_TRUE(std::is_sorted(versions.begin(), versions.end()));
    all.insert(versions.begin(), versions.end());
  }
  EXPECT_EQ(all.size(), static_cast<size_t>(kThreads * kCommits));
}

TEST_P(VersionTest, LastVersionIsThatOfTheNewestVisibleCommit) {
  const Version first = Put("a", "");
  EXPECT_EQ(engine().LastVersion(), first);
  EXPECT_EQ(CodeOf(Try({Mutation::Put("a", "")}, {Absent("a")})), "precondition_failed");
  EXPECT_EQ(engine().LastVersion(), first);
  const Version second = Put("b", "");
  EXPECT_EQ(engine().LastVersion(), second);
}

}  // namespace
}  // namespace kvarts::test
