// Publish and subscribe when somebody is slow, hostile or gone: it costs nobody else, and what is promised of order
// holds with many at once.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <thread>

#include "support/environment.h"
#include "support/eventually.h"
#include "support/resp_client.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

using Words = std::vector<std::string>;

class PubSubLimitsTest : public ::testing::Test {
 protected:
  explicit PubSubLimitsTest(const Words& options = {}) {
    Words all = {"--engine", "memory", "--durability", "none", "--loops", "2"};
    all.insert(all.end(), options.begin(), options.end());
    server_ = std::make_unique<ServerProcess>(all);
    client_ = std::make_unique<RespClient>(server_->address());
  }
  std::string Call(const Words& words) { return client_->Call(words); }
  // One who has asked to be told, and does not listen.
  std::unique_ptr<RespClient> Deaf(const std::string& channel) {
    auto deaf = std::make_unique<RespClient>(server_->address());
    deaf->Call({"SUBSCRIBE", channel});
    return deaf;
  }
  // How many were told.
  int64_t Publish(const std::string& channel, const std::string& message) {
    return std::stoll(Call({"PUBLISH", channel, message}).substr(std::string("(integer) ").size()));
  }
  // A figure of INFO.
  int64_t Figure(const std::string& name) {
    const std::string info = Call({"INFO"});
    return std::stoll(info.substr(info.find(name + ":") + name.size() + 1));
  }
  int64_t CutOff() { return Figure("client_output_buffer_limit_disconnections"); }
  // Reads to the end of the connection.
  static size_t CountToEnd(RespClient& client) {
    size_t told = 0;
    try {
      while (true) {
        client.Read();
        ++told;
      }
    } catch (const std::runtime_error&) {
    }
    return told;
  }

  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<RespClient> client_;
};

constexpr size_t kMiB = 1 << 20;
const std::string& Message() {
  static const std::string kMessage(kMiB, 'm');
  return kMessage;
}

TEST_F(PubSubLimitsTest, WhoDoesNotListenIsCutOffAndNobodyElse) {
  EXPECT_EQ(Call({"CONFIG", "SET", "client-output-buffer-limit", "pubsub 4mb 0 0"}), "OK");
  const auto deaf = Deaf("x");
  std::atomic<int> heard = 0;
  std::jthread listening([&] {
    RespClient listener(server_->address());
    listener.Call({"SUBSCRIBE", "x"});
    heard = 1;
    while (listener.Read() != R"(["message", "x", "end"])") ++heard;
  });
  ASSERT_TRUE(Eventually([&] { return heard > 0; }));
  int published = 0;
  // What the kernel holds for it comes first.
  while (Publish("x", Message()) == 2) {
    ASSERT_TRUE(Eventually([&] { return heard > published; })) << "one who listens waits for one who does not";
    ASSERT_LT(++published, 1000);
  }
  EXPECT_EQ(CutOff(), 1);
  EXPECT_EQ(Call({"PUBSUB", "NUMSUB", "x"}), R"(["x", (integer) 1])");
  EXPECT_EQ(Publish("x", "end"), 1);
  listening.join();
  EXPECT_EQ(heard, published + 2);
  EXPECT_LE(CountToEnd(*deaf), static_cast<size_t>(published));
}

TEST_F(PubSubLimitsTest, WhoIsSlowHearsAllThatIsWithinTheLimit) {
  // More than the kernel takes, and less than the 32 MiB that Redis lets wait.
  constexpr int kMessages = 24;
  const auto slow = Deaf("x");
  EXPECT_EQ(Call({"CONFIG", "SET", "client-output-buffer-limit", "pubsub 32mb 0 0"}), "OK");
  for (int i = 0; i < kMessages; ++i) EXPECT_EQ(Publish("x", Message()), 1);
  EXPECT_EQ(Publish("x", "end"), 1);
  for (int i = 0; i < kMessages; ++i) EXPECT_GT(slow->Read().size(), kMiB);
  EXPECT_EQ(slow->Read(), R"(["message", "x", "end"])");
  EXPECT_EQ(CutOff(), 0);
}

TEST_F(PubSubLimitsTest, OneMessageThatIsMoreThanTheLimitCutsOff) {
  EXPECT_EQ(Call({"CONFIG", "SET", "client-output-buffer-limit", "pubsub 1mb 0 0"}), "OK");
  const auto at_limit = Deaf("x");
  // With what a place among those that wait takes.
  EXPECT_EQ(Publish("x", std::string(kMiB - 97, 'm')), 1);
  at_limit->Read();
  EXPECT_EQ(Publish("x", std::string(kMiB, 'm')), 0);
  EXPECT_TRUE(at_limit->AtEnd());
  EXPECT_EQ(CutOff(), 1);
}

TEST_F(PubSubLimitsTest, WhoIsSlowForTooLongIsCutOff) {
  EXPECT_EQ(Call({"CONFIG", "SET", "client-output-buffer-limit", "pubsub 0 64kb 1"}), "OK");
  const auto deaf = Deaf("x");
  // As soon as that second has passed; not earlier is what the test before has shown of bytes.
  EXPECT_TRUE(Eventually([&] { return Publish("x", Message()) == 0; }));
  EXPECT_EQ(CutOff(), 1);
}

TEST_F(PubSubLimitsTest, WhoDoesNotListenToMessagesKeepsItsAnswers) {
  // The limit is for those who listen.
  EXPECT_EQ(Call({"CONFIG", "SET", "client-output-buffer-limit", "pubsub 1 0 0"}), "OK");
  EXPECT_EQ(Call({"SET", "k", Message()}), "OK");
  EXPECT_GT(Call({"GET", "k"}).size(), kMiB);
}

// A listener that has gone in the middle of what it is told.
TEST_F(PubSubLimitsTest, WhoGoesAmidstMessagesIsForgotten) {
  for (int round = 0; round < 20; ++round) {
    auto gone = Deaf("x");
    std::jthread publishing([&] {
      RespClient publisher(server_->address());
      while (publisher.Call({"PUBLISH", "x", Message()}) != "(integer) 0") {
      }
    });
    gone->Read();
    gone.reset();
  }
  EXPECT_EQ(Call({"PUBSUB", "CHANNELS"}), "[]");
  EXPECT_TRUE(Eventually([&] { return Figure("connected_clients") == 1; }));
}

class PubSubMemoryTest : public PubSubLimitsTest {
 protected:
  PubSubMemoryTest() : PubSubLimitsTest({"--redis-max-held-bytes", "16MiB"}) {}
};

TEST_F(PubSubMemoryTest, WhatAllHoldIsBoundedTogether) {
  EXPECT_EQ(Call({"CONFIG", "SET", "client-output-buffer-limit", "pubsub 0 0 0"}), "OK");
  std::vector<std::unique_ptr<RespClient>> deaf;
  for (int i = 0; i < 4; ++i) deaf.push_back(Deaf(std::to_string(i)));
  int told = 0;
  int channels = 4;
  // Each of the channels has one who does not listen; in the end all of them are cut off.
  for (int i = 0; channels > 0; ++i) {
    ASSERT_LT(i, 4000);
    channels = 0;
    for (int j = 0; j < 4; ++j) channels += static_cast<int>(Publish(std::to_string(j), Message()));
    told += channels;
  }
  EXPECT_EQ(CutOff(), 4);
  EXPECT_GT(told, 4);
  // And there is room again.
  EXPECT_EQ(Call({"SET", "k", std::string(8 * kMiB, 'v')}), "OK");
}

TEST_F(PubSubMemoryTest, WhatIsListenedToIsBounded) {
  RespClient greedy(server_->address());
  std::string told;
  int names = 0;
  while (!told.starts_with("(error)")) {
    ASSERT_LT(names, 1000);
    told = greedy.Call({"SUBSCRIBE", std::string(kMiB, 'c') + std::to_string(names++)});
  }
  EXPECT_EQ(told, "(error) \"TRYAGAIN all clients together hold too much, limit=redis.max_held_bytes\"");
  // Twice each, and at most half of it.
  EXPECT_GE(names, 3);
  EXPECT_LE(names, 5);
  EXPECT_EQ(greedy.Call({"PING"}), R"(["pong", ""])");
  EXPECT_EQ(greedy.Call({"RESET"}), "RESET");
  EXPECT_EQ(Call({"SET", "k", std::string(8 * kMiB, 'v')}), "OK");
}

TEST_F(PubSubLimitsTest, ThoseOfAPublisherComeInItsOrder) {
  constexpr int kPublishers = 3;
  const int messages = LongRun() ? 20'000 : 2000;
  RespClient listener(server_->address());
  listener.Call({"SUBSCRIBE", "x"});
  RespClient another(server_->address());
  another.Call({"PSUBSCRIBE", "*"});
  std::vector<std::jthread> threads;
  for (int publisher = 0; publisher < kPublishers; ++publisher) {
    threads.emplace_back([&, publisher] {
      RespClient client(server_->address());
      for (int i = 0; i < messages; ++i) {
        client.Send({"PUBLISH", "x", std::to_string(publisher) + ":" + std::to_string(i)});
        if (i % 16 == 15) {
          for (int j = 0; j < 16; ++j) EXPECT_EQ(client.Read(), "(integer) 2");
        }
      }
    });
  }
  std::map<char, int> next;
  for (int i = 0; i < kPublishers * messages; ++i) {
    const std::string told = listener.Read();
    constexpr std::string_view kBegin = R"(["message", "x", ")";
    ASSERT_TRUE(told.starts_with(kBegin)) << told;
    const char publisher = told[kBegin.size()];
    ASSERT_EQ(std::stoi(told.substr(kBegin.size() + 2)), next[publisher]++);
    // All hear the same, in the same order.
    constexpr std::string_view kPatternBegin = R"(["pmessage", "*", "x", ")";
    ASSERT_EQ(another.Read().substr(kPatternBegin.size()), told.substr(kBegin.size()));
  }
}

// Who listens, and to what, changes all the time; also the connections. Nobody is told what it does not listen to.
TEST_F(PubSubLimitsTest, ListenersComeAndGo) {
  const int rounds = LongRun() ? 2000 : 150;
  std::atomic<bool> stop = false;
  std::vector<std::jthread> threads;
  for (int publisher = 0; publisher < 2; ++publisher) {
    threads.emplace_back([&] {
      RespClient client(server_->address());
      for (int i = 0; !stop; ++i) {
        const std::string answer = client.Call({i % 5 == 0 ? "SPUBLISH" : "PUBLISH", std::to_string(i % 4), "m"});
        ASSERT_TRUE(answer.starts_with("(integer) ")) << answer;
        if (i % 50 == 0) {
          client.Call({"PUBSUB", "CHANNELS"});
          client.Call({"CLIENT", "LIST", "TYPE", "pubsub"});
          client.Call({"CLIENT", "KILL", "TYPE", "pubsub", "USER", "none"});
        }
        if (i % 200 == 0) client.Call({"CLIENT", "KILL", "TYPE", "pubsub"});
      }
    });
  }
  std::vector<std::jthread> listeners;
  for (int listener = 0; listener < 3; ++listener) {
    listeners.emplace_back([&, listener] {
      for (int round = 0; round < rounds; ++round) {
        try {
          const std::string mine = std::to_string((round + listener) % 4);
          RespClient client(server_->address());
          if (round % 2 == 0) client.Call({"HELLO", "3"});
          client.Send({"SUBSCRIBE", mine});
          client.Send({"PSUBSCRIBE", "[" + mine + "]"});
          client.Send({"SSUBSCRIBE", mine});
          for (int i = 0; i < 20; ++i) {
            const std::string told = client.Read();
            ASSERT_TRUE(told.contains('"' + mine + '"') || told.contains("[" + mine + "]")) << told;
          }
          if (round % 3 == 0) continue;
          client.Send({"UNSUBSCRIBE", mine});
          client.Send({"RESET"});
          while (client.Read() != "RESET") {
          }
          // What had been said for it before has been told.
          ASSERT_EQ(client.Call({"PING"}), "PONG");
        } catch (const std::runtime_error&) {
          // It was ended by the others.
        }
      }
    });
  }
  listeners.clear();
  stop = true;
  threads.clear();
  EXPECT_TRUE(Eventually([&] { return Call({"PUBSUB", "CHANNELS"}) == "[]"; }));
  EXPECT_EQ(Call({"PUBSUB", "NUMPAT"}), "(integer) 0");
  EXPECT_TRUE(Eventually([&] { return Figure("connected_clients") == 1; }));
  EXPECT_EQ(Figure("pubsub_clients"), 0);
}

}  // namespace
}  // namespace kvarts::test
