// Keyspace notifications: the same random commands to redis-server and to Kvarts are told of in the same messages, in
// the same order; and what only Kvarts does is told of, too.
//
// KVARTS_SEED chooses other commands; KVARTS_COMMANDS how many of each.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "redis/commands.h"
#include "redis/redis_server.h"
#include "support/environment.h"
#include "support/http_client.h"
#include "support/on_every_engine.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

using Words = std::vector<std::string>;
using Lines = std::vector<std::string>;

// A server whose events are listened to.
class Listened {
 public:
  // Of ["pmessage", "__key*__:*", "__keyspace@0__:a", "set"].
  static constexpr size_t kBehindPattern = 14;

  explicit Listened(const std::string& address, const std::string& events = "KEAmn")
      : client_(address), listener_(address) {
    EXPECT_EQ(client_.Call({"CONFIG", "SET", "notify-keyspace-events", events}), "OK");
    listener_.Send({"PSUBSCRIBE", "__key*__:*"});
    listener_.Read();
  }

  RespClient& client() { return client_; }
  // What was told up to now. Of what expires by itself nobody knows when.
  Lines Told(bool expired_too = false) {
    const std::string mark = "__keymark__:" + std::to_string(++marks_);
    client_.Send({"PUBLISH", mark, ""});
    Lines lines;
    while (true) {
      const std::string line = listener_.Read();
      if (line.find(mark) != std::string::npos) break;
      const bool expired = line.find("expired") != std::string::npos;
      if (expired_too || !expired) lines.push_back(line.substr(line.find("\"__key", kBehindPattern)));
    }
    client_.Read();
    return lines;
  }
  // The next message, however long that takes.
  std::string Next() {
    const std::string line = listener_.Read();
    return line.substr(line.find("\"__key", kBehindPattern));
  }

 private:
  RespClient client_;
  RespClient listener_;
  int marks_ = 0;
};

std::string Line(const Words& words) {
  std::string line;
  for (const std::string& word : words) line.append(line.empty() ? "" : " ").append(Escaped(word));
  return line;
}

std::string Text(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text.append("  ").append(line).append("\n");
  return text;
}

class NotificationsTest : public OnEngineTest {
 protected:
  NotificationsTest() {
    if (GetParam().missing.empty()) Start({});
  }
  void Start(const Words& more) {
    Words options{"--engine", GetParam().name, "--durability", "none"};
    options.insert(options.end(), more.begin(), more.end());
    server_ = std::make_unique<ServerProcess>(options);
  }
  static std::string Key(const std::string& key, const std::string& event, int database = 0) {
    return "\"__keyspace@" + std::to_string(database) + "__:" + key + "\", \"" + event + "\"]";
  }
  static std::string Event(const std::string& key, const std::string& event, int database = 0) {
    return "\"__keyevent@" + std::to_string(database) + "__:" + event + "\", \"" + key + "\"]";
  }

  std::unique_ptr<ServerProcess> server_;
};
KVARTS_ON_EVERY_ENGINE(NotificationsTest);

TEST_P(NotificationsTest, AreTheSameAsOfRedis) {
  const uint64_t seed = FromEnvironment("KVARTS_SEED", 1);
  const uint64_t each = FromEnvironment("KVARTS_COMMANDS", LongRun() ? 3000 : GetParam().shared ? 30 : 150);
  const RedisServer redis;
  Listened theirs(redis.address());
  Listened ours(server_->address());
  // A transaction that watches may go through here and not there (differential_test.cc).
  std::vector<CommandTemplate> templates;
  std::ranges::copy_if(CommandTemplates(), std::back_inserter(templates), [](const CommandTemplate& one) {
    return one.name != "WATCH" && one.name != "CLIENT" && !one.name.ends_with("SUBSCRIBE");
  });
  CommandMaker maker(seed);
  std::map<std::string, uint64_t> told;
  Lines lately;
  for (uint64_t i = 0; i < each * templates.size(); ++i) {
    const Words words = maker.Make(maker.Choose(templates));
    lately.push_back(Line(words));
    if (lately.size() > 15) lately.erase(lately.begin());
    theirs.client().Call(words);
    ours.client().Call(words);
    const bool in_transaction = ours.client().Call({"PING"}) == "QUEUED";
    ASSERT_EQ(theirs.client().Call({"PING"}) == "QUEUED", in_transaction);
    if (in_transaction) continue;
    Lines expected = theirs.Told();
    Lines found = ours.Told();
    // Sets have no order in which what belongs to their members is looked for.
    if (words[0] == "SORT" || words[0] == "sort" || words[0] == "EXEC") {
      std::ranges::sort(expected);
      std::ranges::sort(found);
    }
    ASSERT_EQ(found, expected) << "seed " << seed << ", command " << i << ":\n" << Text(lately);
    for (const std::string& line : expected) {
      if (line.starts_with("\"__keyevent")) ++told[line.substr(0, line.find(','))];
    }
  }
  EXPECT_GT(told.size(), GetParam().shared ? 40u : 70u) << "kinds of events in two databases";
}

// What the test above is worth.
TEST_P(NotificationsTest, OneThatIsLeftOutIsFoundOut) {
  const RedisServer redis;
  Listened theirs(redis.address(), "KEA$");
  Listened ours(server_->address(), "KEglshzxetdmn");
  for (Listened* one : {&theirs, &ours}) {
    one->client().Call({"RPUSH", "a", "1"});
    one->client().Call({"SET", "a", "1"});
  }
  EXPECT_NE(ours.Told(), theirs.Told());
}

TEST_P(NotificationsTest, ClassesAreShownAsRedisShowsThem) {
  const RedisServer redis;
  RespClient theirs(redis.address());
  RespClient ours(server_->address());
  for (const char* letters : {"", "K", "E", "KE", "KEA", "An", "Am", "KEn", "Kg$", "AKEmn", "KEmn", "KEg$lshzxetd",
                              "Kd", "KEg$lshzxet", "q", "KEAq", "EK", "xzhsl$g", "AA"}) {
    for (const Words& words : std::vector<Words>{{"CONFIG", "SET", "notify-keyspace-events", letters},
                                                 {"CONFIG", "GET", "notify-keyspace-events"}}) {
      EXPECT_EQ(ours.Call(words), theirs.Call(words)) << letters;
    }
  }
}

TEST_P(NotificationsTest, OnlyWhatIsWantedIsTold) {
  const RedisServer redis;
  for (const char* letters : {"", "K", "E", "A", "KA", "EA", "Kg", "E$", "Kl", "Es", "Kh", "Ez", "Km", "En", "KEgmn"}) {
    Lines all[2];
    int which = 0;
    for (const std::string& address : {redis.address(), server_->address()}) {
      Listened one(address, letters);
      one.client().Call({"FLUSHALL"});
      for (const Words& words : std::vector<Words>{{"SET", "s", "1"},
                                                   {"RPUSH", "l", "1"},
                                                   {"SADD", "set", "1"},
                                                   {"HSET", "h", "f", "1"},
                                                   {"ZADD", "z", "1", "m"},
                                                   {"GET", "none"},
                                                   {"LPOP", "l"},
                                                   {"RENAME", "s", "t"},
                                                   {"EXPIRE", "t", "1000"}}) {
        one.client().Call(words);
      }
      all[which++] = one.Told();
    }
    EXPECT_EQ(all[1], all[0]) << letters;
  }
}

TEST_P(NotificationsTest, WhatIsRefusedIsNotTold) {
  Listened ours(server_->address(), "KEA");
  ours.client().Call({"SET", "text", "x"});
  ours.Told();
  ours.client().Call({"RPUSH", "text", "y"});
  ours.client().Call({"INCR", "text"});
  ours.client().Call({"MULTI"});
  ours.client().Call({"SET", "a", "1"});
  ours.client().Call({"DISCARD"});
  RespClient other(server_->address());
  ours.client().Call({"WATCH", "a"});
  ours.client().Call({"MULTI"});
  ours.client().Call({"SET", "b", "1"});
  other.Call({"SET", "a", "2"});
  EXPECT_EQ(ours.client().Call({"EXEC"}), "(nil array)");
  EXPECT_EQ(ours.Told(), (Lines{Key("a", "set"), Event("a", "set")}));
}

// The runs that lose the race tell nothing: there are as many events as increments, in the order of what they made.
TEST_P(NotificationsTest, EachIsToldOnceInTheOrderOfCommits) {
  constexpr int kClients = 4;
  constexpr int kEach = 100;
  Listened ours(server_->address(), "KEA");
  {
    std::vector<std::jthread> clients;
    for (int i = 0; i < kClients; ++i) {
      clients.emplace_back([this, i] {
        RespClient client(server_->address());
        for (int n = 0; n < kEach; ++n) {
          client.Call({"MULTI"});
          client.Call({"INCR", "n"});
          client.Call({"RPUSH", "list", std::to_string(i)});
          client.Call({"EXEC"});
        }
      });
    }
  }
  const Lines told = ours.Told();
  ASSERT_EQ(told.size(), 4u * kClients * kEach);
  // Those of one transaction stay together.
  for (size_t i = 0; i < told.size(); i += 4) {
    EXPECT_EQ((Lines{told.begin() + static_cast<ptrdiff_t>(i), told.begin() + static_cast<ptrdiff_t>(i) + 4}),
              (Lines{Key("n", "incrby"), Event("n", "incrby"), Key("list", "rpush"), Event("list", "rpush")}));
  }
}

TEST_P(NotificationsTest, WhoWaitsIsToldOfBehindWhatServesThem) {
  if (GetParam().shared) GTEST_SKIP() << "several commits are decided at once on this engine";
  const RedisServer redis;
  Lines all[2];
  int which = 0;
  for (const std::string& address : {redis.address(), server_->address()}) {
    Listened one(address, "KEAn");
    RespClient waits(address);
    waits.Send({"BLPOP", "k", "0"});
    RespClient moves(address);
    moves.Send({"BLMOVE", "k", "to", "LEFT", "RIGHT", "0"});
    while (one.client().Call({"INFO", "clients"}).find("blocked_clients:2") == std::string::npos) {
    }
    one.client().Call({"RPUSH", "k", "a", "b"});
    waits.Read();
    moves.Read();
    all[which++] = one.Told();
  }
  EXPECT_EQ(all[1], all[0]);
}

TEST_P(NotificationsTest, TheJobTellsWhatHasExpired) {
  Start({"--expiry-interval", "20ms"});
  Listened ours(server_->address(), "Exh");
  ours.client().Call({"SELECT", "3"});
  ours.client().Call({"SET", "a", "1", "PX", "30"});
  EXPECT_EQ(ours.Next(), Event("a", "expired", 3));
  ours.client().Call({"HSET", "h", "f", "1", "g", "2"});
  EXPECT_EQ(ours.Next(), Event("h", "hset", 3));
  ours.client().Call({"HPEXPIRE", "h", "30", "FIELDS", "1", "f"});
  EXPECT_EQ(ours.Next(), Event("h", "hexpire", 3));
  EXPECT_EQ(ours.Next(), Event("h", "hexpired", 3));
  ours.client().Call({"CONFIG", "SET", "notify-keyspace-events", "Egh"});
  ours.client().Call({"HPEXPIRE", "h", "30", "FIELDS", "1", "g"});
  EXPECT_EQ(ours.Next(), Event("h", "hexpire", 3));
  EXPECT_EQ(ours.Next(), Event("h", "hexpired", 3));
  EXPECT_EQ(ours.Next(), Event("h", "del", 3));
}

TEST_P(NotificationsTest, WhatHasExpiredIsToldWhenItIsReplaced) {
  Start({"--expiry-interval", "0"});
  Listened ours(server_->address(), "EAmn");
  ours.client().Call({"SET", "a", "1", "PX", "100"});
  while (ours.client().Call({"GET", "a"}) != "(nil)") {
  }
  ours.Told();
  ours.client().Call({"DEL", "a"});
  ours.client().Call({"GET", "a"});
  ours.client().Call({"RPUSH", "a", "2"});
  ours.client().Call({"RPUSH", "a", "3"});
  EXPECT_EQ(ours.Told(true), (Lines{Event("a", "keymiss"), Event("a", "expired"), Event("a", "new"),
                                    Event("a", "rpush"), Event("a", "rpush")}));
}

// A commit of HTTP's with commands of Redis, and a listener of version 3.
TEST_P(NotificationsTest, CommitsOverHttpAreTold) {
  Listened ours(server_->address(), "KEA");
  HttpClient http(server_->address());
  const HttpAnswer answer = http.Call("POST", "/commit", {}, R"({"mutations": [
      {"op": "redis", "database": 2, "command": ["SET", "a", "1"]},
      {"op": "redis", "database": 2, "command": ["DEL", "a"]}]})");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(ours.Told(), (Lines{Key("a", "set", 2), Event("a", "set", 2), Key("a", "del", 2), Event("a", "del", 2)}));
}

}  // namespace
}  // namespace kvarts::test
