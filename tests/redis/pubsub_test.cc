// Publish and subscribe: what several clients are told is the same as with redis-server, line by line; and what only
// Kvarts promises.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <thread>

#include "redis/pubsub_scene.h"
#include "redis/redis_server.h"
#include "support/eventually.h"
#include "support/on_every_engine.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

using testing::StartsWith;
using Words = std::vector<std::string>;

class PubSubTest : public ::testing::Test {
 protected:
  template <class Play>
  void Compare(const Play& play) {
    const RedisServer redis;
    PubSubScene theirs(redis.address());
    play(theirs);
    PubSubScene ours(server_.address());
    play(ours);
    EXPECT_EQ(ours.lines(), theirs.lines());
  }
  std::string Call(const Words& words) { return client_.Call(words); }

  ServerProcess server_{{"--engine", "memory", "--durability", "none", "--loops", "2"}};
  RespClient client_{server_.address()};
};

void Speak(PubSubScene& scene, const std::string& name, const std::string& version) {
  scene.Of(name).Call({"HELLO", version});
}

TEST_F(PubSubTest, WhoListensIsConfirmedAndTold) {
  for (const char* version : {"2", "3"}) {
    Compare([&](PubSubScene& scene) {
      Speak(scene, "a", version);
      scene.Do("a", {"SUBSCRIBE", "x", "x", "y"}, 3);
      scene.Do("a", {"PSUBSCRIBE", "x*", "[xz]"}, 2);
      scene.Do("a", {"SSUBSCRIBE", "x"});
      scene.Do("b", {"PUBLISH", "z", "by pattern"});
      scene.Read("a");
      scene.Do("b", {"PUBLISH", "y", std::string("b\0\r\n", 4)});
      scene.Read("a");
      scene.Do("b", {"PUBLISH", "nobody", "hears"});
      scene.Do("b", {"SPUBLISH", "x", ""});
      scene.Read("a");
      scene.Do("b", {"SPUBLISH", "y", "nobody"});
      scene.Do("a", {"UNSUBSCRIBE", "x", "none"}, 2);
      scene.Do("a", {"UNSUBSCRIBE"});
      scene.Do("a", {"UNSUBSCRIBE"});
      scene.Do("b", {"PUBLISH", "x2", "m"});
      scene.Read("a");
      scene.Do("a", {"PUNSUBSCRIBE", "x*"});
      scene.Do("a", {"PUNSUBSCRIBE"});
      scene.Do("a", {"PUNSUBSCRIBE"});
      scene.Do("a", {"PING"});
      scene.Do("a", {"SUNSUBSCRIBE", "y", "x"}, 2);
      scene.Do("a", {"SUNSUBSCRIBE"});
      scene.Do("b", {"PUBLISH", "x", "nobody"});
      scene.Do("a", {"PING"});
    });
  }
}

TEST_F(PubSubTest, OneWhoListensInTwoWaysIsToldTwice) {
  const auto play = [](PubSubScene& scene) {
    scene.Do("a", {"SUBSCRIBE", "news"});
    scene.Do("a", {"PSUBSCRIBE", "n*"});
    scene.Do("b", {"PSUBSCRIBE", "n*"});
    scene.Do("c", {"PUBLISH", "news", "m"});
    scene.Read("a", 2);
    scene.Read("b");
    scene.ExpectNothing("a");
    scene.ExpectNothing("b");
  };
  Compare(play);
}

TEST_F(PubSubTest, Version2OnlyListensMeanwhile) {
  Compare([](PubSubScene& scene) {
    scene.Do("a", {"SUBSCRIBE", "x"});
    scene.Do("a", {"PING"});
    scene.Do("a", {"ping", "hello"});
    scene.Do("a", {"PING", "1", "2"});
    for (const Words& words : std::vector<Words>{{"GET", "k"},
                                                 {"get"},
                                                 {"nonsense"},
                                                 {"CLIENT", "ID"},
                                                 {"CLIENT", "nonsense"},
                                                 {"CONFIG", "GET", "x"},
                                                 {"MULTI"},
                                                 {"EXEC"},
                                                 {"PUBLISH", "x", "m"},
                                                 {"PUBSUB", "NUMPAT"},
                                                 {"HELLO", "3"},
                                                 {"AUTH", "x"}}) {
      scene.Do("a", words);
    }
    scene.Do("a", {"SSUBSCRIBE", "x"});
    scene.Do("a", {"UNSUBSCRIBE"});
    scene.Do("a", {"GET", "k"});
    scene.Do("a", {"SUNSUBSCRIBE"});
    scene.Do("a", {"GET", "k"});
    scene.Do("a", {"PING", "hello"});
    scene.Do("a", {"PSUBSCRIBE", "*"});
    scene.Do("a", {"RESET"});
    scene.Do("a", {"GET", "k"});
    scene.Do("b", {"PUBLISH", "x", "nobody"});
    scene.Do("a", {"SUBSCRIBE", "x"});
    scene.Do("a", {"QUIT"});
    scene.AtEnd("a");
  });
}

TEST_F(PubSubTest, Version3DoesWhatItLikesMeanwhile) {
  Compare([](PubSubScene& scene) {
    Speak(scene, "a", "3");
    scene.Do("a", {"SUBSCRIBE", "x"});
    scene.Do("a", {"PING"});
    scene.Do("a", {"SET", "k", "v"});
    scene.Do("a", {"GET", "k"});
    scene.Do("a", {"PUBLISH", "x", "to itself"}, 2);
    scene.Do("a", {"MULTI"});
    scene.Do("a", {"PUBLISH", "nobody", "m"});
    scene.Do("a", {"UNSUBSCRIBE", "y"});
    scene.Do("a", {"EXEC"});
    Speak(scene, "a", "2");
    scene.Do("a", {"HELLO", "3"});
    scene.Do("b", {"PUBLISH", "x", "as an array"});
    scene.Read("a");
    scene.Do("a", {"RESET"});
    scene.Do("a", {"GET", "k"});
  });
}

TEST_F(PubSubTest, InATransaction) {
  for (const char* version : {"2", "3"}) {
    Compare([&](PubSubScene& scene) {
      Speak(scene, "a", version);
      scene.Do("b", {"SUBSCRIBE", "x"});
      scene.Do("a", {"MULTI"});
      for (const Words& words : std::vector<Words>{{"SET", "k", "v"},
                                                   {"PUBLISH", "x", "1"},
                                                   {"SUBSCRIBE", "y"},
                                                   {"PUBLISH", "nobody", "x"},
                                                   {"SSUBSCRIBE", "z"},
                                                   {"PSUBSCRIBE", "p*"},
                                                   {"PUBLISH", "x", "2"},
                                                   {"GET", "k"}}) {
        scene.Do("a", words);
      }
      scene.Do("a", {"EXEC"});
      scene.Read("b", 2);
      scene.Do("b", {"UNSUBSCRIBE"});
      scene.Do("b", {"PUBLISH", "p1", "m"});
      scene.Read("a");
      scene.Do("a", {"UNSUBSCRIBE"});
      scene.Do("a", {"PUNSUBSCRIBE"});
      scene.Do("a", {"MULTI"});
      scene.Do("a", {"PUBLISH", "x"});
      scene.Do("a", {"EXEC"});
    });
  }
}

// It is told behind the answer, and not, as Redis 7.0 has it, within.
TEST_F(PubSubTest, WhatATransactionTellsItsOwnClientStandsBehindTheAnswer) {
  RespClient own(server_.address());
  own.Call({"HELLO", "3"});
  own.Call({"SUBSCRIBE", "x"});
  own.Call({"MULTI"});
  own.Call({"PUBLISH", "x", "1"});
  own.Call({"SET", "k", "v"});
  own.Send({"EXEC"});
  own.Send({"PING"});
  EXPECT_EQ(own.Read(), "[(integer) 1, OK]");
  EXPECT_EQ(own.Read(), R"((push) ["message", "x", "1"])");
  EXPECT_EQ(own.Read(), "PONG");
}

TEST_F(PubSubTest, SilenceIsNotForMessages) {
  for (const char* version : {"2", "3"}) {
    Compare([&](PubSubScene& scene) {
      Speak(scene, "a", version);
      scene.Of("a").Send({"CLIENT", "REPLY", "OFF"});
      scene.Do("a", {"SUBSCRIBE", "x"});
      scene.Do("b", {"PUBLISH", "x", "1"});
      scene.Read("a");
      scene.Do("a", {"UNSUBSCRIBE"});
      scene.Do("a", {"CLIENT", "REPLY", "ON"});
      scene.Of("a").Send({"CLIENT", "REPLY", "SKIP"});
      scene.Do("a", {"SUBSCRIBE", "y"});
      scene.Do("a", {"PING"});
    });
  }
  Compare([](PubSubScene& scene) {
    Speak(scene, "a", "3");
    scene.Do("a", {"SUBSCRIBE", "x"});
    scene.Of("a").Send({"CLIENT", "REPLY", "OFF"});
    scene.Do("a", {"PUBLISH", "x", "to itself"});
    scene.Do("a", {"CLIENT", "REPLY", "ON"});
  });
}

TEST_F(PubSubTest, WhoListensIsTold) {
  Compare([](PubSubScene& scene) {
    const auto look = [&] {
      for (const Words& words : std::vector<Words>{{"CHANNELS"},
                                                   {"CHANNELS", "x*"},
                                                   {"NUMSUB", "x1", "none", "x1", "s"},
                                                   {"NUMSUB"},
                                                   {"NUMPAT"},
                                                   {"SHARDCHANNELS"},
                                                   {"SHARDCHANNELS", "x"},
                                                   {"SHARDNUMSUB", "x1", "s"},
                                                   {"SHARDNUMSUB"}}) {
        Words all = {"PUBSUB"};
        all.insert(all.end(), words.begin(), words.end());
        scene.Do("b", all);
      }
    };
    scene.Do("a", {"SUBSCRIBE", "x1"});
    scene.Do("c", {"SUBSCRIBE", "x1"});
    scene.Do("a", {"PSUBSCRIBE", "p*", "q*"}, 2);
    scene.Do("c", {"PSUBSCRIBE", "p*"});
    scene.Do("a", {"SSUBSCRIBE", "s"});
    look();
    scene.Do("a", {"RESET"});
    look();
    scene.Do("c", {"QUIT"});
    scene.AtEnd("c");
    look();
    for (const Words& words : std::vector<Words>{
             {"CHANNELS", "a", "b"}, {"SHARDCHANNELS", "a", "b"}, {"NUMPAT", "a"}, {"HELP", "a"}, {"nonsense"}, {}}) {
      Words all = {"PUBSUB"};
      all.insert(all.end(), words.begin(), words.end());
      scene.Do("b", all);
    }
    scene.Do("b", {"PUBLISH", "x"});
    scene.Do("b", {"SUBSCRIBE"});
    scene.Do("b", {"SPUBLISH", "a", "b", "c"});
  });
}

TEST_F(PubSubTest, WhoseConnectionHasGoneListensNoMore) {
  auto gone = std::make_unique<RespClient>(server_.address());
  gone->Call({"SUBSCRIBE", "x"});
  gone->Call({"PSUBSCRIBE", "x*"});
  EXPECT_EQ(Call({"PUBLISH", "x", "m"}), "(integer) 2");
  gone.reset();
  EXPECT_TRUE(Eventually([&] { return Call({"PUBLISH", "x", "m"}) == "(integer) 0"; }));
  EXPECT_EQ(Call({"PUBSUB", "CHANNELS"}), "[]");
  EXPECT_EQ(Call({"PUBSUB", "NUMPAT"}), "(integer) 0");
}

TEST_F(PubSubTest, MessagesComeWhileACommandWaits) {
  Compare([](PubSubScene& scene) {
    Speak(scene, "a", "3");
    scene.Do("a", {"SUBSCRIBE", "x"});
    scene.Of("a").Send({"BLPOP", "list", "0"});
    // That it waits shows in that what stands behind it is not answered.
    EXPECT_TRUE(Eventually([&] { return scene.Of("c").Call({"INFO", "clients"}).contains("blocked_clients:1"); }));
    scene.Do("b", {"PUBLISH", "x", std::string(100'000, 'm')});
    scene.Read("a");
    scene.Do("b", {"PUBLISH", "x", "another"});
    scene.Read("a");
    scene.Do("b", {"RPUSH", "list", "v"});
    scene.Read("a");
  });
}

TEST_F(PubSubTest, AMessageNeverStandsWithinAnAnswer) {
  constexpr int kRounds = 200;
  RespClient reader(server_.address());
  reader.Call({"HELLO", "3"});
  reader.Call({"RPUSH", "list", "a", "b", "c"});
  reader.Call({"SUBSCRIBE", "x"});
  std::jthread publisher([&](const std::stop_token& stop) {
    RespClient other(server_.address());
    while (!stop.stop_requested()) other.Call({"PUBLISH", "x", "m"});
  });
  int messages = 0;
  for (int i = 0; i < kRounds || messages < kRounds; ++i) {
    ASSERT_LT(i, 100'000) << "no messages";
    for (int j = 0; j < 20; ++j) reader.Send({"LRANGE", "list", "0", "-1"});
    for (int answers = 0; answers < 20;) {
      const std::string told = reader.Read();
      if (told == R"((push) ["message", "x", "m"])") {
        ++messages;
        continue;
      }
      ASSERT_EQ(told, R"(["a", "b", "c"])");
      ++answers;
    }
  }
}

TEST_F(PubSubTest, LargeMessagesArriveWhole) {
  const std::string large(5 << 20, 'L');
  RespClient listener(server_.address());
  listener.Call({"SUBSCRIBE", "x"});
  std::jthread publisher([&] {
    RespClient other(server_.address());
    for (int i = 0; i < 5; ++i) EXPECT_EQ(other.Call({"PUBLISH", "x", large}), "(integer) 1");
  });
  const std::string told = R"(["message", "x", ")" + large + "\"]";
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(listener.Read() == told);
}

TEST_F(PubSubTest, ManyListenToMany) {
  constexpr int kMany = 2000;
  RespClient listener(server_.address());
  Words names = {"SUBSCRIBE"};
  for (int i = 0; i < kMany; ++i) names.push_back("channel:" + std::to_string(i));
  listener.Send(names);
  for (int i = 0; i < kMany; ++i) listener.Read();
  EXPECT_EQ(Call({"PUBLISH", "channel:1999", "m"}), "(integer) 1");
  EXPECT_EQ(listener.Read(), R"(["message", "channel:1999", "m"])");
  listener.Send({"UNSUBSCRIBE"});
  for (int i = 0; i < kMany; ++i) EXPECT_THAT(listener.Read(), StartsWith("[\"unsubscribe\", \"channel:"));
  EXPECT_EQ(Call({"PUBSUB", "CHANNELS"}), "[]");
}

TEST_F(PubSubTest, WhoListensMayRestForLong) {
  EXPECT_EQ(Call({"CONFIG", "SET", "timeout", "1"}), "OK");
  RespClient listener(server_.address());
  listener.Call({"SUBSCRIBE", "x"});
  RespClient idle(server_.address());
  idle.Call({"PING"});
  // Which is cut off after that time.
  EXPECT_TRUE(idle.AtEnd());
  RespClient other(server_.address());
  EXPECT_EQ(other.Call({"PUBLISH", "x", "m"}), "(integer) 1");
  EXPECT_EQ(listener.Read(), R"(["message", "x", "m"])");
}

TEST_F(PubSubTest, AServerThatStopsDoesNotWaitForListeners) {
  RespClient listener(server_.address());
  listener.Call({"SUBSCRIBE", "x"});
  server_.Signal(SIGTERM);
  EXPECT_EQ(server_.Wait(), 0) << server_.Log();
  EXPECT_TRUE(listener.AtEnd());
}

// What touches data.
class PubSubDataTest : public OnEngineTest {
 protected:
  void SetUp() override {
    server_ = std::make_unique<ServerProcess>(Words{"--engine", GetParam().name, "--durability", "none"});
  }
  std::unique_ptr<ServerProcess> server_;
};
KVARTS_ON_EVERY_ENGINE(PubSubDataTest);

TEST_P(PubSubDataTest, WhatStandsBeforeAMessageInAPipelineIsThereWhenItComes) {
  RespClient listener(server_->address());
  listener.Call({"SUBSCRIBE", "x"});
  RespClient reader(server_->address());
  RespClient writer(server_->address());
  for (int i = 0; i < 100; ++i) {
    const std::string value = std::to_string(i);
    writer.Send({"SET", "k", value});
    writer.Send({"PUBLISH", "x", value});
    writer.Send({"SET", "behind", value});
    EXPECT_EQ(listener.Read(), "[\"message\", \"x\", \"" + value + "\"]");
    EXPECT_EQ(reader.Call({"GET", "k"}), '"' + value + '"');
    EXPECT_EQ(writer.Read(), "OK");
    EXPECT_EQ(writer.Read(), "(integer) 1");
    EXPECT_EQ(writer.Read(), "OK");
  }
}

TEST_P(PubSubDataTest, ATransactionThatIsNotCarriedOutTellsNothing) {
  RespClient listener(server_->address());
  listener.Call({"SUBSCRIBE", "x"});
  RespClient writer(server_->address());
  RespClient other(server_->address());
  writer.Call({"SET", "k", "1"});
  writer.Call({"WATCH", "k"});
  other.Call({"SET", "k", "2"});
  writer.Call({"MULTI"});
  writer.Call({"PUBLISH", "x", "never"});
  writer.Call({"SET", "k", "3"});
  EXPECT_EQ(writer.Call({"EXEC"}), "(nil array)");
  writer.Call({"MULTI"});
  writer.Call({"SET", "k", "4"});
  writer.Call({"PUBLISH", "x", "committed"});
  EXPECT_EQ(writer.Call({"EXEC"}), "[OK, (integer) 1]");
  EXPECT_EQ(listener.Read(), R"(["message", "x", "committed"])");
  EXPECT_EQ(other.Call({"GET", "k"}), "\"4\"");
}

TEST_P(PubSubDataTest, MessagesAndAnswersOfWritesComeInTheirOrder) {
  RespClient own(server_->address());
  own.Call({"HELLO", "3"});
  own.Call({"SUBSCRIBE", "x"});
  constexpr int kRounds = 50;
  for (int i = 0; i < kRounds; ++i) {
    own.Send({"INCR", "n"});
    own.Send({"PUBLISH", "x", std::to_string(i)});
  }
  for (int i = 0; i < kRounds; ++i) {
    EXPECT_EQ(own.Read(), "(integer) " + std::to_string(i + 1));
    EXPECT_EQ(own.Read(), "(push) [\"message\", \"x\", \"" + std::to_string(i) + "\"]");
    EXPECT_EQ(own.Read(), "(integer) 1");
  }
}

}  // namespace
}  // namespace kvarts::test
