// A path through the network is cut, and nobody is told: no connection ends, and no answer comes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "engine/postgres/connection.h"
#include "engine/postgres/postgres_engine.h"
#include "support/commits.h"
#include "support/eventually.h"
#include "support/local_cluster.h"
#include "support/relay.h"

namespace kvarts::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using test::CodeOf;
using test::Eventually;
using testing::IsSubsetOf;

// Far more than any request may take, on a machine that has other things to do.
constexpr seconds kFarTooLong(30);

// An engine that reaches a primary and two replicas over paths that can be cut. They reach each other without.
class CutPathTest : public testing::Test {
 protected:
  void SetUp() override {
    if (test::LocalCluster::Shared() == nullptr) GTEST_SKIP() << "KVARTS_TEST_CLUSTER is not set";
    cluster_ = std::make_unique<test::LocalCluster>(2);
    for (const std::string& target : cluster_->targets()) {
      const size_t port = target.find(" port=") + 6;
      paths_.push_back(std::make_unique<test::Relay>(std::stoi(target.substr(port))));
      // What is said last counts.
      options_.servers.push_back(target + " port=" + std::to_string(paths_.back()->port()));
    }
    options_.probe_interval = milliseconds(200);
    options_.probe_timeout = milliseconds(500);
    options_.primary_patience = milliseconds(300);
    options_.connect_timeout = seconds(1);
    options_.request_timeout = seconds(4);
    options_.max_lag = seconds(60);
    // What a process leaves behind it is to end itself.
    options_.collect_interval = seconds(600);
    auto opened = OpenPostgresEngine(options_);
    ASSERT_TRUE(opened.has_value()) << opened.error();
    engine_ = *std::move(opened);
  }

  Result<Committed> Put(const std::string& key, Durability durability = Durability::kSync) {
    Commit commit = test::MakeCommit({Mutation::Put(key, key)});
    commit.durability = durability;
    return CommitAndWait(*engine_, std::move(commit));
  }
  std::string Read(const std::string& key, Consistency consistency = Consistency::kStrong) {
    const auto found = GetOne(*engine_, key, {.freshness = {.consistency = consistency}});
    return found.has_value() && !*found ? "absent" : CodeOf(found);
  }
  // Of the primary, over a path of its own.
  std::unique_ptr<Connection> Connect() const {
    auto opened = Connection::Open(cluster_->targets()[0], {}, In(seconds(10)));
    if (!opened) throw std::runtime_error(opened.error().ToString());
    return *std::move(opened);
  }
  static std::string Ask(Connection& connection, const std::string& sql) {
    const auto done = connection.Simple(sql, In(seconds(10)));
    if (!done.has_value()) return done.error().error.ToString();
    return done->size() == 0 ? "" : std::string(done->Text(0, 0));
  }

  void CutWhileCommitsAreUnderWay(const std::function<void(test::Relay&)>& heal);

  std::unique_ptr<test::LocalCluster> cluster_;
  std::vector<std::unique_ptr<test::Relay>> paths_;
  PostgresOptions options_;
  std::unique_ptr<Engine> engine_;  // goes before its paths
};

// Those who write keys of their own, one after the other, and read them, and what they were told.
class Clients {
 public:
  using Write = std::function<std::string(const std::string& key, int number)>;
  using Read = std::function<std::string(const std::string& key)>;

  Clients(int count, const Write& write, const Read& read) {
    for (int client = 0; client < count; ++client) {
      threads_.emplace_back([this, client, write, read](const std::stop_token& stop) {
        for (int i = 0; !stop.stop_requested(); ++i) {
          const std::string key = "k" + std::to_string(client) + "-" + std::to_string(i);
          const std::string written = Timed([&] { return write(key, i); });
          const std::string found = Timed([&] { return read(key); });
          // Who is refused at once leaves others their share of the machine.
          if (written != "ok") std::this_thread::sleep_for(milliseconds(1));
          const std::lock_guard lock(mutex_);
          told_[written].push_back(key);
          read_.insert(found);
          // What was written is there, and what was not is not.
          if (written == "ok" && found == "absent") wrong_.push_back(key + " is lost");
          if (written == "unavailable" && found == "ok") wrong_.push_back(key + " is there");
        }
      });
    }
  }

  // Ends them; from then on nothing changes.
  void End() { threads_.clear(); }
  size_t Told(const std::string& code) const {
    const std::lock_guard lock(mutex_);
    const auto found = told_.find(code);
    return found == told_.end() ? 0 : found->second.size();
  }
  const std::map<std::string, std::vector<std::string>>& told() const { return told_; }
  const std::set<std::string>& read() const { return read_; }
  const std::vector<std::string>& wrong() const { return wrong_; }
  std::chrono::milliseconds longest() const { return longest_; }

 private:
  std::string Timed(const std::function<std::string()>& request) {
    const auto began = steady_clock::now();
    std::string code = request();
    const auto took = std::chrono::duration_cast<milliseconds>(steady_clock::now() - began);
    const std::lock_guard lock(mutex_);
    longest_ = std::max(longest_, took);
    return code;
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> told_;  // keys, by the code of their writing
  std::set<std::string> read_;                            // codes
  std::vector<std::string> wrong_;
  milliseconds longest_{0};
  std::vector<std::jthread> threads_;
};

void CutPathTest::CutWhileCommitsAreUnderWay(const std::function<void(test::Relay&)>& heal) {
  Clients clients(
      6,
      [&](const std::string& key, int number) {
        return CodeOf(Put(key, number % 3 == 0 ? Durability::kQuorum : Durability::kSync));
      },
      [&](const std::string& key) { return Read(key); });
  const auto await_more = [&](const std::string& code) {
    EXPECT_TRUE(Eventually([&, before = clients.Told(code)] { return clients.Told(code) > before + 10; })) << code;
  };
  await_more("ok");
  // Some are known to be under way: they are kept waiting on the server until the path is cut, and are made then.
  auto held = Connect();
  Ask(*held, "SELECT pg_advisory_lock(1262902610, 2)");
  const std::string waiting =
      "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%kvarts.commit(%'";
  EXPECT_TRUE(Eventually([&] { return Ask(*held, waiting) == "t"; }));
  for (const auto& path : paths_) path->Cut();
  held.reset();
  EXPECT_TRUE(Eventually([&] { return clients.Told("unknown_outcome") > 0; }));
  EXPECT_TRUE(Eventually([&] { return !engine_->health().writable; }));
  await_more("unavailable");
  for (const auto& path : paths_) heal(*path);
  // By themselves, on whatever connections there are then.
  EXPECT_TRUE(Eventually([&] { return engine_->health().writable; }));
  await_more("ok");
  clients.End();
  EXPECT_LT(clients.longest(), kFarTooLong);
  std::vector<std::string> codes;
  for (const auto& [code, keys] : clients.told()) codes.push_back(code);
  EXPECT_THAT(codes, IsSubsetOf({"ok", "unavailable", "unknown_outcome"}));
  EXPECT_THAT(clients.read(), IsSubsetOf(std::set<std::string>{"ok", "absent", "unavailable"}));
  EXPECT_THAT(clients.wrong(), testing::IsEmpty());
  for (const std::string& key : clients.told().at("ok")) EXPECT_EQ(Read(key), "ok") << key;
  for (const std::string& key : clients.told().at("unavailable")) EXPECT_EQ(Read(key), "absent") << key;
  EXPECT_TRUE(Put("after", Durability::kApplied).has_value());
}

TEST_F(CutPathTest, WhatIsUnderWayIsAnsweredAndLaterRequestsRecoverWhenItIsReset) {
  CutWhileCommitsAreUnderWay([](test::Relay& path) { path.Reset(); });
}

// What was given up arrives after all.
TEST_F(CutPathTest, WhatIsUnderWayIsAnsweredAndLaterRequestsRecoverWhenItGoesOn) {
  CutWhileCommitsAreUnderWay([](test::Relay& path) { path.Resume(); });
}

TEST_F(CutPathTest, ReplicasAnswerWhileThePathToThePrimaryIsCut) {
  ASSERT_TRUE(Put("a", Durability::kApplied).has_value());
  ASSERT_TRUE(Eventually([&] { return engine_->Stats()->servers[1].usable && engine_->Stats()->servers[2].usable; }));
  paths_[0]->Cut();
  EXPECT_TRUE(Eventually([&] { return !engine_->health().writable; }));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Read("a", Consistency::kEventual), "ok");
  EXPECT_EQ(Read("a", Consistency::kStrong), "unavailable");
  EXPECT_EQ(CodeOf(Put("b")), "unavailable");
  paths_[0]->Reset();
  EXPECT_TRUE(Eventually([&] { return Put("c").has_value(); }));
  EXPECT_EQ(Read("b"), "absent");
}

// The server does not notice that a connection is gone while its session waits for replicas, and keeps the locks.
TEST_F(CutPathTest, AWaitForReplicasIsEndedWhenItsConnectionIsReset) {
  ASSERT_TRUE(Put("a", Durability::kQuorum).has_value());
  cluster_->Do("stop 0-replica-1");
  cluster_->Do("stop 0-replica-2");
  const std::string waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  auto direct = Connect();
  for (const bool runs : {false, true}) {
    Commit erase = test::MakeCommit({Mutation::EraseRange("a", "b")});
    erase.durability = Durability::kQuorum;
    std::optional<Result<Committed>> outcome;
    std::jthread eraser([&] {
      auto again = test::RunFirst([&](View&, Commit* commit) -> Status {
        *commit = erase;
        return {};
      });
      outcome = runs ? test::SubmitOne(*engine_, std::move(again))->Outcome() : CommitAndWait(*engine_, Commit(erase));
    });
    EXPECT_TRUE(Eventually([&] { return Ask(*direct, waiting) == "1"; }));
    paths_[0]->Reset();
    eraser.join();
    EXPECT_EQ(CodeOf(*outcome), "unknown_outcome");
    EXPECT_TRUE(Eventually([&] { return Ask(*direct, waiting) == "0"; }));
    EXPECT_TRUE(Eventually([&] { return Put("a").has_value(); }));
  }
}

// Nor does the server wait for ever for one of whom it hears nothing: it would keep a session's locks.
TEST_F(CutPathTest, TheServerAsksWhetherAConnectionIsThere) {
  auto connection = Connection::Open(options_.servers[0], AllStatements(), In(seconds(10)));
  ASSERT_TRUE(connection.has_value()) << connection.error();
  for (const std::string setting : {"tcp_keepalives_idle", "tcp_keepalives_interval", "tcp_keepalives_count"}) {
    const int value = std::stoi(Ask(**connection, "SELECT setting FROM pg_settings WHERE name = '" + setting + "'"));
    EXPECT_GT(value, 0) << setting;
    EXPECT_LE(value, 5) << setting;
  }
  EXPECT_EQ(Ask(**connection, "SHOW tcp_user_timeout"), "20000");  // milliseconds
}

TEST_F(CutPathTest, NobodyNoticesThatThePathToAReplicaIsCut) {
  ASSERT_TRUE(Put("a", Durability::kApplied).has_value());
  paths_[2]->Cut();
  const auto began = steady_clock::now();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Read("a", Consistency::kEventual), "ok");
    EXPECT_TRUE(Put("b", Durability::kQuorum).has_value());
  }
  EXPECT_LT(steady_clock::now() - began, kFarTooLong);
  EXPECT_TRUE(Eventually([&] { return !engine_->Stats()->servers[2].usable; }));
  paths_[2]->Resume();
  EXPECT_TRUE(Eventually([&] { return engine_->Stats()->servers[2].usable; }));
}

}  // namespace
}  // namespace kvarts::postgres
