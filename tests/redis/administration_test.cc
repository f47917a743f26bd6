// INFO, CONFIG, SLOWLOG, LATENCY, MEMORY and the rest of what is for who watches and runs a server, by the real binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "redis/commands.h"
#include "support/eventually.h"
#include "support/resp_client.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class AdministrationTest : public ::testing::Test {
 protected:
  std::string Call(const std::vector<std::string>& words) { return client_.Call(words); }

  ServerProcess server_{{"--redis-listen", "127.0.0.1:0", "--redis-debug-commands", "true"}};
  RespClient client_{server_.address()};
};

TEST_F(AdministrationTest, InfoTellsWhatIsSo) {
  Call({"SET", "a", "1"});
  Call({"GET", "a", "b"});
  Call({"LPUSH2", "a"});
  Call({"HGET", "a", "b"});
  Call({"SELECT", "3"});
  Call({"MSET", "a", "1", "b", "2"});
  const std::string all = Call({"INFO"});
  EXPECT_THAT(all, AllOf(HasSubstr("# Server"), HasSubstr("redis_version:7.0.15"), HasSubstr("connected_clients:1"),
                         ContainsRegex("used_memory:[1-9]"), HasSubstr("aof_enabled:1"), HasSubstr("role:master"),
                         ContainsRegex("used_cpu_user:[0-9]+\\.[0-9]+"), HasSubstr("cluster_enabled:0")));
  EXPECT_THAT(all, AllOf(HasSubstr("db0:keys=1,expires=0,avg_ttl=0"), HasSubstr("db3:keys=2,"),
                         HasSubstr("errorstat_ERR:count=2"), HasSubstr("errorstat_WRONGTYPE:count=1")));
  EXPECT_THAT(all, Not(HasSubstr("# Commandstats")));
  EXPECT_THAT(
      Call({"INFO", "commandstats"}),
      AllOf(ContainsRegex("cmdstat_set:calls=1,usec=[0-9]+,usec_per_call=[0-9.]+,rejected_calls=0,"
                          "failed_calls=0"),
            ContainsRegex("cmdstat_get:calls=0,.*rejected_calls=1,failed_calls=0"),
            ContainsRegex("cmdstat_hget:calls=1,.*rejected_calls=0,failed_calls=1"), Not(HasSubstr("# Server"))));
  EXPECT_THAT(Call({"INFO", "keyspace", "latencystats"}),
              AllOf(HasSubstr("# Keyspace"), HasSubstr("latency_percentiles_usec_set:p50=")));
  EXPECT_THAT(Call({"INFO", "everything"}), AllOf(HasSubstr("# Commandstats"), HasSubstr("# Modules")));
  EXPECT_EQ(Call({"INFO", "nothing"}), "\"\"");
  EXPECT_EQ(Call({"CONFIG", "RESETSTAT"}), "OK");
  EXPECT_THAT(Call({"INFO", "all"}), Not(HasSubstr("cmdstat_hget")));
}

TEST_F(AdministrationTest, ParametersAreSetTogetherOrNotAtAll) {
  EXPECT_EQ(Call({"CONFIG", "SET", "timeout", "17", "slowlog-max-len", "5", "proto-max-bulk-len", "2mb"}), "OK");
  EXPECT_EQ(Call({"CONFIG", "GET", "timeout", "slowlog-max-*"}), R"(["slowlog-max-len", "5", "timeout", "17"])");
  EXPECT_THAT(Call({"CONFIG", "SET", "timeout", "18", "slowlog-max-len", "x"}), HasSubstr("'slowlog-max-len'"));
  EXPECT_EQ(Call({"CONFIG", "GET", "timeout"}), R"(["timeout", "17"])");
  EXPECT_EQ(Call({"CONFIG", "GET", "PROTO-*"}), R"(["proto-max-bulk-len", "2097152"])");
  EXPECT_EQ(Call({"CONFIG", "SET", "save", "", "appendonly", "yes"}), "OK");
  EXPECT_THAT(Call({"CONFIG", "SET", "maxmemory", "100mb"}), StartsWith("(error) \"ERR CONFIG SET failed"));
  EXPECT_THAT(Call({"CONFIG", "REWRITE"}), StartsWith("(error)"));
  EXPECT_EQ(Call({"CONFIG", "SET", "maxclients", "1"}), "OK");
  RespClient second(server_.address());
  second.Send({"PING"});
  EXPECT_THAT(second.Read(), HasSubstr("max number of clients"));
}

TEST_F(AdministrationTest, DurabilityIsOneForAllOrOfAConnection) {
  EXPECT_EQ(Call({"CONFIG", "GET", "appendfsync"}), R"(["appendfsync", "always"])");
  EXPECT_EQ(Call({"CONFIG", "SET", "appendfsync", "everysec"}), "OK");
  EXPECT_EQ(Call({"KVARTS", "DURABILITY"}), "\"interval\"");
  EXPECT_EQ(Call({"KVARTS", "DURABILITY", "none"}), "OK");
  EXPECT_EQ(Call({"SET", "a", "1"}), "OK");
  EXPECT_EQ(Call({"KVARTS", "DURABILITY"}), "\"none\"");
  EXPECT_EQ(RespClient(server_.address()).Call({"KVARTS", "DURABILITY"}), "\"interval\"");
  EXPECT_THAT(Call({"KVARTS", "DURABILITY", "quorum"}), StartsWith("(error)"));
  EXPECT_THAT(Call({"KVARTS", "DURABILITY", "much"}), StartsWith("(error)"));
  EXPECT_EQ(Call({"WAITAOF", "1", "0", "0"}), "[(integer) 1, (integer) 0]");
  EXPECT_EQ(Call({"KVARTS", "DURABILITY", "default"}), "OK");
  EXPECT_EQ(Call({"KVARTS", "DURABILITY"}), "\"interval\"");
  EXPECT_EQ(Call({"RESET"}), "RESET");
}

TEST_F(AdministrationTest, SavesAreTimed) {
  const std::string before = Call({"LASTSAVE"});
  EXPECT_EQ(Call({"SAVE"}), "OK");
  EXPECT_EQ(Call({"BGSAVE"}), "Background saving started");
  EXPECT_TRUE(Eventually([&] { return Call({"INFO", "persistence"}).contains("rdb_saves:2"); }));
  EXPECT_GE(Call({"LASTSAVE"}), before);
  EXPECT_EQ(Call({"MULTI"}), "OK");
  EXPECT_THAT(Call({"SAVE"}), HasSubstr("not allowed inside a transaction"));
  Call({"DISCARD"});
  Call({"MULTI"});
  Call({"SET", "a", "1"});
  Call({"WAITAOF", "1", "0", "0"});
  Call({"GET", "a"});
  EXPECT_EQ(Call({"EXEC"}), "[OK, [(integer) 1, (integer) 0], \"1\"]");
}

TEST_F(AdministrationTest, WhatIsSlowIsKept) {
  EXPECT_EQ(Call({"CONFIG", "SET", "slowlog-log-slower-than", "0", "slowlog-max-len", "2"}), "OK");
  Call({"CLIENT", "SETNAME", "me"});
  Call({"SLOWLOG", "RESET"});
  Call({"SET", "a", std::string(200, 'x')});
  Call({"GET", "a"});
  EXPECT_EQ(Call({"SLOWLOG", "LEN"}), "(integer) 2");
  EXPECT_EQ(Call({"CONFIG", "SET", "slowlog-log-slower-than", "1000000", "latency-monitor-threshold", "5"}), "OK");
  EXPECT_THAT(Call({"SLOWLOG", "GET", "-1"}), ContainsRegex("\"127\\.0\\.0\\.1:[0-9]+\", \"me\""));
  EXPECT_EQ(Call({"DEBUG", "SLEEP", "0.02"}), "OK");
  EXPECT_THAT(Call({"LATENCY", "LATEST"}), StartsWith("[[\"command\", "));
  EXPECT_THAT(Call({"LATENCY", "HISTORY", "command"}), StartsWith("[[(integer) "));
  EXPECT_THAT(Call({"LATENCY", "GRAPH", "command"}), HasSubstr("high"));
  EXPECT_THAT(Call({"LATENCY", "DOCTOR"}), HasSubstr("on average"));
  EXPECT_EQ(Call({"LATENCY", "RESET", "command", "none"}), "(integer) 1");
  EXPECT_THAT(Call({"LATENCY", "HISTOGRAM", "set"}), HasSubstr("\"calls\", (integer) 1"));
  EXPECT_EQ(Call({"LATENCY", "HISTOGRAM", "none"}), "[]");
}

TEST_F(AdministrationTest, KeysByChance) {
  EXPECT_EQ(Call({"RANDOMKEY"}), "(nil)");
  std::set<std::string> keys;
  for (int i = 0; i < 300; ++i) {
    const std::string key = (i % 3 == 0 ? "user:" : i % 3 == 1 ? "{tag}" : "") + std::to_string(i);
    Call({"SET", key, "x"});
    keys.insert('"' + key + '"');
  }
  std::set<std::string> seen;
  for (int i = 0; i < 20'000 && seen.size() < keys.size(); ++i) seen.insert(Call({"RANDOMKEY"}));
  EXPECT_EQ(seen, keys);
}

TEST_F(AdministrationTest, MemoryAndObjects) {
  Call({"MSET", "number", "12", "text", "abc", "long", std::string(100, 'x')});
  Call({"HSET", "hash", "a", "1"});
  Call({"HSET", "large", "a", std::string(100, 'x')});
  Call({"SADD", "integers", "1", "2"});
  Call({"SADD", "words", "a"});
  const auto encoding = [&](const char* key) { return Call({"OBJECT", "ENCODING", key}); };
  EXPECT_EQ(encoding("number"), "\"int\"");
  EXPECT_EQ(encoding("text"), "\"embstr\"");
  EXPECT_EQ(encoding("long"), "\"raw\"");
  EXPECT_EQ(encoding("hash"), "\"listpack\"");
  EXPECT_EQ(encoding("large"), "\"hashtable\"");
  EXPECT_EQ(encoding("integers"), "\"intset\"");
  EXPECT_EQ(encoding("words"), "\"hashtable\"");
  EXPECT_EQ(encoding("nothing"), "(nil)");
  EXPECT_EQ(Call({"OBJECT", "REFCOUNT", "text"}), "(integer) 1");
  EXPECT_THAT(Call({"MEMORY", "USAGE", "large", "SAMPLES", "0"}), ContainsRegex("\\(integer\\) [12][0-9][0-9]"));
  EXPECT_THAT(Call({"MEMORY", "STATS"}), HasSubstr("\"keys.count\", (integer) 7"));
  EXPECT_EQ(Call({"MEMORY", "PURGE"}), "OK");
  EXPECT_THAT(Call({"MEMORY", "DOCTOR"}), HasSubstr("MiB"));
  EXPECT_THAT(Call({"DEBUG", "OBJECT", "text"}), HasSubstr("encoding:embstr"));
}

TEST_F(AdministrationTest, APortOfItsOwnServesNothingElse) {
  RespClient own(server_.address(1));
  // A line that HTTP would take.
  own.SendRaw("GET /a\r\n");
  EXPECT_EQ(own.Read(), "(nil)");
  EXPECT_EQ(own.Call({"PING"}), "PONG");
}

TEST_F(AdministrationTest, ShutdownIsAnOrderlyEnd) {
  Call({"SET", "a", "1"});
  EXPECT_THAT(Call({"SHUTDOWN", "NONE"}), HasSubstr("syntax error"));
  EXPECT_THAT(Call({"SHUTDOWN", "ABORT"}), HasSubstr("No shutdown in progress"));
  client_.Send({"SHUTDOWN", "NOSAVE"});
  EXPECT_TRUE(client_.AtEnd());
  EXPECT_EQ(server_.Wait(), 0);
}

TEST(DebugTest, IsRefusedUnlessItIsAllowed) {
  const ServerProcess server({"--engine", "memory"});
  EXPECT_THAT(RespClient(server.address()).Call({"DEBUG", "SLEEP", "0"}), HasSubstr("DEBUG command not allowed"));
  EXPECT_THAT(RespClient(server.address()).Call({"WAITAOF", "1", "0", "0"}), StartsWith("(error)"));
}

}  // namespace
}  // namespace kvarts::test
