// On clusters of their own, since these kill servers and promote others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <functional>

#include "engine/postgres/servers.h"
#include "support/commits.h"
#include "support/eventually.h"
#include "support/local_cluster.h"
#include "support/programs.h"
#include "support/stopped.h"

namespace kvarts::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using test::Eventually;
using testing::HasSubstr;

// A primary with two replicas, an engine on it, and beside it the servers as the engine sees them.
class FailoverTest : public testing::Test {
 protected:
  void SetUp() override {
    if (test::LocalCluster::Shared() == nullptr) GTEST_SKIP() << "KVARTS_TEST_CLUSTER is not set";
    cluster_ = std::make_unique<test::LocalCluster>(2);
    options_.servers = cluster_->targets();
    options_.probe_interval = milliseconds(200);
    options_.primary_patience = milliseconds(300);
    auto opened = OpenPostgresEngine(options_);
    ASSERT_TRUE(opened.has_value()) << opened.error();
    engine_ = *std::move(opened);
    servers_ = std::make_unique<Servers>(options_);
    ASSERT_TRUE(servers_->Start(In(seconds(20))).has_value());
  }
  void TearDown() override {
    engine_.reset();
    servers_.reset();
  }

  Result<Committed> Put(const std::string& key) {
    return CommitAndWait(*engine_, test::MakeCommit({Mutation::Put(key, "value")}));
  }
  std::string Ask(size_t server, const std::string& sql) {
    auto connection = Connection::Open(options_.servers[server], {}, In(seconds(10)));
    if (!connection.has_value()) return connection.error().ToString();
    const auto done = (*connection)->Simple(sql, In(seconds(10)));
    if (!done.has_value()) return done.error().error.ToString();
    return done->size() == 0 ? "" : std::string(done->Text(0, 0));
  }
  ServerStats Stats(size_t server) { return servers_->Stats()[server]; }
  ServerRole Role(size_t server) { return Stats(server).role; }

  std::unique_ptr<test::LocalCluster> cluster_;
  PostgresOptions options_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Servers> servers_;
};

TEST_F(FailoverTest, AKilledPrimaryIsMissedAtOnceAndFoundAgain) {
  ASSERT_TRUE(Put("before").has_value());
  ASSERT_TRUE(servers_->Primary(Use::kWriting, In(seconds(10))).has_value());
  cluster_->Do("kill 0-primary");
  // Nobody waits for what is known to be dead.
  EXPECT_TRUE(Eventually([&] { return !servers_->HasPrimary() && !engine_->health().writable; }));
  EXPECT_EQ(engine_->health().reason, "the shard has no primary");
  usleep(300'000);
  const auto began = steady_clock::now();
  const auto none = servers_->Primary(Use::kWriting, In(seconds(10)));
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(none.error().ToString(), HasSubstr("is a replica"));
  EXPECT_THAT(none.error().ToString(), HasSubstr("there is no connection to the server"));
  const auto put = Put("meanwhile");
  ASSERT_FALSE(put.has_value());
  EXPECT_EQ(put.error().code(), ErrorCode::kUnavailable);
  EXPECT_LT(steady_clock::now() - began, seconds(8));
  // Who watches is told the last figures, and what is wrong.
  const auto stats = engine_->Stats();
  ASSERT_TRUE(stats.has_value()) << stats.error();
  EXPECT_FALSE(stats->writable);
  EXPECT_NE(stats->not_writable_because, "");
  ASSERT_EQ(stats->servers.size(), 3u);
  EXPECT_FALSE(stats->servers[0].usable);
  EXPECT_THAT(stats->servers[0].problem, HasSubstr("there is no connection to the server"));
  EXPECT_TRUE(stats->servers[1].usable);
  EXPECT_EQ(stats->servers[1].role, "replica");
  // Replicas answer all the same.
  const auto replica = servers_->Replica(Use::kReading, {}, In(seconds(10)));
  ASSERT_TRUE(replica.has_value());
  EXPECT_TRUE(*replica);
  cluster_->Do("start 0-primary");
  EXPECT_TRUE(Eventually([&] { return servers_->HasPrimary(); }));
  EXPECT_TRUE(Eventually([&] { return Put("after").has_value(); }));
  EXPECT_EQ(Ask(0, "SELECT fenced_by IS NULL FROM kvarts.state"), "t");
}

TEST_F(FailoverTest, APrimaryThatStillRunsIsFencedWhenAReplicaIsPromoted) {
  ASSERT_TRUE(Put("before").has_value());
  auto held = servers_->Primary(Use::kWriting, In(seconds(10)));
  ASSERT_TRUE(held.has_value());
  cluster_->Do("promote 0 1");
  EXPECT_TRUE(Eventually([&] { return Role(1) == ServerRole::kPrimary && Role(0) == ServerRole::kReplaced; }));
  EXPECT_TRUE(Eventually([&] { return Ask(0, "SELECT fenced_by FROM kvarts.state") == "2"; }));
  EXPECT_EQ(Ask(1, "SELECT fenced_by IS NULL FROM kvarts.state"), "t");
  // What is out of the old one does not come back.
  EXPECT_EQ(Stats(0).connections, 1u);
  *held = {};
  EXPECT_EQ(Stats(0).connections, 0u);
  const auto lease = servers_->Primary(Use::kWriting, In(seconds(10)));
  ASSERT_TRUE(lease.has_value()) << lease.error();
  EXPECT_EQ(
      (*lease)
          ->Simple("SELECT pg_is_in_recovery() OR pg_walfile_name(pg_current_wal_lsn()) < '00000002'", In(seconds(5)))
          ->Text(0, 0),
      "f");
  EXPECT_TRUE(Eventually([&] { return Put("after").has_value(); }));
  // The other replica follows, and has what the new one noted.
  EXPECT_TRUE(Eventually([&] { return Role(2) == ServerRole::kReplica && Stats(2).timeline == 2; }));
  EXPECT_TRUE(
      Eventually([&] { return Ask(2, "SELECT value LIKE '%/2' FROM kvarts.meta WHERE name = 'timeline'") == "t"; }));
  // Who begins when only the old one is there is told so by its fence.
  PostgresOptions alone = options_;
  alone.servers = {options_.servers[0]};
  alone.connect_timeout = seconds(1);
  const auto refused = OpenPostgresEngine(alone);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().ToString(), HasSubstr("was replaced: its timeline is 1"));
}

TEST_F(FailoverTest, AnOldPrimaryThatComesBackIsFencedAndMayJoinAgain) {
  cluster_->Do("stop 0-primary");  // so that it has nothing that the others lack
  cluster_->Do("promote 0 1");
  EXPECT_TRUE(Eventually([&] { return Role(1) == ServerRole::kPrimary && servers_->HasPrimary(); }));
  EXPECT_TRUE(Eventually([&] { return Put("after").has_value(); }));
  const std::string data = cluster_->dir() + "/0-primary";
  const std::string join = "cp -p " + cluster_->dir() + "/0-replica-2/standby.signal " + data +
                           " && sed -n '/^primary_conninfo/p' " + cluster_->dir() +
                           "/0-replica-2/postgresql.auto.conf >> " + data + "/postgresql.auto.conf";
  ASSERT_EQ(test::RunShell(join).code, 0);
  cluster_->Do("start 0-primary");
  EXPECT_TRUE(Eventually([&] { return Role(0) == ServerRole::kReplica && Stats(0).timeline == 2; }));
  EXPECT_TRUE(Eventually([&] { return Stats(0).lag == milliseconds(0); }));
  // The other way round: it leaves the new primary, and is promoted to a timeline of its own.
  cluster_->Do("kill 0-replica-1");
  const std::string promote = "SELECT pg_promote()";
  EXPECT_EQ(Ask(0, promote), "t");
  EXPECT_TRUE(Eventually([&] { return Role(0) == ServerRole::kPrimary && Stats(0).timeline == 3; }));
  cluster_->Do("start 0-replica-1");
  EXPECT_TRUE(Eventually([&] { return Role(1) == ServerRole::kReplaced; }));
  EXPECT_TRUE(Eventually([&] { return Ask(1, "SELECT fenced_by FROM kvarts.state") == "3"; }));
  EXPECT_TRUE(Eventually([&] { return Put("again").has_value(); }));
}

TEST_F(FailoverTest, AReplicaThatDoesNotReplayLags) {
  EXPECT_TRUE(Eventually([&] { return Stats(1).lag == milliseconds(0) && Stats(2).lag == milliseconds(0); }));
  Ask(1, "SELECT pg_wal_replay_pause()");
  EXPECT_TRUE(Eventually([&] { return Ask(1, "SELECT pg_get_wal_replay_pause_state()") == "paused"; }));
  ASSERT_TRUE(Put("unseen").has_value());
  EXPECT_TRUE(Eventually([&] { return Stats(1).lag > milliseconds(1000) && Stats(2).lag == milliseconds(0); }));
  const WalPosition written{1, Stats(0).replayed};
  for (int i = 0; i < 4; ++i) {
    for (const ReplicaNeed& need :
         {ReplicaNeed{milliseconds(1000), std::nullopt}, ReplicaNeed{std::nullopt, written}}) {
      const auto lease = servers_->Replica(Use::kReading, need, In(seconds(10)));
      ASSERT_TRUE(lease.has_value());
      ASSERT_TRUE(*lease);
      EXPECT_EQ((*lease)->Simple("SELECT count(*) FROM kvarts.entry", In(seconds(5)))->Text(0, 0), "1");
    }
  }
  Ask(1, "SELECT pg_wal_replay_resume()");
  EXPECT_TRUE(Eventually([&] { return Stats(1).lag == milliseconds(0); }));
}

TEST_F(FailoverTest, AServerThatIsStoppedCostsNobodyItsTimeout) {
  ASSERT_TRUE(servers_->Replica(Use::kReading, {}, In(seconds(10))).has_value());
  const test::Stopped stopped(cluster_->Processes("0-replica-1"));
  ASSERT_GT(stopped.processes().size(), 1u);
  EXPECT_TRUE(Eventually([&] { return Stats(1).failures > 0; }));
  const auto began = steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    const auto lease = servers_->Replica(Use::kReading, {}, In(seconds(10)));
    ASSERT_TRUE(lease.has_value());
    ASSERT_TRUE(*lease);
    EXPECT_TRUE((*lease)->Simple("SELECT 1", In(seconds(5))).has_value());
    EXPECT_TRUE(Put("key").has_value());
  }
  EXPECT_LT(steady_clock::now() - began, seconds(10));
  EXPECT_TRUE(Eventually([&] { return Stats(1).breaker_open; }));
  stopped.Continue();
  EXPECT_TRUE(Eventually([&] { return Stats(1).failures == 0; }));
}

}  // namespace
}  // namespace kvarts::postgres
