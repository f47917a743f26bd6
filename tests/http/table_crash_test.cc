// Tables under mixed writes, changes of indexes and expiries, by a server that is killed again and again. In the end
// every promise was kept, every index answers as the rows do, and a verification finds nothing.
//
// KVARTS_LONG=1 runs many more rounds; KVARTS_SEED=n begins at another seed. Threads make every run different.
#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <random>
#include <thread>

#include "http/http_fixture.h"
#include "http/index_answers.h"
#include "http/table_load.h"
#include "support/below_model.h"
#include "support/eventually.h"
#include "support/postgres_database.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kWriters = 6;

class TableCrashTest : public OnEngineTest {
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
  cli::Place Place() const {
    if (GetParam().shared) return {.data = {}, .shards = ShardsFileFor(dir_ / "data")};
    return {.data = dir_ / "data", .shards = {}};
  }
  void Prepare() { ASSERT_TRUE(load_.Prepare(Start().front()->address())); }

  // Loads the servers until so much is acknowledged, and a little longer; then kills them, one after the other.
  void RunAndKill(uint64_t acks) {
    const Servers servers = Start();
    std::vector<std::string> addresses;
    for (const auto& server : servers) addresses.push_back(server->address());
    std::atomic<bool> stop = false;
    std::jthread load([&] { load_.Run(addresses, stop); });
    std::jthread changes([&, seed = random_()] { ChangeIndexes(addresses.back(), stop, seed); });
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

  // Creates and drops indexes, and verifies, until nobody answers.
  void ChangeIndexes(const std::string& address, const std::atomic<bool>& stop, uint64_t seed) {
    HttpClient client(address);
    std::mt19937_64 random(seed);
    while (!stop) {
      const ComingIndex& index = kComing[random() % std::size(kComing)];
      const std::string path = fmt::format("{}/indexes/{}", kUsers, index.name);
      HttpAnswer answer;
      const uint64_t what = random() % 8;
      if (what == 0) {
        answer = client.Call("POST", std::string(random() % 2 == 0 ? kUsers : kOrders) + "/verify");
        if (answer.status == 202) verifications_.push_back(JsonValue::Parse(answer.body)["job"].text());
      } else if (what < 3) {
        answer = client.Call("DELETE", path);
      } else {
        // Slow enough that builds are under way whenever the server is killed.
        answer = client.Call("PUT", path, {}, fmt::format(R"({{{},"throttle":{}}})", index.spec, 500 << random() % 4));
      }
      if (answer.status == 0) return;
      std::this_thread::sleep_for(milliseconds(random() % 100));
    }
  }

  // What nobody could acknowledge, and yet must hold, once everything has come to its end.
  void Settle(const std::string& address) {
    HttpClient client(address);
    for (const ComingIndex& index : kComing) {
      const std::string path = fmt::format("{}/indexes/{}", kUsers, index.name);
      // One that is on its way out is waited for.
      EXPECT_TRUE(Eventually(
          [&] {
            const int status = client.Call("PUT", path, {}, fmt::format("{{{}}}", index.spec)).status;
            const HttpAnswer is = client.Call("GET", path);
            return (status == 200 || status == 202) && is.body.find(R"("state":"ready")") != std::string::npos;
          },
          seconds(60)))
          << client.Call("GET", path).body;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(std::max(0.0, load_.LastEnd() - TableLoad::Now()) + 0.1));
    EXPECT_TRUE(Eventually([&] { return Unfinished(client).empty(); }, seconds(60)))
        << fmt::format("{}", fmt::join(Unfinished(client), "\n"));
  }
  // Jobs that have not come to a good end.
  static std::vector<std::string> Unfinished(HttpClient& client) {
    std::vector<std::string> jobs;
    std::string after;
    do {
      const JsonValue page =
          JsonValue::Parse(client.Call("GET", "/jobs?limit=100" + (after.empty() ? "" : "&after=" + after)).body);
      for (const JsonValue& job : page["items"].elements()) {
        if (job["state"].text() != "done") jobs.push_back(job.raw());
      }
      after = page["next"].is_null() ? "" : page["next"].text();
    } while (!after.empty());
    return jobs;
  }

  // What verifications say: those that ran beside everything else, and one of each table now.
  std::vector<std::string> Drift(const std::string& address) {
    HttpClient client(address);
    std::vector<std::string> found;
    std::vector<std::string> jobs = verifications_;
    for (const char* table : {kUsers, kOrders}) {
      jobs.push_back(JsonValue::Parse(client.Call("POST", std::string(table) + "/verify").body)["job"].text());
    }
    for (const std::string& id : jobs) {
      JsonValue job;
      const auto ended = [&] {
        job = JsonValue::Parse(client.Call("GET", "/jobs/" + id).body);
        return job["state"].text() == "done";
      };
      if (!Eventually(ended, seconds(60)) || job["found"].raw() != "{}") found.push_back(job.raw());
    }
    return found;
  }

  TempDir dir_;
  const uint64_t seed_ = FromEnvironment("KVARTS_SEED", std::random_device()());
  std::mt19937_64 random_{seed_};
  TableLoad load_{kWriters, seed_};
  std::vector<std::string> verifications_;
};
KVARTS_ON_ENGINES_WITH(TableCrashTest, persistent);

TEST_P(TableCrashTest, KilledAtAnyInstantLeavesRowsAndIndexesInStep) {
  SCOPED_TRACE(fmt::format("KVARTS_SEED={}", seed_));
  ASSERT_NO_FATAL_FAILURE(Prepare());
  const int rounds = LongRun() ? 40 : 3;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    RunAndKill(100);
    const Servers servers = Start();
    for (const std::string& wrong : load_.Verify(TableLoad::ReadState(servers.back()->address()))) {
      ADD_FAILURE() << wrong;
    }
  }
  const Servers servers = Start();
  const std::string& address = servers.back()->address();
  Settle(address);
  const TableState state = TableLoad::ReadState(address);
  for (const std::string& wrong : load_.Verify(state)) ADD_FAILURE() << wrong;
  for (const std::string& wrong : CompareIndexes(address, state)) ADD_FAILURE() << wrong;
  for (const std::string& drift : Drift(address)) ADD_FAILURE() << drift;
  EXPECT_GT(load_.refused(), 0U) << "no two have wanted the same";
}

// That all this would notice: what is done to the store behind the server's back is found by each that is to find it.
TEST_P(TableCrashTest, DamageBelowTheModelIsFound) {
  SCOPED_TRACE(fmt::format("KVARTS_SEED={}", seed_));
  ASSERT_NO_FATAL_FAILURE(Prepare());
  RunAndKill(150);
  TableState state;
  {
    const Servers servers = Start();
    Settle(servers.front()->address());
    state = TableLoad::ReadState(servers.front()->address());
    ASSERT_TRUE(load_.Verify(state).empty());
    ASSERT_TRUE(CompareIndexes(servers.front()->address(), state).empty());
    ASSERT_TRUE(Drift(servers.front()->address()).empty());
  }
  verifications_.clear();
  struct Findings {
    size_t promises;
    size_t answers;
    size_t drift;
  };
  const auto findings = [&](const std::function<void(BelowModel&)>& damage) {
    {
      BelowModel below(Place());
      damage(below);
    }
    const Servers servers = Start();
    const std::string& address = servers.front()->address();
    const TableState damaged = TableLoad::ReadState(address);
    return Findings{load_.Verify(damaged).size(), CompareIndexes(address, damaged).size(), Drift(address).size()};
  };
  const TablePath users{"acme", "shop", "users"};
  const Findings entry = findings([&](BelowModel& below) { below.Erase(below.FirstEntry(users, "kind")); });
  EXPECT_EQ(entry.promises, 0U);
  EXPECT_GT(entry.answers, 0U);
  EXPECT_EQ(entry.drift, 1U);

  // A row of each kind that a batch wrote, of the same writer.
  const auto pair = std::ranges::find_if(
      state.rows, [](const auto& row) { return row.first.table == kUsers && row.first.id.starts_with("pair"); });
  ASSERT_NE(pair, state.rows.end());
  const std::string key = fmt::format(R"({{"w":"{}","id":"{}"}})", pair->first.writer, pair->first.id);
  const Findings torn = findings([&](BelowModel& below) { below.EraseRow(users, key); });
  EXPECT_EQ(torn.promises, 2U) << "that it is gone, and that the other one is not";
  EXPECT_GT(torn.answers, entry.answers) << "entries lead to a row that is gone";
  EXPECT_EQ(torn.drift, 1U);

  // Two rows with one value where it is unique, and a row that was never written.
  const Findings twice = findings([&](BelowModel& below) {
    for (const char* id : {"x", "y"}) {
      below.PutRow(users, fmt::format(R"({{"w":"nobody","id":"{}","n":{},"mail":"USER1@x"}})", id, 1'000'000 + id[0]));
    }
  });
  EXPECT_GE(twice.promises, torn.promises + 2) << "what was never written, and what is there twice";
  EXPECT_GT(twice.answers, torn.answers);
  EXPECT_EQ(twice.drift, 1U);
}

}  // namespace
}  // namespace kvarts::test
