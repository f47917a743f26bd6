// Every type of Redis' under mixed writes, by a server that is killed again and again. What was acknowledged is there,
// no command is half there, counts are those of what is enumerated, and of what was dropped nothing stays.
//
// KVARTS_LONG=1 runs many more rounds; KVARTS_SEED=n begins at another seed. Threads make every run different.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <random>
#include <thread>

#include "cli/place.h"
#include "core/keyspace.h"
#include "core/store.h"
#include "model/structure/places.h"
#include "redis/crash_load.h"
#include "support/eventually.h"
#include "support/on_every_engine.h"
#include "support/postgres_database.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kWriters = 6;

class RedisCrashTest : public OnEngineTest {
 protected:
  using Servers = std::vector<std::unique_ptr<ServerProcess>>;

  // Where several processes may serve the same data, two do.
  Servers Start() const {
    std::vector<std::string> options = {"--engine", GetParam().name, "--data", dir_ / "data", "--durability", "sync"};
    options.insert(options.end(), {"--expiry-interval", "100ms", "--job-lease", "500ms"});
    // Small buffers, so that files are written, too.
    if (GetParam().files) options.insert(options.end(), {"--memory-budget", "8MiB", "--hot-cache", "0"});
    Servers servers;
    for (int i = 0; i < (GetParam().shared ? 2 : 1); ++i) servers.push_back(std::make_unique<ServerProcess>(options));
    return servers;
  }

  // Loads the servers until so much is acknowledged, and a little longer; then kills them, one after the other.
  void RunAndKill(uint64_t acks) {
    const Servers servers = Start();
    std::vector<std::string> addresses;
    for (const auto& server : servers) addresses.push_back(server->address());
    std::atomic<bool> stop = false;
    std::jthread load([&] { load_.Run(addresses, stop); });
    const uint64_t before = load_.acked();
    const bool reached = Eventually([&] { return load_.acked() >= before + acks; }, seconds(60));
    for (const auto& server : servers) {
      std::this_thread::sleep_for(milliseconds(random_() % 400));
      server->Signal(SIGKILL);
    }
    for (const auto& server : servers) server->Wait();
    stop = true;
    EXPECT_TRUE(reached) << load_.acked() - before << " were acknowledged";
  }

  // What is wrong: with what was promised, and with the number of keys once what expires has gone.
  std::vector<std::string> Verify() {
    const Servers servers = Start();
    const std::string& address = servers.back()->address();
    std::vector<std::string> wrong = load_.Verify(address);
    RespClient client(address);
    std::string said;
    size_t there = 0;
    const bool counted = Eventually(
        [&] {
          there = BulksOf(client.Call({"KEYS", "*"})).size();
          said = client.Call({"DBSIZE"});
          return said == fmt::format("(integer) {}", there) && client.Call({"KEYS", "passing:*"}) == "[]";
        },
        seconds(10));
    if (!counted) wrong.push_back(fmt::format("DBSIZE says {} of {} keys", said, there));
    return wrong;
  }

  // The store below its server, which must not run.
  std::unique_ptr<Engine> Below() const {
    cli::Place place{.data = dir_ / "data", .shards = {}};
    if (GetParam().shared) place = {.data = {}, .shards = ShardsFileFor(dir_ / "data")};
    auto engine = cli::OpenPlace(place);
    if (!engine.has_value()) throw std::runtime_error(engine.error().ToString());
    return *std::move(engine);
  }
  static std::optional<Bytes> FirstIn(Engine& engine, Space space) {
    ScanRequest request;
    request.range = SpaceRange(space);
    request.max_entries = 1;
    request.options.expired_too = true;
    const auto view = engine.OpenView();
    const auto page = (*view)->Scan(request);
    if (!page.has_value() || page->empty()) return std::nullopt;
    return Bytes((*page)[0].key);
  }
  // What is left of keys, their members and what is on its way out, as tools print it.
  std::string Left() const {
    const std::unique_ptr<Engine> engine = Below();
    std::string left;
    for (const Space space : {Space::kStructures, Space::kStructureMembers, Space::kStructuresDropped}) {
      if (const auto key = FirstIn(*engine, space)) left += DescribeKey(*key) + " ";
    }
    return left;
  }

  TempDir dir_;
  const uint64_t seed_ = FromEnvironment("KVARTS_SEED", std::random_device()());
  std::mt19937_64 random_{seed_};
  CrashLoad load_{kWriters, seed_};
};
KVARTS_ON_ENGINES_WITH(RedisCrashTest, persistent);

TEST_P(RedisCrashTest, KilledAtAnyInstantKeepsEveryPromise) {
  SCOPED_TRACE(fmt::format("KVARTS_SEED={}", seed_));
  const int rounds = LongRun() ? 60 : 4;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    RunAndKill(300);
    for (const std::string& wrong : Verify()) ADD_FAILURE() << wrong;
  }
  {
    const Servers servers = Start();
    EXPECT_EQ(RespClient(servers.front()->address()).Call({"FLUSHALL"}), "OK");
  }
  std::string left = "everything";
  for (int tries = 0; tries < 30 && !left.empty(); ++tries) {
    {
      const Servers servers = Start();
      std::this_thread::sleep_for(milliseconds(500));
    }
    left = Left();
  }
  EXPECT_EQ(left, "") << "stays for ever";
}

// That all this would notice.
TEST_P(RedisCrashTest, FaultsThatArePlantedAreFound) {
  SCOPED_TRACE(fmt::format("KVARTS_SEED={}", seed_));
  RunAndKill(600);
  ASSERT_TRUE(Verify().empty());
  const auto after = [&](const std::function<void(Txn&, Engine&)>& damage) {
    {
      std::unique_ptr<Engine> engine = Below();
      const auto store = Store::Open(*engine);
      const auto ran = (*store)->RunBody([&](Txn& txn) -> Status {
        damage(txn, *engine);
        return {};
      });
      EXPECT_TRUE(ran.has_value());
      (*store)->Stop();
      engine.reset();  // which tells the store of what others change
    }
    return Verify().size();
  };
  // A key too many is counted; and then one is gone that was acknowledged, too.
  EXPECT_EQ(after([](Txn& txn, Engine&) { txn.Add(structure::CountPlace({0}, 0), 1); }), 1U);
  EXPECT_GE(after([](Txn& txn, Engine& engine) {
              txn.Erase(FirstIn(engine, Space::kStructures).value());
              txn.Add(structure::CountPlace({0}, 1), 1);
            }),
            2U);
  // A command that somebody else gave.
  {
    const Servers servers = Start();
    EXPECT_EQ(RespClient(servers.front()->address()).Call({"SET", "w0:elsewhere", "x"}), "OK");
  }
  EXPECT_GE(Verify().size(), 1U);
}

}  // namespace
}  // namespace kvarts::test
