// The server is killed again and again under load, on the same directory. What it has acknowledged is there each time.
#include <signal.h>

#include <chrono>
#include <random>
#include <thread>

#include "http/crash_load.h"
#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;

constexpr int kWriters = 8;

class HttpCrashTest : public ::testing::Test {
 protected:
  std::unique_ptr<ServerProcess> Start() const {
    // Small buffers, so that files are written, too.
    return std::make_unique<ServerProcess>(std::vector<std::string>{"--data", dir_ / "data", "--durability", "sync",
                                                                    "--memory-budget", "8MiB", "--hot-cache", "0"});
  }
  // Loads the server until so much is acknowledged, and a little longer; then kills it.
  void RunAndKill(uint64_t acks) {
    const auto server = Start();
    std::atomic<bool> stop = false;
    std::jthread load([&] { load_.Run(server->address(), stop); });
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const uint64_t before = load_.acked();
    while (load_.acked() < before + acks && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    ASSERT_GE(load_.acked(), before + acks);
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 50'000));
    server->Signal(SIGKILL);
    server->Wait();
    stop = true;
  }
  std::map<std::string, uint64_t> State() const { return CrashLoad::ReadState(Start()->address()); }

  TempDir dir_;
  CrashLoad load_{kWriters};
  std::mt19937_64 random_{std::random_device()()};
};

TEST_F(HttpCrashTest, KilledAtAnyInstantLosesNothingAcknowledged) {
  const int rounds = LongRun() ? 40 : 4;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    RunAndKill(300);
    for (const std::string& wrong : load_.Verify(State())) ADD_FAILURE() << wrong;
  }
}

// Plants in what a verifier is shown what must not be there.
TEST_F(HttpCrashTest, TheVerifierFindsWhatIsMissingTornOrInvented) {
  RunAndKill(500);
  const std::map<std::string, uint64_t> state = State();
  const auto findings = [&state, this](const auto& change) {
    CrashLoad& load = load_;
    std::map<std::string, uint64_t> planted = state;
    change(&planted);
    return load.Verify(planted);
  };
  ASSERT_TRUE(findings([](auto*) {}).empty());
  const auto first_of = [&state](const std::string& part) {
    for (const auto& [key, number] : state) {
      if (key.find(part) != std::string::npos) return key;
    }
    return std::string();
  };
  // Each leaves the promises as the state that was planted, so they go back first.
  for (const char* part : {"/put/", "/list/", "/sum", "/pair/a", "/pair/b"}) {
    const std::string key = first_of(part);
    ASSERT_FALSE(key.empty()) << part;
    EXPECT_FALSE(findings([&key](auto* planted) { planted->erase(key); }).empty()) << "erased " << key;
    load_.Restore(state);
    EXPECT_FALSE(findings([&key](auto* planted) { --(*planted)[key]; }).empty()) << "lowered " << key;
    load_.Restore(state);
    EXPECT_FALSE(findings([&key](auto* planted) { ++(*planted)[key]; }).empty()) << "raised " << key;
    load_.Restore(state);
  }
  EXPECT_FALSE(findings([](auto* planted) { (*planted)["crash/00/list/999999"] = 999'999; }).empty());
  load_.Restore(state);
  EXPECT_TRUE(findings([](auto*) {}).empty());
}

// The same through the server: an acknowledged write that goes away behind the load's back is found.
TEST_F(HttpCrashTest, AWriteThatIsRemovedIsMissed) {
  RunAndKill(100);
  ASSERT_TRUE(load_.Verify(State()).empty());
  RunAndKill(100);
  // Whatever is there counts as promised, also what was written without its answer being heard.
  ASSERT_TRUE(load_.Verify(State()).empty());
  {
    const auto server = Start();
    HttpClient client(server->address());
    const std::string key = CrashLoad::ReadState(server->address()).begin()->first;
    EXPECT_EQ(client.Call("DELETE", "/keys/" + key).status, 200);
  }
  EXPECT_FALSE(load_.Verify(State()).empty());
}

}  // namespace
}  // namespace kvarts::test
