// On the servers that are there for all tests: none of these changes a role.
#include "engine/postgres/servers.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <set>

#include "engine/postgres/schema.h"
#include "support/eventually.h"
#include "support/local_cluster.h"

namespace kvarts::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using test::Eventually;
using testing::HasSubstr;

// Something that listens and never says a word; or, with an answer, says that to everybody who has sent something.
class Listener {
 public:
  explicit Listener(std::string answer = "") : socket_(socket(AF_INET, SOCK_STREAM, 0)), answer_(std::move(answer)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    if (bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(socket_, 16) != 0) std::abort();
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    if (!answer_.empty()) thread_ = std::jthread([this] { Serve(); });
  }
  ~Listener() {
    shutdown(socket_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    close(socket_);
  }

  std::string target() const {
    return "host=127.0.0.1 port=" + std::to_string(port_) +
           " user=kvarts dbname=kvarts sslmode=disable gssencmode=disable";
  }

 private:
  void Serve() {
    for (int client; (client = accept(socket_, nullptr, nullptr)) >= 0;) {
      char asked[1024];
      if (read(client, asked, sizeof(asked)) > 0) std::ignore = write(client, answer_.data(), answer_.size());
      clients_.push_back(client);
    }
    for (const int client : clients_) close(client);
  }

  int socket_;
  int port_ = 0;
  std::string answer_;
  std::vector<int> clients_;
  std::jthread thread_;
};

// The beginning of a session with a server of this version.
std::string Greeting(const std::string& version) {
  const auto message = [](char kind, const std::string& body) {
    std::string whole(1, kind);
    AppendBig(&whole, static_cast<uint32_t>(body.size() + 4));
    return whole + body;
  };
  return message('R', std::string(4, '\0')) + message('S', std::string("server_version\0", 15) + version + '\0') +
         message('Z', "I");
}

std::string UnusedTarget() { return "host=127.0.0.1 port=1 user=kvarts dbname=kvarts"; }

class ServersTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_ = test::LocalCluster::Shared();
    if (cluster_ == nullptr) GTEST_SKIP() << "KVARTS_TEST_CLUSTER is not set";
    name_ = "servers_" + std::to_string(getpid());
    options_.servers = cluster_->MakeDatabase(name_);
    options_.probe_interval = milliseconds(200);
  }
  void TearDown() override {
    servers_.reset();
    if (cluster_ != nullptr) cluster_->DropDatabase(name_);
  }

  const std::string& primary() const { return options_.servers.front(); }
  void MakeTheSchema() {
    const Status made = MakeSchema(primary(), CurrentSchema(), In(seconds(20)));
    ASSERT_TRUE(made.has_value()) << made.error();
  }
  Result<Servers::Found> Start(milliseconds time = seconds(20)) {
    servers_ = std::make_unique<Servers>(options_);
    return servers_->Start(In(time));
  }
  std::string Order(const std::string& target, const std::string& sql) {
    auto connection = Connection::Open(target, {}, In(seconds(20)));
    if (!connection.has_value()) return connection.error().ToString();
    const auto done = (*connection)->Simple(sql, In(seconds(20)));
    if (!done.has_value()) return done.error().error.ToString();
    return done->size() == 0 ? "" : std::string(done->Text(0, 0));
  }
  // Opening the engine fails with this in its message, at once or when it has waited long enough, and makes no schema.
  void Refused(const std::string& why, ErrorCode code = ErrorCode::kUnavailable,
               milliseconds patience = milliseconds(1000)) {
    options_.connect_timeout = patience;
    const auto opened = OpenPostgresEngine(options_);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code(), code);
    EXPECT_THAT(opened.error().ToString(), HasSubstr(why));
    EXPECT_EQ(Order(primary_, "SELECT to_regclass('kvarts.entry') IS NULL"), "t");
  }

  std::unique_ptr<test::LocalCluster> cluster_;
  std::string name_;
  std::string primary_;
  PostgresOptions options_;
  std::unique_ptr<Servers> servers_;
};

TEST_F(ServersTest, ThePrimaryIsFoundWhateverTheOrder) {
  MakeTheSchema();
  const std::string expected = primary();
  for (int turn = 0; turn < 3; ++turn) {
    std::ranges::rotate(options_.servers, options_.servers.begin() + 1);
    const auto found = Start();
    ASSERT_TRUE(found.has_value()) << found.error();
    EXPECT_EQ(found->target, expected);
    EXPECT_EQ(found->schema_version, kSchemaVersion);
    for (const Use use : {Use::kWriting, Use::kReading, Use::kOther}) {
      const auto lease = servers_->Primary(use, In(seconds(10)));
      ASSERT_TRUE(lease.has_value()) << lease.error();
      EXPECT_TRUE((*lease)->usable());
    }
    EXPECT_TRUE(servers_->HasPrimary());
    EXPECT_EQ(servers_->strongest(), Durability::kApplied);
  }
}

TEST_F(ServersTest, ReplicasAreReadInTurn) {
  MakeTheSchema();
  ASSERT_TRUE(Start().has_value());
  const ReplicaNeed need{.max_lag = seconds(5), .replayed = std::nullopt};
  const auto both = [&] {
    std::set<int> ports;
    for (int i = 0; i < 4; ++i) {
      const auto lease = servers_->Replica(Use::kReading, need, In(seconds(10)));
      if (!lease.has_value() || !*lease) return false;
      const auto port = (*lease)->Simple("SELECT inet_server_port()", In(seconds(10)));
      if (!port.has_value()) return false;
      ports.insert(std::stoi(std::string(port->Text(0, 0))));
    }
    return ports.size() == 2;
  };
  EXPECT_TRUE(Eventually(both));
  // One that nobody can have: the caller goes to the primary.
  const auto none =
      servers_->Replica(Use::kReading, {.max_lag = {}, .replayed = WalPosition{1, UINT64_MAX}}, In(seconds(10)));
  ASSERT_TRUE(none.has_value());
  EXPECT_FALSE(*none);
  const auto later = servers_->Replica(Use::kReading, {.max_lag = {}, .replayed = WalPosition{9, 1}}, In(seconds(10)));
  ASSERT_TRUE(later.has_value());
  EXPECT_FALSE(*later);
}

TEST_F(ServersTest, APoolHasSoManyAndNotMore) {
  MakeTheSchema();
  options_.other_connections = 2;
  ASSERT_TRUE(Start().has_value());
  std::vector<Pool::Lease> out;
  for (int i = 0; i < 2; ++i) {
    auto lease = servers_->Primary(Use::kOther, In(seconds(10)));
    ASSERT_TRUE(lease.has_value()) << lease.error();
    out.push_back(*std::move(lease));
  }
  const auto began = steady_clock::now();
  const auto third = servers_->Primary(Use::kOther, In(milliseconds(200)));
  ASSERT_FALSE(third.has_value());
  EXPECT_EQ(third.error().code(), ErrorCode::kOverloaded);
  EXPECT_GE(steady_clock::now() - began, milliseconds(200));
  // Another use has its own.
  EXPECT_TRUE(servers_->Primary(Use::kReading, In(seconds(10))).has_value());
  // Who waits gets what comes back.
  std::jthread giver([&] {
    usleep(100'000);
    out.pop_back();
  });
  EXPECT_TRUE(servers_->Primary(Use::kOther, In(seconds(10))).has_value());
  giver.join();
  out.clear();
  EXPECT_EQ(servers_->Stats().front().connections, 3u);
}

TEST_F(ServersTest, ABrokenConnectionIsNotHandedOutAgain) {
  MakeTheSchema();
  ASSERT_TRUE(Start().has_value());
  std::string pid;
  {
    const auto lease = servers_->Primary(Use::kOther, In(seconds(10)));
    ASSERT_TRUE(lease.has_value()) << lease.error();
    pid = (*lease)->Simple("SELECT pg_backend_pid()", In(seconds(10)))->Text(0, 0);
  }
  EXPECT_EQ(Order(primary(), "SELECT pg_terminate_backend(" + pid + ", 10000)"), "t");
  const auto again = servers_->Primary(Use::kOther, In(seconds(10)));
  ASSERT_TRUE(again.has_value()) << again.error();
  EXPECT_NE((*again)->Simple("SELECT pg_backend_pid()", In(seconds(10)))->Text(0, 0), pid);
}

TEST_F(ServersTest, WhatRefusesWritesIsReportedAndNotKept) {
  MakeTheSchema();
  ASSERT_TRUE(Start().has_value());
  auto lease = servers_->Primary(Use::kOther, In(seconds(10)));
  ASSERT_TRUE(lease.has_value()) << lease.error();
  const auto fenced = (*lease)->Simple("DO $$ BEGIN RAISE SQLSTATE 'KV001'; END $$", In(seconds(10)));
  ASSERT_FALSE(fenced.has_value());
  EXPECT_EQ(fenced.error().error.code(), ErrorCode::kUnavailable);
  EXPECT_TRUE((*lease)->misplaced());
  EXPECT_EQ(servers_->Stats().front().connections, 1u);
  *lease = {};
  EXPECT_EQ(servers_->Stats().front().connections, 0u);
}

TEST_F(ServersTest, OneThatHangsDelaysNobody) {
  MakeTheSchema();
  const Listener silent;
  options_.servers.insert(options_.servers.begin(), {silent.target(), UnusedTarget()});
  auto began = steady_clock::now();
  const auto found = Start();
  ASSERT_TRUE(found.has_value()) << found.error();
  EXPECT_LT(steady_clock::now() - began, seconds(10));
  EXPECT_FALSE(found->all_answer);
  EXPECT_TRUE(Eventually([&] { return servers_->Stats()[0].breaker_open && servers_->Stats()[1].breaker_open; }));
  began = steady_clock::now();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(servers_->Primary(Use::kWriting, In(seconds(10))).has_value());
    ASSERT_TRUE(servers_->Replica(Use::kReading, {}, In(seconds(10))).has_value());
  }
  EXPECT_LT(steady_clock::now() - began, seconds(8));
  EXPECT_THAT(servers_->Stats()[0].problem, HasSubstr("does not answer in time"));
}

TEST_F(ServersTest, AnUnreachableListIsRefused) {
  primary_ = primary();
  options_.servers = {UnusedTarget(), "host=127.0.0.1 port=2 user=kvarts dbname=kvarts"};
  Refused("127.0.0.1:2 unavailable: there is no connection to the server");
}

TEST_F(ServersTest, AListThatLibpqCannotReadIsRefused) {
  for (const char* const target : {"hots=127.0.0.1", "host=a,b", "no parameters at all"}) {
    options_.servers = {target};
    const auto opened = OpenPostgresEngine(options_);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code(), ErrorCode::kInvalidArgument) << opened.error();
  }
}

TEST_F(ServersTest, ReplicasAloneAreRefused) {
  primary_ = primary();
  options_.servers.erase(options_.servers.begin());
  Refused("is a replica");
}

TEST_F(ServersTest, AnEmptyDatabaseIsBegunOnlyWhenAllAnswer) {
  primary_ = primary();
  options_.servers.push_back(UnusedTarget());
  Refused("only when all servers answer");
  Refused("127.0.0.1:1 unavailable: there is no connection to the server");
}

TEST_F(ServersTest, ADatabaseWithoutAStoreIsLeftSoUnlessOneIsToBeMade) {
  primary_ = primary();
  options_.create_if_missing = false;
  Refused("there is no store in the database", ErrorCode::kNotFound);
  options_.servers.push_back(UnusedTarget());
  Refused("there is no store in the database", ErrorCode::kNotFound);
  EXPECT_EQ(Order(primary(), "SELECT to_regnamespace('kvarts') IS NULL"), "t");
}

TEST_F(ServersTest, AServerThatIsTooOldIsRefused) {
  primary_ = primary();
  const Listener old(Greeting("13.9"));
  options_.servers = {old.target()};
  Refused("the server is too old (version=130009, oldest=140000)");
}

TEST_F(ServersTest, AnotherClustersDataAreRefused) {
  primary_ = primary();
  const test::LocalCluster other(0, "--set fsync=off", test::LocalCluster::Origin::kNew);
  options_.servers.push_back(other.targets().front());
  Refused("the servers are not of one cluster");
  EXPECT_EQ(Order(other.targets().front(), "SELECT to_regclass('kvarts.meta') IS NULL"), "t");
}

TEST_F(ServersTest, AReplicaThatNamesAnotherDatabaseIsRefused) {
  primary_ = primary();
  options_.servers[1] += " dbname=postgres";
  // Nothing is begun with such a list, and what there is goes on without that server. (A replica may need a moment to
  // hear of the database.)
  Refused("the entry of the server names another database than the primary's (database=postgres, expected=" + name_,
          ErrorCode::kUnavailable, seconds(10));
  EXPECT_EQ(Order(primary(), "SELECT to_regnamespace('kvarts') IS NULL"), "t");
  MakeTheSchema();
  ASSERT_TRUE(Start().has_value());
  EXPECT_TRUE(Eventually([&] { return servers_->Stats()[1].problem.contains("names another database"); }));
  EXPECT_EQ(servers_->Stats()[1].role, ServerRole::kRefused);
  EXPECT_TRUE(Eventually([&] { return servers_->Stats()[2].role == ServerRole::kReplica; }));
}

TEST_F(ServersTest, ASchemaFromTheFutureIsRefused) {
  primary_ = primary();
  EXPECT_EQ(Order(primary(),
                  "CREATE SCHEMA kvarts; CREATE TABLE kvarts.meta (name text, value text);"
                  "INSERT INTO kvarts.meta VALUES ('schema_version', '1000000')"),
            "");
  Refused("the database has a schema of a later Kvarts (schema_version=1000000");
  EXPECT_EQ(Order(primary(), "SELECT count(*) FROM kvarts.meta"), "1");
}

TEST_F(ServersTest, SomebodyElsesSchemaIsRefused) {
  primary_ = primary();
  EXPECT_EQ(Order(primary(), "CREATE SCHEMA kvarts; CREATE TABLE kvarts.meta (name text, value text)"), "");
  Refused("is not one of ours");
}

TEST_F(ServersTest, MissingRightsAreRefused) {
  primary_ = primary();
  const std::string user = name_ + "_user";
  EXPECT_EQ(Order(primary(), "CREATE ROLE " + user + " LOGIN PASSWORD 'open'"), "");
  for (std::string& target : options_.servers) target += " user=" + user + " password=open";
  // The replicas may need a moment to hear of the user.
  Refused("may not do this", ErrorCode::kUnavailable, seconds(10));
  options_.servers = cluster_->targets();
  for (std::string& target : options_.servers) target += " dbname=" + name_ + " user=" + user + " password=wrong";
  Refused("password authentication failed");
  EXPECT_EQ(Order(primary_, "DROP ROLE " + user), "");
}

}  // namespace
}  // namespace kvarts::postgres
