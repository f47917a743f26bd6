// What reads see of writes, on a cluster of its own whose replicas stop replaying.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

#include "engine/postgres/group.h"
#include "engine/postgres/servers.h"
#include "support/commits.h"
#include "support/environment.h"
#include "support/eventually.h"
#include "support/local_cluster.h"
#include "support/stopped.h"

namespace kvarts::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using test::Eventually;
using testing::HasSubstr;
using testing::Not;

class ConsistencyTest : public testing::Test {
 protected:
  void SetUp() override {
    if (test::LocalCluster::Shared() == nullptr) GTEST_SKIP() << "KVARTS_TEST_CLUSTER is not set";
    cluster_ = std::make_unique<test::LocalCluster>(2);
    options_.servers = cluster_->targets();
    options_.probe_interval = milliseconds(200);
    // Longer than replicas are paused, unless a test is about that.
    options_.max_lag = seconds(60);
  }

  void Open() {
    auto opened = OpenPostgresEngine(options_);
    ASSERT_TRUE(opened.has_value()) << opened.error();
    engine_ = *std::move(opened);
    Put("a", "0");
    // Both replicas are read from: with a primary that answers late it would be noticed below.
    ASSERT_TRUE(Eventually([&] {
      return Ask(1, "SELECT count(*) FROM kvarts.entry") != "0" && Ask(2, "SELECT count(*) FROM kvarts.entry") != "0";
    }));
    usleep(500'000);
  }

  // By a transaction that is run under locks.
  Result<Committed> TryToRun(const std::string& key, Durability durability) {
    auto submission = test::RunFirst([&](View&, Commit* commit) -> Status {
      *commit = test::MakeCommit({Mutation::Put(key, "there")});
      commit->durability = durability;
      return {};
    });
    return test::SubmitOne(*engine_, std::move(submission))->Outcome();
  }
  Result<Committed> TryPut(const std::string& key, const std::string& value, Durability durability) {
    Commit commit = test::MakeCommit({Mutation::Put(key, value)});
    commit.durability = durability;
    return CommitAndWait(*engine_, std::move(commit));
  }
  SessionToken Put(const std::string& key, const std::string& value, Durability durability = Durability::kSync) {
    const auto committed = TryPut(key, value, durability);
    EXPECT_TRUE(committed.has_value()) << committed.error();
    return committed.has_value() ? committed->session : SessionToken();
  }
  std::string Get(const std::string& key, const Freshness& freshness) {
    const auto found = GetOne(*engine_, key, {.freshness = freshness});
    if (!found.has_value()) return found.error().ToString();
    return *found ? (*found)->value : "absent";
  }
  std::string GetByView(const std::string& key, const Freshness& freshness) {
    const auto view = engine_->OpenView(freshness);
    if (!view.has_value()) return view.error().ToString();
    const auto found = (*view)->GetOne(key);
    if (!found.has_value()) return found.error().ToString();
    return *found ? (*found)->value : "absent";
  }
  std::string Ask(size_t server, const std::string& sql) const {
    auto connection = Connection::Open(options_.servers[server], {}, In(seconds(10)));
    if (!connection.has_value()) return connection.error().ToString();
    const auto done = (*connection)->Simple(sql, In(seconds(10)));
    if (!done.has_value()) return done.error().error.ToString();
    return done->size() == 0 ? "" : std::string(done->Text(0, 0));
  }
  void Pause(size_t replica) const {
    Ask(replica, "SELECT pg_wal_replay_pause()");
    EXPECT_TRUE(Eventually([&] { return Ask(replica, "SELECT pg_get_wal_replay_pause_state()") == "paused"; }));
  }
  void Resume(size_t replica) const { Ask(replica, "SELECT pg_wal_replay_resume()"); }

  std::string StaleReads(bool token_is_ignored);

  static constexpr Freshness kStrong{.consistency = Consistency::kStrong};
  static constexpr Freshness kEventual{.consistency = Consistency::kEventual};
  static Freshness Session(const SessionToken& token) {
    return {.consistency = Consistency::kSession, .session = token};
  }

  std::unique_ptr<test::LocalCluster> cluster_;
  PostgresOptions options_;
  std::unique_ptr<Engine> engine_;  // goes before the cluster
};

TEST_F(ConsistencyTest, EventualIsAReplicasWordAndStrongThePrimarys) {
  Open();
  ASSERT_TRUE(engine_->capabilities().replicas);
  Put("a", "1");
  ASSERT_TRUE(Eventually([&] {
    for (int i = 0; i < 6; ++i) {
      if (Get("a", kEventual) != "1") return false;
    }
    return true;
  }));
  Pause(1);
  Pause(2);
  const SessionToken token = Put("a", "2");
  EXPECT_TRUE(token);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(Get("a", kEventual), "1");
    EXPECT_EQ(GetByView("a", kEventual), "1");
    EXPECT_EQ(Get("a", Session({})), "1");
    EXPECT_EQ(Get("a", kStrong), "2");
    EXPECT_EQ(GetByView("a", kStrong), "2");
    EXPECT_EQ(Get("a", Session(token)), "2");
    EXPECT_EQ(GetByView("a", Session(token)), "2");
  }
  const auto stats = engine_->Stats();
  ASSERT_TRUE(stats.has_value()) << stats.error();
  EXPECT_GE(stats->replica_reads, 12u);
  EXPECT_GE(stats->replica_misses, 6u) << "no replica had what the session had written";
  // One that has it is found, whichever is asked first.
  Resume(2);
  ASSERT_TRUE(Eventually([&] { return Get("a", kEventual) == "2"; }));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(Get("a", Session(token)), "2");
  Resume(1);
}

TEST_F(ConsistencyTest, ReplicasAnswerWhileThePrimaryDoesNot) {
  Open();
  const SessionToken token = Put("a", "1", Durability::kApplied);
  ASSERT_TRUE(Eventually(
      [&] { return Get("a", kEventual) == "1" && Get("a", kEventual) == "1" && Get("a", kEventual) == "1"; }));
  const test::Stopped stopped(cluster_->Processes("0-primary"));
  const auto began = steady_clock::now();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Get("a", kEventual), "1");
    EXPECT_EQ(Get("a", Session(token)), "1");
    EXPECT_EQ(GetByView("a", Session(token)), "1");
  }
  EXPECT_LT(steady_clock::now() - began, seconds(9));
}

TEST_F(ConsistencyTest, AReplicaThatHangsHoldsUpNoReads) {
  options_.request_timeout = seconds(60);
  options_.connect_timeout = seconds(60);
  Open();
  const SessionToken token = Put("a", "1", Durability::kApplied);
  ASSERT_TRUE(Eventually(
      [&] { return Get("a", kEventual) == "1" && Get("a", kEventual) == "1" && Get("a", kEventual) == "1"; }));
  const test::Stopped stopped(cluster_->Processes("0-replica-1"));
  const auto began = steady_clock::now();
  std::vector<std::jthread> readers;
  for (int i = 0; i < 8; ++i) {
    readers.emplace_back([&] {
      EXPECT_EQ(Get("a", kEventual), "1");
      EXPECT_EQ(Get("a", Session(token)), "1");
      EXPECT_EQ(GetByView("a", Session(token)), "1");
    });
  }
  readers.clear();
  EXPECT_LT(steady_clock::now() - began, seconds(30));
}

TEST_F(ConsistencyTest, ValuesExpireOnReplicasByThePrimarysTime) {
  Open();
  const Timestamp expiry{engine_->Now().micros + 1'500'000};
  const auto put = CommitAndWait(*engine_, test::MakeCommit({Mutation::Put("brief", "1", expiry)}));
  ASSERT_TRUE(put.has_value()) << put.error();
  ASSERT_EQ(Get("brief", Session(put->session)), "1");
  // Neither a read that finds nothing nor a commit that writes nothing says what time it is.
  EXPECT_EQ(Get("nothing", kStrong), "absent");
  Commit asks;
  asks.preconditions.push_back(test::Present("a"));
  ASSERT_TRUE(CommitAndWait(*engine_, std::move(asks)).has_value());
  // The row is there for good: neither is dead rows' collection awaited, nor is the primary asked.
  Pause(1);
  Pause(2);
  usleep(2'000'000);
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(Get("brief", kEventual), "absent");
    EXPECT_EQ(GetByView("brief", kEventual), "absent");
  }
  EXPECT_EQ(Get("a", kEventual), "0");
  Resume(1);
  Resume(2);
}

TEST_F(ConsistencyTest, AReplicaThatIsTooFarBehindIsNotReadFrom) {
  options_.max_lag = milliseconds(1000);
  Open();
  Put("a", "1");
  Pause(1);
  Pause(2);
  Put("a", "2");
  // The log grows, and they do not follow.
  EXPECT_TRUE(Eventually([&] {
    Put("b", "");
    return Get("a", kEventual) == "2" && GetByView("a", kEventual) == "2";
  }));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(Get("a", kEventual), "2");
  Resume(1);
  Resume(2);
}

// Sessions that write and read what they wrote, while replicas stop and go on. Empty when all is well.
std::string ConsistencyTest::StaleReads(bool token_is_ignored) {
  std::atomic<bool> ended = false;
  std::atomic<int> stale = 0;
  std::atomic<int> read = 0;
  std::jthread pauser([&] {
    for (size_t i = 0; !ended; ++i) {
      Ask(1 + i % 2, "SELECT pg_wal_replay_pause()");
      usleep(60'000);
      Resume(1 + i % 2);
      usleep(20'000);
    }
  });
  {
    std::vector<std::jthread> sessions;
    for (int session = 0; session < 4; ++session) {
      sessions.emplace_back([&, session] {
        const std::string key = "session" + std::to_string(session);
        const Deadline end = In(seconds(test::LongRun() ? 10 : 2));
        for (int i = 0; steady_clock::now() < end; ++i) {
          const SessionToken token = Put(key, std::to_string(i), i % 5 == 0 ? Durability::kNone : Durability::kSync);
          const Freshness freshness = Session(token_is_ignored ? SessionToken() : token);
          const std::string seen = i % 3 == 0 ? GetByView(key, freshness) : Get(key, freshness);
          ++read;
          if (seen != std::to_string(i)) ++stale;
        }
      });
    }
  }
  ended = true;
  pauser.join();
  EXPECT_GT(read, 50);
  return stale == 0 ? "" : std::to_string(stale) + " of " + std::to_string(read) + " reads were stale";
}

TEST_F(ConsistencyTest, ASessionReadsWhatItWrote) {
  Open();
  EXPECT_EQ(StaleReads(false), "");
  // And this would have shown it.
  EXPECT_NE(StaleReads(true), "");
}

TEST_F(ConsistencyTest, QuorumNeedsReplicasThatAreWaitedFor) {
  Open();
  EXPECT_EQ(engine_->strongest(), Durability::kApplied);
  for (const Durability durability :
       {Durability::kNone, Durability::kInterval, Durability::kSync, Durability::kQuorum, Durability::kApplied}) {
    const auto committed = TryPut("d", std::string(DurabilityName(durability)), durability);
    ASSERT_TRUE(committed.has_value()) << committed.error();
    EXPECT_TRUE(committed->session);
    EXPECT_EQ(Get("d", Session(committed->session)), DurabilityName(durability));
  }
  Ask(0, "ALTER SYSTEM SET synchronous_standby_names = ''");
  Ask(0, "SELECT pg_reload_conf()");
  ASSERT_TRUE(Eventually([&] { return Ask(0, "SHOW synchronous_standby_names").empty(); }));
  usleep(50'000);  // for the backends to have heard of it
  // At once, not when somebody has noticed.
  const auto refused = TryPut("refused", "", Durability::kQuorum);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("synchronous_standby_names is empty"));
  EXPECT_EQ(Get("refused", kStrong), "absent");
  EXPECT_TRUE(Eventually([&] { return engine_->strongest() == Durability::kSync; }));
  EXPECT_TRUE(TryPut("d", "sync", Durability::kSync).has_value());
}

TEST_F(ConsistencyTest, AWaitForReplicasThatIsCutHasAnUnknownOutcome) {
  Open();
  ASSERT_TRUE(TryPut("a", "", Durability::kQuorum).has_value());
  cluster_->Do("stop 0-replica-1");
  cluster_->Do("stop 0-replica-2");
  for (const std::string how : {"pg_cancel_backend", "pg_terminate_backend"}) {
    std::optional<Result<Committed>> outcome;
    std::jthread writer([&] { outcome = TryPut(how, "there", Durability::kQuorum); });
    const std::string waiting = " FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    EXPECT_TRUE(Eventually([&] { return Ask(0, "SELECT count(*)" + waiting) == "1"; }));
    Ask(0, "SELECT " + how + "(pid)" + waiting);
    writer.join();
    ASSERT_TRUE(outcome.has_value());
    ASSERT_FALSE(outcome->has_value()) << how;
    EXPECT_EQ(outcome->error().code(), ErrorCode::kUnknownOutcome) << outcome->error();
    EXPECT_THAT(outcome->error().ToString(), HasSubstr(how == "pg_cancel_backend" ? "broken off" : "connection broke"));
    EXPECT_EQ(Get(how, kStrong), "there");
  }
  // The number of the process that was ended with its connection is not the commit's any more.
  std::ifstream log(cluster_->dir() + "/log/0-primary.log");
  const std::string said{std::istreambuf_iterator<char>(log), {}};
  EXPECT_THAT(said, HasSubstr("terminating connection due to administrator command"));
  EXPECT_THAT(said, Not(HasSubstr("is not a PostgreSQL")));
  // What waits for nobody goes on.
  EXPECT_TRUE(TryPut("a", "", Durability::kSync).has_value());
}

// Nor does it go on when nobody waits for its answer any more: it would keep others from its keys.
TEST_F(ConsistencyTest, AWaitForReplicasThatIsGivenUpLeavesNothingBehind) {
  options_.request_timeout = seconds(2);
  Open();
  ASSERT_TRUE(TryPut("a", "", Durability::kQuorum).has_value());
  cluster_->Do("stop 0-replica-1");
  cluster_->Do("stop 0-replica-2");
  for (const bool runs : {false, true}) {
    const auto given_up = runs ? TryToRun("a", Durability::kQuorum) : TryPut("a", "there", Durability::kQuorum);
    ASSERT_FALSE(given_up.has_value());
    EXPECT_EQ(given_up.error().code(), ErrorCode::kUnknownOutcome) << given_up.error();
    EXPECT_TRUE(Eventually(
        [&] { return Ask(0, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "0"; }));
    EXPECT_EQ(Get("a", kStrong), "there");
    const auto after = TryPut("a", "again", Durability::kSync);
    EXPECT_TRUE(after.has_value()) << after.error();
  }
  EXPECT_TRUE(CommitAndWait(*engine_, test::MakeCommit({Mutation::EraseRange("a", "b")})).has_value());
}

// Nor when the process is gone that it was made by: others end it.
TEST_F(ConsistencyTest, AWaitForReplicasOfAProcessThatIsGoneIsEnded) {
  options_.request_timeout = seconds(2);
  options_.collect_interval = milliseconds(100);
  Open();
  ASSERT_TRUE(TryPut("a", "", Durability::kQuorum).has_value());
  cluster_->Do("stop 0-replica-1");
  cluster_->Do("stop 0-replica-2");
  auto gone = Connection::Open(options_.servers[0], AllStatements(), In(seconds(10)));
  ASSERT_TRUE(gone.has_value()) << gone.error();
  Commit commit = test::MakeCommit({Mutation::EraseRange("a", "b")});
  commit.durability = Durability::kQuorum;
  const Snapshots none;
  const KnownFollowed nobody;
  Group group(none, nobody);
  group.Add(commit);
  const auto began = steady_clock::now();
  ASSERT_TRUE((*gone)->Depart(group.Commits({}, 0)));
  const std::string waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  EXPECT_TRUE(Eventually([&] { return Ask(0, waiting) == "1"; }));
  gone->reset();
  EXPECT_TRUE(Eventually([&] { return Ask(0, waiting) == "0"; }));
  // Not while whoever made it might still wait for it.
  EXPECT_GT(steady_clock::now() - began, options_.request_timeout);
  const auto after = TryPut("a", "again", Durability::kSync);
  EXPECT_TRUE(after.has_value()) << after.error();
}

// Another session that has the number of one that has gone is left alone.
TEST_F(ConsistencyTest, NobodyIsInterruptedButTheSessionThatIsMeant) {
  Open();
  auto sleeper = Connection::Open(options_.servers[0], AllStatements(), In(seconds(10)));
  auto other = Connection::Open(options_.servers[0], AllStatements(), In(seconds(10)));
  ASSERT_TRUE(sleeper.has_value() && other.has_value());
  const std::string session = (*sleeper)->session();
  EXPECT_NE(session, (*other)->session());
  const auto interrupt = [&](const std::string& meant) {
    Params params;
    params.Text(meant);
    const auto rows = (*other)->Fly(kInterrupt, std::move(params), In(seconds(10)));
    EXPECT_TRUE(rows.has_value()) << rows.error().error;
    return rows.has_value() && rows->size() == 1 && rows->Bool(0, 0);
  };
  std::optional<bool> slept;
  std::jthread sleeping([&] { slept = (*sleeper)->Simple("SELECT pg_sleep(60)", In(seconds(90))).has_value(); });
  const std::string asleep = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
  EXPECT_TRUE(Eventually([&] { return Ask(0, asleep) == "1"; }));
  EXPECT_FALSE(interrupt(session.substr(0, session.find(' ')) + " 1600000000.000001"));
  EXPECT_FALSE(interrupt("1" + session.substr(session.find(' '))));
  EXPECT_EQ(Ask(0, asleep), "1");
  EXPECT_TRUE(interrupt(session));
  sleeping.join();
  EXPECT_EQ(slept, false);
}

// However many wait for replicas in vain.
TEST_F(ConsistencyTest, WhoDoesNotWaitForReplicasIsNotHeldUpByThoseWhoDo) {
  options_.request_timeout = seconds(60);
  Open();
  ASSERT_TRUE(TryPut("a", "", Durability::kQuorum).has_value());
  cluster_->Do("stop 0-replica-1");
  cluster_->Do("stop 0-replica-2");
  const std::string waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  std::vector<std::shared_ptr<test::Ticket>> tickets;
  std::atomic<int> answered = 0;
  const auto wait_for_replicas = [&](const std::string& key) {
    auto submission = std::make_unique<test::TestSubmission>(test::MakeCommit({Mutation::Put(key, "there")}));
    submission->commit.durability = Durability::kQuorum;
    submission->on_done = [&](const Result<Committed>&) { ++answered; };
    tickets.push_back(test::SubmitOne(*engine_, std::move(submission)));
  };
  for (size_t i = 0; i + 1 < options_.commit_connections; ++i) {
    wait_for_replicas("waits" + std::to_string(i));
    EXPECT_TRUE(Eventually([&] { return Ask(0, waiting) == std::to_string(i + 1); }));
  }
  for (int i = 0; i < 3; ++i) wait_for_replicas("behind" + std::to_string(i));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(TryPut("b", "", Durability::kSync).has_value());
  Commit conditional = test::MakeCommit({Mutation::Erase("b")}, {test::Present("b")});
  EXPECT_TRUE(CommitAndWait(*engine_, std::move(conditional)).has_value());
  EXPECT_EQ(answered, 0);
  // When one is there again, everybody has what they waited for.
  cluster_->Do("start 0-replica-1");
  for (const auto& ticket : tickets) EXPECT_EQ(test::CodeOf(ticket->Outcome()), "ok");
}

// A server that is told to wait for nobody any more lets go those who wait, as if they had what they wait for.
TEST_F(ConsistencyTest, AWaitForReplicasThatIsCalledOffHasAnUnknownOutcome) {
  Open();
  ASSERT_TRUE(TryPut("a", "", Durability::kQuorum).has_value());
  cluster_->Do("stop 0-replica-1");
  cluster_->Do("stop 0-replica-2");
  std::optional<Result<Committed>> outcome;
  std::jthread writer([&] { outcome = TryPut("b", "there", Durability::kQuorum); });
  EXPECT_TRUE(
      Eventually([&] { return Ask(0, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == "1"; }));
  Ask(0, "ALTER SYSTEM SET synchronous_standby_names = ''");
  Ask(0, "SELECT pg_reload_conf()");
  writer.join();
  ASSERT_TRUE(outcome.has_value());
  ASSERT_FALSE(outcome->has_value());
  EXPECT_EQ(outcome->error().code(), ErrorCode::kUnknownOutcome) << outcome->error();
  EXPECT_EQ(Get("b", kStrong), "there");
}

}  // namespace
}  // namespace kvarts::postgres
