// CLIENT: what is told of connections, and what is done to them, as with redis-server; and with many at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <memory>
#include <sstream>
#include <thread>

#include "redis/pubsub_scene.h"
#include "redis/redis_server.h"
#include "support/eventually.h"
#include "support/on_every_engine.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;
using Line = std::vector<std::pair<std::string, std::string>>;

// What CLIENT LIST tells, line by line, as fields in their order.
std::vector<Line> LinesOf(const std::string& answer) {
  std::vector<Line> lines;
  std::string text = answer.substr(answer.find('"') + 1);
  text.pop_back();
  for (size_t at = text.find("\\x0a"); at != std::string::npos; at = text.find("\\x0a")) {
    std::istringstream words(text.substr(0, at));
    Line& line = lines.emplace_back();
    for (std::string word; words >> word;) {
      const size_t equal = word.find('=');
      line.emplace_back(word.substr(0, equal), word.substr(equal + 1));
    }
    text.erase(0, at + 4);
  }
  return lines;
}

std::string FieldOf(const Line& line, const std::string& name) {
  for (const auto& [field, value] : line) {
    if (field == name) return value;
  }
  return "(none)";
}

// What is not of the moment or the server.
std::string Lasting(const Line& line) {
  std::string text;
  for (const char* field : {"name", "flags", "db", "sub", "psub", "ssub", "multi", "cmd", "user", "redir", "resp"}) {
    text.append(" ").append(field).append("=").append(FieldOf(line, field));
  }
  return text;
}

class ClientsAdminTest : public ::testing::Test {
 protected:
  template <class Play>
  void Compare(const Play& play) {
    const RedisServer redis;
    PubSubScene theirs(redis.address());
    const auto expected = play(theirs);
    PubSubScene ours(server_.address());
    EXPECT_EQ(play(ours), expected);
    EXPECT_EQ(ours.lines(), theirs.lines());
  }
  static std::string IdOf(PubSubScene& scene, const std::string& name) {
    return scene.Of(name).Call({"CLIENT", "ID"}).substr(std::string("(integer) ").size());
  }
  static void AwaitBlocked(PubSubScene& scene, int count) {
    const std::string wanted = "blocked_clients:" + std::to_string(count) + "\\x0d";
    EXPECT_TRUE(Eventually([&] { return scene.Of("looks").Call({"INFO", "clients"}).contains(wanted); })) << wanted;
  }
  std::string Call(const Words& words) { return client_.Call(words); }

  ServerProcess server_{{"--engine", "memory", "--durability", "none", "--loops", "2"}};
  RespClient client_{server_.address()};
};

TEST_F(ClientsAdminTest, ListTellsOfAllAlike) {
  const auto play = [](PubSubScene& scene) {
    for (const char* name : {"listens", "queues", "waits", "3", "rests", "asks"}) {
      scene.Do(name, {"CLIENT", "SETNAME", name});
    }
    scene.Do("listens", {"SUBSCRIBE", "a", "b"}, 2);
    scene.Do("listens", {"PSUBSCRIBE", "a*"});
    scene.Do("listens", {"SSUBSCRIBE", "s"});
    scene.Do("queues", {"SELECT", "3"});
    scene.Do("queues", {"MULTI"});
    scene.Do("queues", {"SET", "k", "v"});
    scene.Do("queues", {"OBJECT", "ENCODING", "k"});
    scene.Of("waits").Send({"BLPOP", "nothing", "0"});
    AwaitBlocked(scene, 1);
    scene.Of("3").Call({"HELLO", "3"});
    scene.Do("3", {"NOSUCH"});
    scene.Do("rests", {"CLIENT", "NO-EVICT", "on"});
    std::map<std::string, std::string> told;
    std::vector<std::string> names;
    for (const Line& line : LinesOf(scene.Of("asks").Call({"CLIENT", "LIST"}))) {
      if (FieldOf(line, "name").empty()) continue;
      told[FieldOf(line, "name")] = Lasting(line);
      names.clear();
      for (const auto& [field, value] : line) names.push_back(field);
    }
    EXPECT_EQ(told.size(), 6U);
    told["fields"] = testing::PrintToString(names);
    return told;
  };
  Compare(play);
}

TEST_F(ClientsAdminTest, ListTellsOfThoseAskedFor) {
  Compare([](PubSubScene& scene) {
    std::map<std::string, std::string> ids;
    for (const char* name : {"a", "b", "c"}) {
      scene.Do(name, {"CLIENT", "SETNAME", name});
      ids[name] = IdOf(scene, name);
    }
    scene.Do("c", {"SUBSCRIBE", "x"});
    std::vector<std::string> told;
    const auto ask = [&](const Words& words) {
      Words all = {"CLIENT", "LIST"};
      all.insert(all.end(), words.begin(), words.end());
      std::string names;
      for (const Line& line : LinesOf(scene.Of("a").Call(all))) names += FieldOf(line, "name") + " ";
      told.push_back(names);
    };
    ask({"ID", ids["c"], ids["a"], "999999", ids["c"]});
    ask({"ID", ids["b"]});
    ask({"TYPE", "PubSub"});
    ask({"type", "replica"});
    ask({"TYPE", "master"});
    for (const Words& words : std::vector<Words>{{"CLIENT", "LIST", "ID"},
                                                 {"CLIENT", "LIST", "ID", "1", "x"},
                                                 {"CLIENT", "LIST", "TYPE", "none"},
                                                 {"CLIENT", "LIST", "TYPE", "normal", "normal"},
                                                 {"CLIENT", "INFO", "x"}}) {
      scene.Do("a", words);
    }
    const auto own = LinesOf(scene.Of("b").Call({"CLIENT", "INFO"}));
    EXPECT_EQ(own.size(), 1U);
    told.push_back(Lasting(own.at(0)));
    scene.Of("b").Call({"HELLO", "3"});
    EXPECT_THAT(scene.Of("b").Call({"CLIENT", "INFO"}), testing::StartsWith("(verbatim)"));
    EXPECT_THAT(scene.Of("b").Call({"CLIENT", "LIST"}), testing::StartsWith("(verbatim)"));
    return told;
  });
}

TEST_F(ClientsAdminTest, KillEndsThoseThatAreMeant) {
  Compare([](PubSubScene& scene) {
    const auto field = [&](const std::string& name, const std::string& which) {
      return FieldOf(LinesOf(scene.Of("asks").Call({"CLIENT", "LIST", "ID", IdOf(scene, name)})).at(0), which);
    };
    scene.Do("asks", {"CLIENT", "KILL", "ID", IdOf(scene, "a")});
    scene.AtEnd("a");
    scene.Do("asks", {"CLIENT", "KILL", field("b", "addr")});
    scene.AtEnd("b");
    scene.Do("asks", {"CLIENT", "KILL", "ADDR", field("c", "addr"), "TYPE", "normal", "USER", "default"});
    scene.AtEnd("c");
    scene.Do("asks", {"CLIENT", "KILL", "ADDR", field("d", "addr"), "TYPE", "pubsub"});
    scene.Do("d", {"SUBSCRIBE", "x"});
    scene.Do("asks", {"CLIENT", "KILL", "TYPE", "pubsub"});
    scene.AtEnd("d");
    scene.Do("asks", {"PUBSUB", "NUMSUB", "x"});
    scene.Do("asks", {"PUBLISH", "x", "nobody"});
    scene.Of("e").Send({"BLPOP", "nothing", "0"});
    AwaitBlocked(scene, 1);
    scene.Leave("looks");
    EXPECT_TRUE(Eventually([&] { return LinesOf(scene.Of("asks").Call({"CLIENT", "LIST"})).size() == 2; }));
    scene.Do("asks", {"CLIENT", "KILL", "TYPE", "normal"});
    scene.AtEnd("e");
    scene.Do("asks", {"RPUSH", "nothing", "is there"});
    scene.Do("asks", {"LLEN", "nothing"});
    scene.Do("f", {"MULTI"});
    scene.Do("f", {"SET", "k", "v"});
    scene.Do("asks", {"CLIENT", "KILL", "LADDR", field("asks", "laddr")});
    scene.AtEnd("f");
    scene.Do("asks", {"EXISTS", "k"});
    scene.Do("asks", {"CLIENT", "KILL", "SKIPME", "no", "TYPE", "normal"});
    scene.AtEnd("asks");
    const std::string own = FieldOf(LinesOf(scene.Of("g").Call({"CLIENT", "INFO"})).at(0), "addr");
    scene.Do("g", {"CLIENT", "KILL", own});
    scene.AtEnd("g");
    scene.Do("h", {"GET", "k"});
    return 0;
  });
}

// Redis breaks the answer off.
TEST_F(ClientsAdminTest, ATransactionThatEndsItsClientIsAnsweredAsAWhole) {
  Call({"MULTI"});
  Call({"CLIENT", "KILL", "SKIPME", "no", "TYPE", "normal"});
  Call({"SET", "k", "v"});
  EXPECT_EQ(Call({"EXEC"}), "[(integer) 1, OK]");
  EXPECT_TRUE(client_.AtEnd());
  EXPECT_EQ(RespClient(server_.address()).Call({"GET", "k"}), "\"v\"");
}

TEST_F(ClientsAdminTest, UnblockEndsAWait) {
  Compare([](PubSubScene& scene) {
    for (const char* how : {"", "TIMEOUT", "error"}) {
      const std::string id = IdOf(scene, "waits");
      scene.Of("waits").Send({"BLPOP", "nothing", "0"});
      AwaitBlocked(scene, 1);
      Words words = {"CLIENT", "UNBLOCK", id};
      if (*how != '\0') words.emplace_back(how);
      scene.Do("asks", words);
      scene.Read("waits");
      scene.Do("asks", words);
      scene.Do("waits", {"PING"});
    }
    return 0;
  });
}

TEST_F(ClientsAdminTest, APauseHoldsBackWhatWrites) {
  Compare([](PubSubScene& scene) {
    scene.Do("queues", {"MULTI"});
    scene.Do("queues", {"SET", "k", "1"});
    scene.Do("reads", {"MULTI"});
    scene.Do("reads", {"GET", "k"});
    scene.Do("asks", {"CLIENT", "PAUSE", "100000", "WRITE"});
    scene.Do("asks", {"GET", "k"});
    scene.Do("asks", {"SET", "k"});
    scene.Do("reads", {"EXEC"});
    scene.Of("queues").Send({"EXEC"});
    scene.Of("publishes").Send({"PUBLISH", "x", "m"});
    scene.Of("pops").Send({"BLPOP", "list", "0"});
    // What stands before it in the pipeline is answered, and what stands behind it waits.
    for (const Words& words : std::vector<Words>{{"GET", "k"}, {"SET", "k", "2"}, {"GET", "k"}, {"PING"}}) {
      scene.Of("writes").Send(words);
    }
    scene.Read("writes");
    AwaitBlocked(scene, 4);
    scene.Do("asks", {"CLIENT", "UNBLOCK", "0"});
    scene.Do("asks", {"GET", "k"});
    scene.Do("asks", {"CLIENT", "UNPAUSE"});
    scene.Read("queues");
    scene.Read("publishes");
    scene.Read("writes", 3);
    scene.Do("asks", {"RPUSH", "list", "v"});
    scene.Read("pops");
    return 0;
  });
}

TEST_F(ClientsAdminTest, APauseOfAllIsOverInItsTime) {
  Compare([](PubSubScene& scene) {
    const auto begin = std::chrono::steady_clock::now();
    scene.Of("other").Call({"PING"});
    scene.Do("asks", {"CLIENT", "PAUSE", "200"});
    scene.Of("other").Send({"PING"});
    scene.Do("asks", {"GET", "k"});
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(200));
    scene.Read("other");
    scene.Do("asks", {"SET", "k", "v"});
    // A longer one is not made shorter by a shorter one.
    scene.Do("asks", {"CLIENT", "PAUSE", "100000", "WRITE"});
    scene.Do("asks", {"CLIENT", "PAUSE", "0", "WRITE"});
    scene.Of("other").Send({"SET", "k", "2"});
    AwaitBlocked(scene, 1);
    scene.Do("asks", {"CLIENT", "UNPAUSE"});
    scene.Read("other");
    return 0;
  });
}

TEST_F(ClientsAdminTest, WhoWaitsInAPauseMayGoBeToldOrBeEnded) {
  PubSubScene scene(server_.address());
  Call({"CLIENT", "PAUSE", "100000", "WRITE"});
  scene.Of("told").Call({"HELLO", "3"});
  scene.Of("told").Call({"SUBSCRIBE", "x"});
  // Which a pause does not hold back.
  const std::string id = IdOf(scene, "ended");
  for (const char* name : {"told", "goes", "ended"}) scene.Of(name).Send({"SET", name, "v"});
  AwaitBlocked(scene, 3);
  scene.Leave("goes");
  AwaitBlocked(scene, 2);
  EXPECT_EQ(Call({"CLIENT", "KILL", "ID", id}), "(integer) 1");
  EXPECT_TRUE(scene.Of("ended").AtEnd());
  AwaitBlocked(scene, 1);
  EXPECT_EQ(Call({"CLIENT", "UNPAUSE"}), "OK");
  EXPECT_EQ(scene.Of("told").Read(), "OK");
  EXPECT_EQ(Call({"EXISTS", "goes", "ended", "told"}), "(integer) 1");
  Call({"CLIENT", "PAUSE", "100000", "ALL"});
  scene.Of("told").Send({"PING"});
  server_.Signal(SIGTERM);
  EXPECT_EQ(server_.Wait(), 0) << server_.Log();
  EXPECT_TRUE(scene.Of("told").AtEnd());
}

TEST_F(ClientsAdminTest, LimitsOfWhatWaitsAreSetAsInRedis) {
  Compare([](PubSubScene& scene) {
    const Words get = {"CONFIG", "GET", "client-output-buffer-limit"};
    scene.Do("asks", get);
    for (const char* value :
         {"", "normal 0 0", "normal 0 0 0 0", "none 0 0 0", "normal a 0 0", "normal 0 0 1kb", "normal -1 0 0",
          "Replica 1kb 1k 1", "pubsub 64mb 16mb 90", "normal 1mb 0 0  normal 2mb 0 0", "master 1 1 1"}) {
      scene.Do("asks", {"CONFIG", "SET", "client-output-buffer-limit", value});
      scene.Do("asks", get);
    }
    return 0;
  });
}

// CLIENT LIST from all sides, while connections come, go and are ended.
TEST_F(ClientsAdminTest, AllIsDoneAtOnce) {
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 60; ++round) {
        try {
          RespClient client(server_.address());
          EXPECT_THAT(client.Call({"CLIENT", "LIST"}), HasSubstr("id="));
          if (thread == 0) client.Call({"CLIENT", "KILL", "TYPE", "normal"});
          if (thread == 1) client.Call({"CLIENT", "PAUSE", "1", "WRITE"});
          client.Call({"SET", "k", "v"});
          client.Call({"CLIENT", "KILL", "ID", std::to_string(round), "SKIPME", "no"});
        } catch (const std::runtime_error&) {
          // It was ended by another.
        }
      }
    });
  }
  threads.clear();
  RespClient last(server_.address());
  EXPECT_TRUE(Eventually([&] { return LinesOf(last.Call({"CLIENT", "LIST"})).size() <= 2; }));
}

class ClientsAdminDataTest : public OnEngineTest {
 protected:
  void SetUp() override {
    server_ = std::make_unique<ServerProcess>(Words{"--engine", GetParam().name, "--durability", "none"});
  }
  std::unique_ptr<ServerProcess> server_;
};
KVARTS_ON_EVERY_ENGINE(ClientsAdminDataTest);

// A connection that is ended in the middle of a write: it happened, or it did not, and what was acknowledged did.
TEST_P(ClientsAdminDataTest, WhatWasAcknowledgedBeforeAKillIsThere) {
  constexpr int kKills = 20;
  std::atomic<int> acknowledged = 0;
  std::atomic<int> ended = 0;
  std::jthread writing([&] {
    while (ended < kKills) {
      try {
        RespClient client(server_->address());
        client.Call({"CLIENT", "SETNAME", "writes"});
        while (client.Call({"INCR", "n"}).starts_with("(integer)")) ++acknowledged;
      } catch (const std::runtime_error&) {
        ++ended;
      }
    }
  });
  RespClient kills(server_->address());
  for (int round = 0; ended < kKills; ++round) {
    const int before = acknowledged;
    EXPECT_TRUE(Eventually([&] { return acknowledged > before || ended >= kKills; }));
    kills.Call({"CLIENT", "KILL", "TYPE", "normal"});
  }
  writing.join();
  const int counted = std::stoi(kills.Call({"GET", "n"}).substr(1));
  EXPECT_GE(counted, acknowledged);
  EXPECT_LE(counted, acknowledged + kKills);
}

TEST_P(ClientsAdminDataTest, AfterAPauseEverythingIsCarriedOut) {
  RespClient asks(server_->address());
  ASSERT_EQ(asks.Call({"CLIENT", "PAUSE", "100000", "WRITE"}), "OK");
  std::vector<std::unique_ptr<RespClient>> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(std::make_unique<RespClient>(server_->address()));
    for (int j = 0; j < 10; ++j) clients.back()->Send({"INCR", "n"});
  }
  EXPECT_TRUE(Eventually([&] { return asks.Call({"INFO", "clients"}).contains("blocked_clients:8\\x0d"); }));
  EXPECT_EQ(asks.Call({"GET", "n"}), "(nil)");
  ASSERT_EQ(asks.Call({"CLIENT", "UNPAUSE"}), "OK");
  for (const auto& client : clients) {
    for (int j = 0; j < 10; ++j) EXPECT_THAT(client->Read(), testing::StartsWith("(integer) "));
  }
  EXPECT_EQ(asks.Call({"GET", "n"}), "\"80\"");
}

}  // namespace
}  // namespace kvarts::test
