// Histories of a primary that is killed in the middle, with or without another in its place: on clusters of their own.
// The fault comes when a commit is known to be under way, so every run has one that nobody was told the outcome of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <functional>
#include <list>
#include <sstream>
#include <thread>

#include "engine/postgres/connection.h"
#include "engine/postgres/postgres_engine.h"
#include "history/history.h"
#include "history/workload.h"
#include "support/commits.h"
#include "support/eventually.h"
#include "support/local_cluster.h"
#include "support/stopped.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kThreads = 6;

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
      // Nobody gives up because others keep the machine busy.
      options.request_timeout = seconds(60);
      options.limits.max_second_run_time = Duration::Seconds(60);
      auto opened = OpenPostgresEngine(options);
      ASSERT_TRUE(opened) << opened.error();
      engines_.push_back(*std::move(opened));
    }
  }
  void TearDown() override { engines_.clear(); }

  using Session = std::unique_ptr<postgres::Connection>;
  Session Connect(size_t server) {
    auto opened = postgres::Connection::Open(cluster_->targets()[server], {}, postgres::In(seconds(20)));
    if (!opened.has_value()) throw std::runtime_error(opened.error().ToString());
    return *std::move(opened);
  }
  static std::string Ask(const Session& session, const std::string& sql) {
    const auto done = session->Simple(sql, postgres::In(seconds(20)));
    if (!done.has_value()) return done.error().error.ToString();
    return done->size() == 0 ? "" : std::string(done->Text(0, 0));
  }
  std::string Ask(size_t server, const std::string& sql) { return Ask(Connect(server), sql); }
  static void AwaitSome(const Session& session, const std::string& what) {
    EXPECT_TRUE(Eventually([&] { return Ask(session, "SELECT count(*) > 0 FROM " + what) == "t"; })) << what;
  }

  struct Outcome {
    std::vector<std::string> wrong;  // what cannot have happened
    size_t unknown = 0;              // commits of which nobody was told what became of them
  };

  enum class Reads {
    kChecked,
    kIgnored,  // where there are two primaries for a moment, some may be of the old one
  };
  // Runs while `fault` happens and until commits are made again, and some time on.
  Outcome Run(Durability durability, const std::function<void()>& fault, Reads reads = Reads::kChecked) {
    std::atomic<bool> stop = false;
    WorkloadOptions options;
    options.threads = kThreads;
    options.operations = 1'000'000;
    options.faults = true;
    options.durability = durability;
    options.stop = &stop;
    options.committed = &committed_;
    History history;
    std::jthread working([&] {
      std::vector<Engine*> engines;
      for (const auto& engine : engines_) engines.push_back(engine.get());
      history = RunWorkload(engines, options);
    });
    AwaitMore(100);
    fault();
    AwaitCommits(durability);
    AwaitMore(100);
    stop = true;
    working.join();
    const auto marks = MarksIn(*engines_[0]);
    if (!marks) return {{marks.error().ToString()}};
    const auto last = LastState(*engines_[0]);
    if (!last) return {{last.error().ToString()}};
    history.reads.push_back(*last);
    Outcome outcome{.wrong = {}, .unknown = history.unknown.size()};
    outcome.wrong = Resolve(*marks, &history);
    if (outcome.wrong.empty() && reads == Reads::kChecked) outcome.wrong = CheckInAnyOrder(history);
    return outcome;
  }

  void AwaitMore(int commits) {
    EXPECT_TRUE(Eventually([&, before = committed_.load()] { return committed_ > before + commits; }));
  }

  void AwaitCommits(Durability durability) {
    Commit again = MakeCommit({Mutation::Put("again", "")});
    again.durability = durability;
    for (const auto& engine : engines_) {
      EXPECT_TRUE(Eventually([&] { return CommitAndWait(*engine, again).has_value(); }));
    }
  }

  // Keeps every commit waiting on the primary, for as long as the session lasts, and returns when one does.
  Session HoldCommits() {
    Session session = Connect(0);
    Ask(session, "SELECT pg_advisory_lock(1262902610, 2)");
    AwaitSome(session, "pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%kvarts.commit(%'");
    return session;
  }

  // Has commits wait for replicas that say nothing more once `silence` has come over them, and returns when one does.
  void AwaitReplicasInVain(const std::function<void()>& silence) {
    Session held = HoldCommits();  // so that nobody is answered by what they have said before
    silence();
    held.reset();
    AwaitSome(Connect(0), "pg_stat_activity WHERE wait_event = 'SyncRep'");
  }

  void KillAndRestart() {
    const Session held = HoldCommits();
    cluster_->Do("kill 0-primary");
    cluster_->Do("start 0-primary");
  }

  // Those who commit without waiting for the disk leave it to others to write the log. From when these have been
  // stopped on nothing reaches the disk, and some commits are acknowledged before the end.
  void KillAndRestartUnwritten() {
    std::istringstream words(
        Ask(0, "SELECT string_agg(pid::text, ' ') FROM pg_stat_activity WHERE backend_type <> 'client backend'"));
    std::vector<int> others;
    for (int pid = 0; words >> pid;) others.push_back(pid);
    const Stopped stopped(others);
    ASSERT_GT(stopped.processes().size(), 2u);
    AwaitMore(kThreads);  // as many may have been on the disk, and not been answered
    const Session held = HoldCommits();
    // With one of its processes the whole server goes.
    for (const int pid : stopped.processes()) kill(pid, SIGKILL);
    cluster_->Do("kill 0-primary");
    cluster_->Do("start 0-primary");
  }

  // The replica that has received most takes over from a primary that is gone; which one that is.
  size_t PromoteTheFurthest() {
    const std::string received =
        "SELECT (greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0')::bigint";
    std::vector<int64_t> positions;
    for (const size_t replica : {1, 2}) {
      const Session session = Connect(replica);
      // What is still on its way to it comes first.
      AwaitSome(session,
                "(SELECT WHERE NOT EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming')) none");
      positions.push_back(std::stoll(Ask(session, received)));
    }
    const size_t promoted = positions[1] > positions[0] ? 2 : 1;
    cluster_->Do("promote 0 " + std::to_string(promoted));
    return promoted;
  }

  std::unique_ptr<LocalCluster> cluster_;
  std::vector<std::unique_ptr<Engine>> engines_;
  std::atomic<int> committed_ = 0;
};

// And what did not wait for the disk is missed: the check does find what is lost.
TEST_F(FailoverHistoryTest, APrimaryThatIsKilledAndRestartedLosesNothingThatIsOnDisk) {
  // Of what waits for nothing, only whole pages of the log are written for some time.
  ASSERT_NO_FATAL_FAILURE(
      Begin(0, "--sync 0 --set fsync=on --set wal_writer_delay=10s --set wal_writer_flush_after=1GB"));
  const Outcome kept = Run(Durability::kSync, [&] { KillAndRestart(); });
  EXPECT_THAT(kept.wrong, IsEmpty());
  EXPECT_GT(kept.unknown, 0u) << "nobody noticed";
  ASSERT_TRUE(CommitAndWait(*engines_[0], MakeCommit({Mutation::EraseRange("", "")})));
  const Outcome lost = Run(Durability::kNone, [&] { KillAndRestartUnwritten(); });
  EXPECT_THAT(lost.wrong, Contains(HasSubstr("is lost")));
  EXPECT_GT(lost.unknown, 0u) << "nobody noticed";
}

TEST_F(FailoverHistoryTest, WhatAQuorumHasIsThereAfterAPromotion) {
  ASSERT_NO_FATAL_FAILURE(Begin(2, "--sync 1 --set fsync=off"));
  size_t promoted = 0;
  const Outcome outcome = Run(Durability::kQuorum, [&] {
    std::list<Stopped> stopped;
    AwaitReplicasInVain([&] {
      for (const char* const replica : {"0-replica-1", "0-replica-2"})
        stopped.emplace_back(cluster_->Processes(replica));
    });
    cluster_->Do("kill 0-primary");
    stopped.clear();
    promoted = PromoteTheFurthest();
  });
  EXPECT_THAT(outcome.wrong, IsEmpty());
  EXPECT_GT(outcome.unknown, 0u) << "nobody noticed";
  EXPECT_EQ(Ask(promoted, "SELECT pg_is_in_recovery()"), "f") << "what was committed since is there";
}

TEST_F(FailoverHistoryTest, WhatAQuorumHasIsThereWhenTheOldPrimaryStillRuns) {
  ASSERT_NO_FATAL_FAILURE(Begin(2, "--sync 1 --set fsync=off"));
  const auto fail_over = [&] {
    // Commits that were sent to it go on when there is another primary, and before anybody could tell it so.
    Session held = HoldCommits();
    Session unfenced = Connect(0);
    Ask(unfenced, "BEGIN; SELECT FROM kvarts.state FOR UPDATE");
    cluster_->Do("promote 0 1");
    held.reset();
    const Session old = Connect(0);
    AwaitSome(old, "pg_stat_activity WHERE wait_event = 'SyncRep'");
    unfenced.reset();
    EXPECT_TRUE(Eventually([&] { return Ask(old, "SELECT fenced_by FROM kvarts.state") == "2"; }));
    cluster_->Do("kill 0-primary");
  };
  const Outcome outcome = Run(Durability::kQuorum, fail_over, Reads::kIgnored);
  EXPECT_THAT(outcome.wrong, IsEmpty());
  EXPECT_GT(outcome.unknown, 0u) << "nobody noticed";
}

// Who waited for replicas to show it, and was cut off when they had it.
TEST_F(FailoverHistoryTest, WhatHasAnUnknownOutcomeIsWholeWhereItWasMade) {
  ASSERT_NO_FATAL_FAILURE(Begin(2, "--sync 1 --set fsync=off"));
  AwaitCommits(Durability::kApplied);
  const auto on_both = [&](const std::string& sql, const std::string& answer) {
    for (const size_t replica : {1, 2}) {
      const Session session = Connect(replica);
      EXPECT_TRUE(Eventually([&] { return Ask(session, sql) == answer; })) << sql;
    }
  };
  on_both("SELECT pg_wal_replay_pause()", "");
  on_both("SELECT pg_get_wal_replay_pause_state()", "paused");
  const std::vector<Bytes> keys = {"a", "b", Bytes(2500, 'c')};
  std::vector<Mutation> puts;
  for (const Bytes& key : keys) puts.push_back(Mutation::Put(key, "there"));
  auto submission = std::make_unique<TestSubmission>(MakeCommit(puts));
  submission->commit.durability = Durability::kApplied;
  const auto ticket = SubmitOne(*engines_[0], std::move(submission));
  const Session primary = Connect(0);
  AwaitSome(primary, "pg_stat_activity WHERE wait_event = 'SyncRep'");
  // They have all that is on the primary's disk, where the commit is that waits.
  const std::string flushed = Ask(primary, "SELECT pg_current_wal_flush_lsn()");
  on_both("SELECT pg_last_wal_receive_lsn() >= '" + flushed + "'", "t");
  cluster_->Do("kill 0-primary");
  EXPECT_EQ(CodeOf(ticket->Outcome()), "unknown_outcome");
  on_both("SELECT pg_wal_replay_resume()", "");
  PromoteTheFurthest();
  AwaitCommits(Durability::kApplied);
  for (const Bytes& key : keys) {
    const auto found = GetOne(*engines_[1], key);
    ASSERT_TRUE(found) << found.error();
    EXPECT_TRUE(*found && (*found)->value == "there") << key;
  }
}

// What sync does not promise: the check finds that it was not kept.
TEST_F(FailoverHistoryTest, WhatOnlyThePrimaryHadIsMissedAfterAPromotion) {
  ASSERT_NO_FATAL_FAILURE(Begin(2, "--sync 1 --set fsync=off"));
  const Outcome outcome = Run(Durability::kSync, [&] {
    for (const char* const replica : {"0-replica-1", "0-replica-2"}) cluster_->Do(std::string("stop ") + replica);
    AwaitMore(kThreads);
    const Session held = HoldCommits();
    cluster_->Do("kill 0-primary");
    for (const char* const replica : {"0-replica-1", "0-replica-2"}) cluster_->Do(std::string("start ") + replica);
    PromoteTheFurthest();
  });
  EXPECT_THAT(outcome.wrong, Contains(HasSubstr("is lost")));
  EXPECT_GT(outcome.unknown, 0u) << "nobody noticed";
}

}  // namespace
}  // namespace kvarts::test
