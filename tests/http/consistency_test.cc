// Consistency as HTTP has it: what is asked for by header, query and cookie, and what writes answer.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "http/http_fixture.h"
#include "support/eventually.h"
#include "support/local_cluster.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

class HttpConsistencyTest : public HttpTest {};

TEST_P(HttpConsistencyTest, IsSaidPerRequest) {
  ASSERT_EQ(PutRaw("/keys/consistency/a", "1").status, 200);
  for (const char* consistency : {"eventual", "session", "strong"}) {
    const HttpHeaders asks = {{"Kvarts-Consistency", consistency}};
    EXPECT_LT(Get("/keys/consistency/a", asks).status, 500) << consistency;
    EXPECT_EQ(Get("/keys?prefix=consistency/", asks).status, 200) << consistency;
    const HttpHeaders asks_json = {{"Kvarts-Consistency", consistency}, {"Content-Type", "application/json"}};
    EXPECT_EQ(Call("POST", "/keys/get", asks_json, R"({"keys":["consistency/a"]})").status, 200) << consistency;
  }
  for (const char* target : {"/keys/consistency/a?consistent=true", "/keys/consistency/a?consistent",
                             "/keys/consistency/a?consistent=false", "/keys?prefix=consistency/&consistent=true"}) {
    EXPECT_EQ(Get(target).status, 200) << target;
    EXPECT_EQ(Get(target, {{"Kvarts-Consistency", "strong"}}).status, 200) << target;
  }
  EXPECT_EQ(Call("HEAD", "/keys/consistency/a?consistent=true").status, 200);
}

TEST_P(HttpConsistencyTest, WhatIsNoConsistencyIsRefused) {
  PutRaw("/keys/consistency/b", "1");
  const auto refused = [&](const std::string& target, const HttpHeaders& headers) {
    return IsProblem(Get(target, headers), 400, "invalid_argument");
  };
  for (const char* consistency : {"", "Strong", "linearizable", "strong,eventual"}) {
    EXPECT_TRUE(refused("/keys/consistency/b", {{"Kvarts-Consistency", consistency}})) << consistency;
    EXPECT_TRUE(refused("/keys?prefix=consistency/", {{"Kvarts-Consistency", consistency}})) << consistency;
  }
  EXPECT_TRUE(refused("/keys/consistency/b?consistent=perhaps", {}));
  EXPECT_TRUE(refused("/keys/consistency/b?consistent=true", {{"Kvarts-Consistency", "eventual"}}));
  for (const char* token : {"", "1", "00000001-00000000030001480", "00000000-0000000003000148"}) {
    EXPECT_TRUE(refused("/keys/consistency/b", {{"Kvarts-Consistency", "session"}, {"Kvarts-Session", token}}))
        << token;
    const std::string cookie = std::string("other=1; kvarts_session=") + token;
    EXPECT_TRUE(refused("/keys/consistency/b", {{"Kvarts-Consistency", "session"}, {"Cookie", cookie}})) << token;
  }
  // Who does not ask for it is not asked for a token.
  EXPECT_EQ(
      Get("/keys/consistency/b?consistent=true", {{"Kvarts-Session", "1"}, {"Cookie", "kvarts_session=1"}}).status,
      200);
}

// Writes and reads what it wrote; how many of the reads showed something else. One that forgets does not bring its
// token.
int StaleReads(HttpClient& client, bool forgets = false) {
  int stale = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string value = std::to_string(i);
    const HttpAnswer written = client.Call("PUT", "/keys/consistency/c", {}, value);
    EXPECT_EQ(written.status, 200);
    HttpHeaders asks = {{"Kvarts-Consistency", "session"}, {"Accept", "application/octet-stream"}};
    const std::string token = written.Header("Kvarts-Session");
    const std::string cookie = written.Header("Set-Cookie");
    EXPECT_EQ(token.empty(), cookie.empty());
    if (!token.empty() && !forgets) {
      EXPECT_EQ(cookie, "kvarts_session=" + token + "; Path=/; HttpOnly; SameSite=Lax");
      if (i % 2 == 0) asks.emplace_back("Kvarts-Session", token);
      if (i % 2 == 1) asks.emplace_back("Cookie", "a=b; kvarts_session=" + token);
    }
    if (client.Call("GET", "/keys/consistency/c", asks).body != value) ++stale;
  }
  return stale;
}

TEST_P(HttpConsistencyTest, ASessionReadsWhatItWrote) {
  HttpClient client = Connect();
  EXPECT_EQ(StaleReads(client), 0);
}

TEST_P(HttpConsistencyTest, OnlyServersWithReplicasGiveTokens) {
  EXPECT_EQ(PutRaw("/keys/consistency/d", "1").Header("Kvarts-Session"), "");
  EXPECT_EQ(Get("/keys/consistency/d").Header("Kvarts-Session"), "");
}

KVARTS_ON_EVERY_ENGINE(HttpConsistencyTest);

// On the primary and the replicas that are there for all tests, in a database of its own.
class HttpReplicasTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_ = LocalCluster::Shared();
    if (cluster_ == nullptr) GTEST_SKIP() << "KVARTS_TEST_CLUSTER is not set";
    std::string servers;
    for (const std::string& target : cluster_->MakeDatabase(name_)) servers += '"' + target + "\",\n";
    std::ofstream(files_ / "shards.toml") << "[shard.0]\nservers = [\n" << servers << "]\n";
  }
  // The servers have ended.
  void TearDown() override {
    if (cluster_ != nullptr) cluster_->DropDatabase(name_);
  }
  std::unique_ptr<ServerProcess> Serve(const std::string& consistency) const {
    const std::vector<std::string> words = {
        "--engine", "postgres", "--shards", files_ / "shards.toml", "--consistency-default", consistency};
    return std::make_unique<ServerProcess>(words);
  }

 private:
  const std::string name_ = "http_replicas_" + std::to_string(getpid());
  const TempDir files_;
  std::unique_ptr<LocalCluster> cluster_;
};

TEST_F(HttpReplicasTest, ASessionReadsWhatItWroteThroughAnyProcess) {
  const auto one = Serve("session");
  const auto other = Serve("session");
  HttpClient client(one->address());
  EXPECT_EQ(StaleReads(client), 0);
  const JsonValue stats = JsonValue::Parse(client.Call("GET", "/stats").body);
  EXPECT_EQ(stats["server"]["replicas"].raw(), "true");
  EXPECT_EQ(stats["server"]["strongest"].text(), "applied");
  HttpClient elsewhere(other->address());
  for (int i = 0; i < 100; ++i) {
    const std::string value = std::to_string(i);
    const HttpAnswer written = client.Call("PUT", "/keys/consistency/e", {}, value);
    ASSERT_TRUE(written.Has("Kvarts-Session"));
    const HttpHeaders carries = {{"Kvarts-Session", written.Header("Kvarts-Session")},
                                 {"Accept", "application/octet-stream"}};
    EXPECT_EQ(elsewhere.Call("GET", "/keys/consistency/e", carries).body, value);
    const HttpAnswer page = elsewhere.Call("GET", "/keys?prefix=consistency/e", {carries.front()});
    EXPECT_EQ(JsonValue::Parse(page.body)["items"].at(0)["value"].text(), value) << page.body;
  }
}

// On a cluster of its own, whose replicas are kept from following.
TEST(HttpLateReplicasTest, WhatASessionWroteIsSeenAndWithoutItsTokenWouldNotBe) {
  if (LocalCluster::Shared() == nullptr) GTEST_SKIP() << "KVARTS_TEST_CLUSTER is not set";
  const LocalCluster cluster(2);
  const ServerProcess server({"--engine", "postgres", "--shards", cluster.dir() + "/shards.toml",
                              "--consistency-max-lag", "10m", "--consistency-session-wait", "5ms"});
  HttpClient client(server.address());
  ASSERT_EQ(client.Call("PUT", "/keys/consistency/c", {{"Kvarts-Durability", "applied"}}, "first").status, 200);
  // The server has to hear first that there are replicas with something on them.
  ASSERT_TRUE(Eventually([&] {
    client.Call("GET", "/keys/consistency/c", {{"Kvarts-Consistency", "eventual"}});
    return !client.Call("GET", "/metrics").body.contains("kvarts_replica_reads_total{outcome=\"replica\"} 0\n");
  }));
  for (const size_t replica : {1, 2}) {
    const std::string pause = "psql -XAtq -d \"" + cluster.targets()[replica] + "\" -c 'SELECT pg_wal_replay_pause()'";
    ASSERT_EQ(RunShell(pause).code, 0);
  }
  EXPECT_EQ(StaleReads(client), 0);
  EXPECT_GT(StaleReads(client, true), 0);
}

TEST_F(HttpReplicasTest, AStrongReadCostsMore) {
  const auto server = Serve("strong");
  HttpClient client(server->address());
  const auto made = [&](const HttpHeaders& headers, const std::string& body) {
    const HttpAnswer answer = client.Call("POST", "/tokens", headers, body);
    EXPECT_EQ(answer.status, 201) << answer.body;
    return std::pair<std::string, std::string>("Authorization",
                                               "Bearer " + JsonValue::Parse(answer.body)["token"].text());
  };
  const auto admin = made({}, R"({"name":"operator","scopes":["admin"]})");
  ASSERT_EQ(client.Call("PUT", "/keys/price", {admin}, "x").status, 200);
  // So many reads are let in at once.
  const auto admitted = [&](const char* consistency) {
    const auto token = made({admin}, R"({"name":"reader","scopes":["read"],"rate":1,"burst":120})");
    int reads = 0;
    while (client.Call("GET", "/keys/price", {token, {"Kvarts-Consistency", consistency}}).status != 429) ++reads;
    return reads;
  };
  // One for itself and one for the key, or two; what comes in meanwhile is little.
  const int strong = admitted("strong");
  EXPECT_GE(strong, 40);
  EXPECT_LE(strong, 46);
  const int eventual = admitted("eventual");
  EXPECT_GE(eventual, 60);
  EXPECT_LE(eventual, 68);
}

}  // namespace
}  // namespace kvarts::test
