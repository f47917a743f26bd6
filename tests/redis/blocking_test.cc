// Commands that wait: what happens to several clients is the same as with redis-server, line by line; and what ends a
// wait.
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "redis/redis_server.h"
#include "support/environment.h"
#include "support/eventually.h"
#include "support/on_every_engine.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

using Words = std::vector<std::string>;
using Lines = std::vector<std::string>;
using std::chrono::milliseconds;

// Several clients of one server, and what they were answered.
class Scene {
 public:
  explicit Scene(std::string address) : address_(std::move(address)), main_(address_) {}

  const Lines& lines() const { return lines_; }

  // By a client that does not wait.
  void Do(const Words& words) { lines_.push_back(main_.Call(words)); }
  // By another, which is made when it is first named; returns when it waits.
  void Wait(const std::string& name, const Words& words) {
    const size_t before = Blocked();
    Of(name).Send(words);
    EXPECT_TRUE(Eventually([&] { return Blocked() == before + 1; })) << name << " does not wait";
  }
  void Send(const std::string& name, const Words& words) { Of(name).Send(words); }
  void Read(const std::string& name) { lines_.push_back(name + ": " + Of(name).Read()); }
  void Leave(const std::string& name) {
    const size_t before = Blocked();
    clients_.erase(name);
    EXPECT_TRUE(Eventually([&] { return Blocked() == before - 1; })) << name << " is waited for";
  }
  RespClient& Of(const std::string& name) {
    auto& client = clients_[name];
    if (!client) client = std::make_unique<RespClient>(address_);
    return *client;
  }

 private:
  // How many clients wait.
  size_t Blocked() {
    const std::string info = main_.Call({"INFO", "clients"});
    constexpr std::string_view kField = "blocked_clients:";
    return std::stoul(info.substr(info.find(kField) + kField.size()));
  }

  const std::string address_;
  RespClient main_;
  std::map<std::string, std::unique_ptr<RespClient>> clients_;
  Lines lines_;
};

class BlockingTest : public OnEngineTest {
 protected:
  void SetUp() override {
    server_ = std::make_unique<ServerProcess>(Words{"--engine", GetParam().name, "--durability", "none"});
  }
  // Plays it with redis-server and with Kvarts, and compares what was answered.
  template <class Play>
  void Compare(const Play& play) {
    const RedisServer redis;
    Scene theirs(redis.address());
    play(theirs);
    Scene ours(server_->address());
    play(ours);
    EXPECT_EQ(ours.lines(), theirs.lines());
  }

  std::unique_ptr<ServerProcess> server_;
};
KVARTS_ON_EVERY_ENGINE(BlockingTest);

// Where several commits are decided at once, who comes first is not promised.
#define KVARTS_NEEDS_ORDER() \
  if (GetParam().shared) GTEST_SKIP() << "several commits are decided at once on this engine"

TEST_P(BlockingTest, WhoCameFirstIsServedFirst) {
  KVARTS_NEEDS_ORDER();
  Compare([](Scene& scene) {
    for (const char* name : {"1", "2", "3"}) scene.Wait(name, {"BLPOP", "k", "0"});
    scene.Do({"RPUSH", "k", "a", "b"});
    scene.Read("1");
    scene.Read("2");
    scene.Do({"LLEN", "k"});
    scene.Wait("1", {"BRPOP", "k", "0"});
    scene.Do({"RPUSH", "k", "c", "d", "e"});
    scene.Read("3");
    scene.Read("1");
    scene.Do({"LRANGE", "k", "0", "-1"});
  });
}

TEST_P(BlockingTest, WaitsForSeveralKeys) {
  KVARTS_NEEDS_ORDER();
  Compare([](Scene& scene) {
    scene.Wait("1", {"BLPOP", "a", "b", "{t}c", "b", "0"});
    scene.Wait("2", {"BLPOP", "b", "0"});
    scene.Do({"RPUSH", "elsewhere", "x"});
    scene.Do({"RPUSH", "{t}c", "x"});
    scene.Read("1");
    scene.Do({"RPUSH", "b", "y"});
    scene.Read("2");
    scene.Do({"RPUSH", "b", "first"});
    scene.Do({"RPUSH", "a", "second"});
    scene.Send("1", {"BLPOP", "nothing", "a", "b", "0"});
    scene.Read("1");
  });
}

TEST_P(BlockingTest, WhatIsMovedServesWhoWaitsForIt) {
  Compare([](Scene& scene) {
    scene.Wait("last", {"BLPOP", "third", "0"});
    scene.Wait("second", {"BRPOPLPUSH", "second", "third", "0"});
    scene.Wait("first", {"BLMOVE", "first", "second", "LEFT", "RIGHT", "0"});
    scene.Do({"RPUSH", "first", "x"});
    for (const char* name : {"first", "second", "last"}) scene.Read(name);
    scene.Wait("round", {"BLMOVE", "k", "k", "LEFT", "RIGHT", "0"});
    scene.Do({"RPUSH", "k", "a", "b"});
    scene.Read("round");
    scene.Do({"LRANGE", "k", "0", "-1"});
  });
}

TEST_P(BlockingTest, ManyAtOnce) {
  KVARTS_NEEDS_ORDER();
  Compare([](Scene& scene) {
    scene.Wait("1", {"BLMPOP", "0", "2", "a", "b", "RIGHT", "COUNT", "2"});
    scene.Wait("2", {"BLMPOP", "0", "1", "b", "LEFT"});
    scene.Do({"RPUSH", "b", "1", "2", "3", "4"});
    scene.Read("1");
    scene.Read("2");
    scene.Do({"LRANGE", "b", "0", "-1"});
  });
}

TEST_P(BlockingTest, SortedSetsAreWaitedForAsListsAre) {
  KVARTS_NEEDS_ORDER();
  Compare([](Scene& scene) {
    scene.Wait("list", {"BLPOP", "k", "0"});
    scene.Wait("1", {"BZPOPMIN", "k", "z", "0"});
    scene.Wait("2", {"BZPOPMAX", "k", "0"});
    scene.Wait("3", {"BZMPOP", "0", "2", "z", "k", "MAX", "COUNT", "2"});
    scene.Do({"ZADD", "k", "1.5", "a", "2", "b", "inf", "c", "3", "d", "4", "e"});
    for (const char* name : {"1", "2", "3"}) scene.Read(name);
    scene.Do({"ZRANGE", "k", "0", "-1", "WITHSCORES"});
    scene.Do({"DEL", "k"});
    scene.Of("1").Call({"HELLO", "3"});
    scene.Wait("1", {"BZPOPMIN", "k", "0"});
    scene.Do({"RPUSH", "k", "x"});
    scene.Read("list");
    scene.Do({"ZADD", "k", "2.25", "a"});
    scene.Read("1");
  });
}

TEST_P(BlockingTest, AKeyOfAnotherTypeIsWaitedOut) {
  KVARTS_NEEDS_ORDER();
  Compare([](Scene& scene) {
    scene.Wait("1", {"BLPOP", "k", "other", "0"});
    scene.Wait("2", {"BLMOVE", "k", "to", "LEFT", "LEFT", "0"});
    scene.Do({"SET", "k", "text"});
    scene.Do({"RPUSH", "other", "x"});
    scene.Read("1");
    scene.Do({"DEL", "k"});
    scene.Do({"SET", "to", "text"});
    scene.Do({"RPUSH", "k", "y"});
    scene.Read("2");
    scene.Do({"LRANGE", "k", "0", "-1"});
    scene.Send("1", {"BLPOP", "nothing", "to", "0"});
    scene.Read("1");
  });
}

TEST_P(BlockingTest, ATransactionServesWhenItIsOver) {
  KVARTS_NEEDS_ORDER();
  Compare([](Scene& scene) {
    scene.Wait("1", {"BLPOP", "k", "0"});
    scene.Wait("2", {"BLPOP", "k", "0"});
    for (const Words& words : std::vector<Words>{{"MULTI"}, {"RPUSH", "k", "a"}, {"DEL", "k"}, {"EXEC"}}) {
      scene.Do(words);
    }
    for (const Words& words : std::vector<Words>{
             {"MULTI"}, {"RPUSH", "k", "b"}, {"BLPOP", "nothing", "0"}, {"RPUSH", "k", "c"}, {"LLEN", "k"}, {"EXEC"}}) {
      scene.Do(words);
    }
    scene.Read("1");
    scene.Read("2");
    scene.Do({"EXISTS", "k"});
  });
}

TEST_P(BlockingTest, WhatElseMakesAListServes) {
  KVARTS_NEEDS_ORDER();
  Compare([](Scene& scene) {
    scene.Do({"RPUSH", "from", "a"});
    scene.Wait("1", {"BLPOP", "k", "0"});
    scene.Do({"RENAME", "from", "k"});
    scene.Read("1");
    scene.Do({"RPUSH", "from", "b"});
    scene.Wait("1", {"BLPOP", "k", "0"});
    scene.Do({"COPY", "from", "k"});
    scene.Read("1");
    scene.Do({"SELECT", "1"});
    scene.Do({"RPUSH", "k", "c"});
    scene.Wait("1", {"BLPOP", "k", "0"});
    scene.Do({"MOVE", "k", "0"});
    scene.Read("1");
    scene.Do({"RPUSH", "k", "d"});
    scene.Wait("1", {"BLPOP", "k", "0"});
    scene.Wait("2", {"BLPOP", "k", "0"});
    scene.Do({"SWAPDB", "0", "1"});
    scene.Read("1");
    scene.Do({"FLUSHALL"});
    scene.Do({"SELECT", "0"});
    scene.Do({"RPUSH", "k", "e"});
    scene.Read("2");
  });
}

TEST_P(BlockingTest, WhatTheClientHasSentBehindItWaits) {
  Compare([](Scene& scene) {
    scene.Send("1", {"RPUSH", "mine", "x"});
    scene.Wait("1", {"BLPOP", "k", "0"});
    scene.Send("1", {"GET", "late"});
    scene.Send("1", {"BLPOP", "mine", "0"});
    scene.Read("1");
    scene.Do({"SET", "late", "set"});
    scene.Do({"RPUSH", "k", "a"});
    for (int i = 0; i < 3; ++i) scene.Read("1");
  });
}

TEST_P(BlockingTest, TheTimeIsOver) {
  Compare([](Scene& scene) {
    const auto begin = std::chrono::steady_clock::now();
    scene.Do({"BLPOP", "k", "0.1"});
    EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(100));
    scene.Do({"BLMOVE", "k", "l", "LEFT", "LEFT", "0.01"});
    scene.Do({"BLMPOP", "0.01", "2", "k", "l", "LEFT"});
    scene.Do({"BRPOPLPUSH", "k", "l", "1e-9"});
    scene.Do({"BRPOP", "k", "l", "-1"});
    scene.Do({"BRPOP", "k", "l", "soon"});
    scene.Do({"BRPOP", "k", "l", "1e300"});
    scene.Do({"RPUSH", "k", "a"});
    scene.Do({"LLEN", "k"});
    scene.Of("3").Call({"HELLO", "3"});
    scene.Send("3", {"BLPOP", "nothing", "0.01"});
    scene.Read("3");
  });
}

TEST_P(BlockingTest, WhoHasLeftTakesNothing) {
  Compare([](Scene& scene) {
    scene.Wait("1", {"BLPOP", "k", "0"});
    scene.Wait("2", {"BLPOP", "k", "0"});
    scene.Send("2", {"PING"});
    scene.Wait("3", {"BLPOP", "k", "0"});
    scene.Leave("1");
    scene.Leave("2");
    scene.Do({"RPUSH", "k", "a", "b"});
    scene.Read("3");
    scene.Do({"LRANGE", "k", "0", "-1"});
  });
}

TEST_P(BlockingTest, EachItemIsGivenOnceWhateverEndsTheWaits) {
  constexpr int kConsumers = 4;
  const int items = GetParam().shared ? 100 : 600;
  std::vector<std::multiset<std::string>> taken(kConsumers);
  {
    std::vector<std::jthread> threads;
    for (int consumer = 0; consumer < kConsumers; ++consumer) {
      threads.emplace_back([&, consumer] {
        RespClient client(server_->address());
        while (true) {
          const std::string answer = client.Call({"BLPOP", "a", "b", "0.003"});
          if (answer == "[\"b\", \"end\"]") break;
          EXPECT_FALSE(answer.starts_with("(error)")) << answer;
          if (answer != "(nil array)") taken[static_cast<size_t>(consumer)].insert(answer);
        }
      });
    }
    RespClient producer(server_->address());
    for (int i = 0; i < items; ++i) {
      const std::string answer = producer.Call({"RPUSH", "a", std::to_string(i)});
      EXPECT_TRUE(answer.starts_with("(integer)")) << answer;
      if (i % 7 == 0) std::this_thread::sleep_for(milliseconds(1 + i % 5));
    }
    EXPECT_TRUE(Eventually([&] { return producer.Call({"LLEN", "a"}) == "(integer) 0"; }));
    for (int i = 0; i < kConsumers; ++i) producer.Call({"RPUSH", "b", "end"});
  }
  std::multiset<std::string> all;
  for (const auto& some : taken) all.insert(some.begin(), some.end());
  EXPECT_EQ(all.size(), static_cast<size_t>(items));
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), all.size());
}

TEST_P(BlockingTest, AServerThatStopsDoesNotWaitForThem) {
  Scene scene(server_->address());
  scene.Wait("1", {"BLPOP", "k", "0"});
  const auto begin = std::chrono::steady_clock::now();
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait(), 0) << server_->Log();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
  EXPECT_TRUE(scene.Of("1").AtEnd());
}

using SharedBlockingTest = OnEngineTest;
KVARTS_ON_ENGINES_WITH(SharedBlockingTest, shared);

TEST_P(SharedBlockingTest, WhatIsPutByAnotherProcessServes) {
  const TempDir data;
  const Words options = {"--engine", GetParam().name, "--data", data / "data", "--durability", "none"};
  const ServerProcess here(options);
  const ServerProcess there(options);
  Scene waiting(here.address());
  Scene putting(there.address());
  for (int round = 0; round < 5; ++round) {
    waiting.Wait("1", {"BLPOP", "a", "b", "0"});
    putting.Do({"RPUSH", "b", std::to_string(round)});
    EXPECT_EQ(waiting.Of("1").Read(), "[\"b\", \"" + std::to_string(round) + "\"]");
  }
  putting.Do({"LLEN", "b"});
  EXPECT_EQ(putting.lines().back(), "(integer) 0");
}

}  // namespace
}  // namespace kvarts::test
