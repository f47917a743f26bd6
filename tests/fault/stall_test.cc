// A store that cannot keep up answers: `overloaded` after stall_patience, never a hang, and it goes on by itself.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "fault_test_base.h"

namespace kvarts::test {
namespace {

class StallTest : public FaultTest {
 protected:
  // A value that cannot be compressed.
  static std::string Noise(uint64_t seed, size_t size) {
    std::mt19937_64 random(seed);
    std::string noise(size, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    return noise;
  }
  Result<Committed> PutLarge(uint64_t i, Durability durability = Durability::kSync) {
    return Commit({Mutation::Put(fmt::format("k{}", i), Noise(i, 60 << 10))}, durability);
  }
  // Writes until the store answers that it is overloaded; returns how many it took.
  uint64_t Fill() {
    for (uint64_t i = 0;; ++i) {
      const auto outcome = PutLarge(i);
      if (outcome) continue;
      EXPECT_EQ(outcome.error().code(), ErrorCode::kOverloaded) << outcome.error();
      EXPECT_EQ(outcome.error().text(), "compaction cannot keep up with the writes");
      return i;
    }
  }
};

TEST_F(StallTest, AStallIsOverloadedAndClearsByItself) {
  options.stall_patience = Duration::Millis(30);
  Open();
  files().Hold(FileOp::kCreate, FileKind::kTable);
  const uint64_t written = Fill();
  EXPECT_GT(written, 10u);
  EXPECT_EQ(engine().health().reason, "compaction cannot keep up with the writes");
  EXPECT_FALSE(engine().health().writable);
  // Reads go on; nothing of what was refused is there.
  EXPECT_EQ(Value("k3"), Noise(3, 60 << 10));
  EXPECT_EQ(Value(fmt::format("k{}", written)), "absent");
  files().Release();
  WaitUntil([&] { return PutLarge(written).has_value(); });
  EXPECT_TRUE(engine().health().writable);
  EXPECT_EQ(Value(fmt::format("k{}", written)), Noise(written, 60 << 10));
  for (uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(PutLarge(i));
}

TEST_F(StallTest, EverybodyWhoWaitsIsAnswered) {
  options.stall_patience = Duration::Millis(30);
  Open();
  files().Hold(FileOp::kCreate, FileKind::kTable);
  Fill();
  std::vector<std::shared_ptr<Ticket>> tickets;
  for (int i = 0; i < 200; ++i) {
    auto submission = std::make_unique<TestSubmission>(MakeCommit({Mutation::Put(fmt::format("x{}", i), "value")}));
    submission->commit.durability = static_cast<Durability>(i % 3);
    tickets.push_back(SubmitOne(engine(), std::move(submission)));
  }
  for (const auto& ticket : tickets) EXPECT_EQ(CodeOf(ticket->Outcome()), "overloaded");
  files().Release();
  WaitUntil([&] { return PutCode("x", "value") == "ok"; });
  for (int i = 0; i < 200; ++i) EXPECT_EQ(Value(fmt::format("x{}", i)), "absent");
}

TEST_F(StallTest, AShortStallIsWaitedFor) {
  options.stall_patience = Duration::Seconds(3600);
  Open();
  files().Hold(FileOp::kCreate, FileKind::kTable);
  std::vector<std::shared_ptr<Ticket>> tickets;
  for (uint64_t i = 0; i < 300; ++i) {
    auto submission =
        std::make_unique<TestSubmission>(MakeCommit({Mutation::Put(fmt::format("k{}", i), Noise(i, 60 << 10))}));
    submission->commit.durability = Durability::kNone;
    tickets.push_back(SubmitOne(engine(), std::move(submission)));
  }
  WaitUntil([&] { return !engine().health().writable; });
  files().Release();
  for (const auto& ticket : tickets) EXPECT_EQ(CodeOf(ticket->Outcome()), "ok");
  EXPECT_EQ(Value("k299"), Noise(299, 60 << 10));
}

TEST_F(StallTest, AfterAStallTheRestOfTheStoreWorks) {
  options.stall_patience = Duration::Millis(30);
  Open();
  files().Hold(FileOp::kCreate, FileKind::kTable);
  const uint64_t written = Fill();
  EXPECT_TRUE(engine().Sync());
  EXPECT_TRUE(engine().OpenView());
  EXPECT_TRUE(engine().Stats());
  files().Release();
  Open();
  for (uint64_t i = 0; i < written; ++i) EXPECT_EQ(Value(fmt::format("k{}", i)), Noise(i, 60 << 10));
}

TEST_F(StallTest, AStallDoesNotKeepTheStoreFromClosing) {
  options.stall_patience = Duration::Millis(30);
  Open();
  files().Hold(FileOp::kAppend, FileKind::kTable);
  const uint64_t written = Fill();
  std::vector<std::shared_ptr<Ticket>> tickets;
  for (int i = 0; i < 20; ++i) {
    tickets.push_back(SubmitOne(engine(), std::make_unique<TestSubmission>(MakeCommit({Mutation::Put("x", "1")}))));
  }
  files().Release();
  Open();
  for (const auto& ticket : tickets) EXPECT_TRUE(ticket->Wait().has_value());
  for (uint64_t i = 0; i < written; ++i) EXPECT_EQ(Value(fmt::format("k{}", i)), Noise(i, 60 << 10));
}

TEST_F(StallTest, ThePressureRisesBeforeACommitIsRefused) {
  options.stall_patience = Duration::Millis(30);
  Open();
  EXPECT_EQ(engine().pressure(), 0);
  files().Hold(FileOp::kCreate, FileKind::kTable);
  double highest = 0;
  double before = 0;
  while (PutLarge(0).has_value()) {
    // A writer who looks: what it does not see yet the keeper will have measured a moment later.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    before = engine().pressure();
    EXPECT_GE(before, highest - 0.01);
    highest = std::max(highest, before);
  }
  EXPECT_GT(before, 0.8);
  EXPECT_EQ(engine().pressure(), 1);
  files().Release();
  WaitUntil([&] { return PutLarge(0).has_value(); });
  WaitUntil([&] { return engine().pressure() == 0; });
}

TEST_F(StallTest, StatsSayWhatAStallCost) {
  options.stall_patience = Duration::Millis(30);
  Open();
  EXPECT_EQ(engine().Stats()->commit_path.stalls, 0u);
  files().Hold(FileOp::kCreate, FileKind::kTable);
  Fill();
  auto stats = engine().Stats();
  ASSERT_TRUE(stats) << stats.error();
  EXPECT_TRUE(stats->commit_path.stalled);
  EXPECT_FALSE(stats->writable);
  EXPECT_EQ(stats->not_writable_because, "compaction cannot keep up with the writes");
  EXPECT_EQ(stats->pressure, 1);
  EXPECT_EQ(stats->commit_path.stalls, 1u);
  EXPECT_EQ(stats->commit_path.refused, 1u);
  EXPECT_GE(stats->commit_path.stall_micros, 30'000u);
  EXPECT_GT(stats->profiles[0].sealed_buffers, 1u);
  files().Release();
  WaitUntil([&] { return PutLarge(0).has_value(); });
  WaitUntil([&] { return engine().Stats()->flushes.count > 0; });
  stats = engine().Stats();
  EXPECT_TRUE(stats->writable);
  EXPECT_GT(stats->flushes.bytes_written, 1u << 19);
  EXPECT_GT(stats->commit_path.log_sync.Count(), 10u);
  EXPECT_EQ(stats->commit_path.group_sizes.Quantile(0.5), 1);
}

class QueueTest : public FaultTest {
 protected:
  // Submits while the commit thread is held up in the middle of a group.
  std::vector<std::shared_ptr<Ticket>> SubmitBehind(int count, size_t value_bytes) {
    const uint64_t syncs = files().count(FileOp::kSync, FileKind::kLog);
    files().Hold(FileOp::kSync, FileKind::kLog);
    std::vector<std::shared_ptr<Ticket>> tickets;
    const auto submit = [&](const std::string& key) {
      auto commit = MakeCommit({Mutation::Put(key, std::string(value_bytes, 'v'))});
      tickets.push_back(SubmitOne(engine(), std::make_unique<TestSubmission>(std::move(commit))));
    };
    submit("first");
    WaitUntil([&] { return files().count(FileOp::kSync, FileKind::kLog) > syncs; });
    for (int i = 0; i < count; ++i) submit(fmt::format("k{}", i));
    return tickets;
  }
  // What became of them: one letter each, "c" for committed and "o" for overloaded.
  static std::string Outcomes(const std::vector<std::shared_ptr<Ticket>>& tickets) {
    std::string outcomes;
    for (const auto& ticket : tickets) outcomes += CodeOf(ticket->Outcome()) == "ok" ? 'c' : 'o';
    return outcomes;
  }
};

TEST_F(QueueTest, NoMoreCommitsWaitThanTheLimit) {
  options.limits.max_queued_commits = 3;
  Open();
  const auto tickets = SubmitBehind(5, 10);
  EXPECT_EQ(engine().Stats()->commit_path.queued, 3u);
  EXPECT_GE(engine().Stats()->commit_path.queued_bytes, 30u);
  const auto refused = tickets.back()->Outcome();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kOverloaded);
  EXPECT_EQ(refused.error().field("limit"), "max_queued_commits");
  files().Release();
  EXPECT_EQ(Outcomes(tickets), "ccccoo");
  EXPECT_EQ(PutCode("after", "value"), "ok");
  EXPECT_EQ(Value("k2"), std::string(10, 'v'));
  EXPECT_EQ(Value("k3"), "absent");
}

TEST_F(QueueTest, NoMoreBytesWaitThanTheLimit) {
  options.limits.max_queued_bytes = 3500;
  Open();
  const auto tickets = SubmitBehind(5, 1000);
  const auto refused = tickets.back()->Outcome();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kOverloaded);
  EXPECT_EQ(refused.error().field("limit"), "max_queued_bytes");
  files().Release();
  EXPECT_EQ(Outcomes(tickets), "ccccoo");
  EXPECT_EQ(PutCode("after", "value"), "ok");
}

}  // namespace
}  // namespace kvarts::test
