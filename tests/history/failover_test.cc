// Histories of a primary that is killed in the middle, with or without another in its place: on clusters of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "engine/postgres/connection.h"
#include "engine/postgres/postgres_engine.h"
#include "history/history.h"
#include "history/workload.h"
#include "support/commits.h"
#include "support/eventually.h"
#include "support/local_cluster.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class FailoverHistoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (LocalCluster::Shared() == nullptr) GTEST_SKIP() << "KVARTS_TEST_CLUSTER is not set";
  }
  void Begin(int replicas, const std::string& settings) {
    cluster_ = std::make_unique<LocalCluster>(replicas, settings);
    for (int i = 0; i < 2; ++i) {
      PostgresOptions options;
      options.servers = cluster_->targets();
      options.probe_interval = milliseconds(200);
      auto opened = OpenPostgresEngine(options);
      ASSERT_TRUE(opened) << opened.error();
      engines_.push_back(*std::move(opened));
    }
  }
  void TearDown() override { engines_.clear(); }

  std::string Ask(size_t server, const std::string& sql) {
    auto connection = postgres::Connection::Open(cluster_->targets()[server], {}, postgres::In(seconds(10)));
    if (!connection.has_value()) return connection.error().ToString();
    const auto done = (*connection)->Simple(sql, postgres::In(seconds(10)));
    if (!done.has_value()) return done.error().error.ToString();
    return done->size() == 0 ? "" : std::string(done->Text(0, 0));
  }

  // Runs while `fault` happens and until commits are made again, and some time on. What cannot have happened.
  std::vector<std::string> Run(Durability durability, const std::function<void()>& fault) {
    std::atomic<bool> stop = false;
    std::atomic<int> committed = 0;
    WorkloadOptions options;
    options.threads = 6;
    options.operations = 1'000'000;
    options.faults = true;
    options.durability = durability;
    options.stop = &stop;
    options.committed = &committed;
    const auto await_more = [&] {
      EXPECT_TRUE(Eventually([&, before = committed.load()] { return committed > before + 100; }));
    };
    History history;
    std::jthread working([&] {
      std::vector<Engine*> engines;
      for (const auto& engine : engines_) engines.push_back(engine.get());
      history = RunWorkload(engines, options);
    });
    await_more();
    std::this_thread::sleep_for(milliseconds(500));
    fault();
    AwaitCommits(durability);
    await_more();
    stop = true;
    working.join();
    const auto marks = MarksIn(*engines_[0]);
    if (!marks) return {marks.error().ToString()};
    noticed_ += history.refused.size() + history.unknown.size();
    std::vector<std::string> wrong = Resolve(*marks, &history);
    if (wrong.empty()) wrong = CheckInAnyOrder(history);
    return wrong;
  }

  void AwaitCommits(Durability durability) {
    Commit again = MakeCommit({Mutation::Put("again", "")});
    again.durability = durability;
    for (const auto& engine : engines_) {
      EXPECT_TRUE(Eventually([&] { return CommitAndWait(*engine, again).has_value(); }));
    }
  }

  void KillAndRestart() {
    cluster_->Do("kill 0-primary");
    std::this_thread::sleep_for(milliseconds(200));
    cluster_->Do("start 0-primary");
  }

  std::unique_ptr<LocalCluster> cluster_;
  std::vector<std::unique_ptr<Engine>> engines_;
  size_t noticed_ = 0;  // commits that a fault met, of all runs
};

// And what did not wait for the disk is missed: the check does find what is lost.
TEST_F(FailoverHistoryTest, APrimaryThatIsKilledAndRestartedLosesNothingThatIsOnDisk) {
  // Of what waits for nothing, only whole pages of the log are written for some time.
  ASSERT_NO_FATAL_FAILURE(
      Begin(0, "--sync 0 --set fsync=on --set wal_writer_delay=10s --set wal_writer_flush_after=1GB"));
  EXPECT_THAT(Run(Durability::kSync, [&] { KillAndRestart(); }), IsEmpty());
  // A kill may find nothing under way, and all that was committed on disk, where others keep the machine busy.
  std::vector<std::string> missed;
  for (int tries = 0; tries < 5 && (missed.empty() || noticed_ == 0); ++tries) {
    ASSERT_TRUE(CommitAndWait(*engines_[0], MakeCommit({Mutation::EraseRange("", "")})));
    missed = Run(Durability::kNone, [&] { KillAndRestart(); });
  }
  EXPECT_THAT(missed, Contains(HasSubstr("is lost")));
  EXPECT_GT(noticed_, 0u);
}

TEST_F(FailoverHistoryTest, WhatAQuorumHasIsThereAfterAPromotion) {
  ASSERT_NO_FATAL_FAILURE(Begin(2, "--sync 1 --set fsync=off"));
  Commit first = MakeCommit({Mutation::Put("first", "")});
  first.durability = Durability::kQuorum;
  if (const auto outcome = CommitAndWait(*engines_[0], first); CodeOf(outcome) == "invalid_argument") {
    GTEST_SKIP() << "the engine has no quorum yet";
  }
  size_t promoted = 0;
  const auto fail_over = [&] {
    cluster_->Do("kill 0-primary");
    // Of two replicas, one has to have a commit: the one that has more.
    const std::string received = "SELECT (pg_last_wal_receive_lsn() - '0/0')::bigint";
    promoted = std::stoll(Ask(2, received)) > std::stoll(Ask(1, received)) ? 2 : 1;
    cluster_->Do("promote 0 " + std::to_string(promoted));
  };
  EXPECT_THAT(Run(Durability::kQuorum, fail_over), IsEmpty());
  EXPECT_EQ(Ask(promoted, "SELECT pg_is_in_recovery()"), "f") << "what was committed since is there";
}

}  // namespace
}  // namespace kvarts::test
