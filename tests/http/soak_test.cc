// A server under mixed load for a while: no request fails, and its memory stays where it was. Fifteen minutes in the
// long run, some seconds otherwise.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

// Of the process, in KiB.
uint64_t ResidentKib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::strtoull(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}

// One client's share of the load; how many requests it made.
uint64_t Work(const std::string& address, uint64_t seed, std::chrono::steady_clock::time_point until,
              std::atomic<uint64_t>* wrong) {
  std::mt19937_64 random(seed);
  const std::string value(200, 'v');
  uint64_t requests = 0;
  while (std::chrono::steady_clock::now() < until) {
    // Connections come and go.
    HttpClient client(address);
    for (int i = 0; i < 200 && std::chrono::steady_clock::now() < until; ++i, ++requests) {
      const std::string key = "/keys/soak/" + std::to_string(random() % 20'000);
      HttpAnswer answer;
      switch (random() % 8) {
        case 0:
          answer = client.Call("PUT", key + "?ttl=5", {{"Kvarts-Durability", "interval"}}, value);
          break;
        case 1:
          answer = client.Call("DELETE", key, {{"Kvarts-Durability", "none"}});
          break;
        case 2:
          answer = client.Call("GET", "/keys?prefix=soak/1&limit=50");
          break;
        case 3:
          answer =
              client.Call("POST", "/commit", {{"Kvarts-Durability", "none"}},
                          R"({"mutations":[{"op":"increment","key":"soak-counter"},{"op":"add","key":"soak-added"}]})");
          break;
        case 4:
          answer = client.Call("PUT", key, {{"Content-Type", "application/json"}}, "{\"value\": [1, 2");
          if (answer.status == 400) continue;
          break;
        default:
          answer = client.Call("GET", key);
      }
      const bool missing = answer.status == 404;
      if (answer.status / 100 != 2 && !missing) wrong->fetch_add(1);
    }
  }
  return requests;
}

// AddressSanitizer keeps what was freed for a while, up to this much.
#if defined(__SANITIZE_ADDRESS__)
constexpr uint64_t kQuarantineKib = 256 << 10;
#else
constexpr uint64_t kQuarantineKib = 0;
#endif

TEST(SoakTest, MemoryStaysFlatUnderMixedLoad) {
  const auto whole = LongRun() ? std::chrono::seconds(15 * 60) : std::chrono::seconds(6);
  ServerProcess server({"--engine", "rocksdb", "--loops", "2", "--memory-budget", "64MiB", "--hot-cache", "8MiB"});
  std::atomic<uint64_t> wrong = 0;
  const auto load_for = [&](std::chrono::steady_clock::duration time, uint64_t seed) {
    const auto until = std::chrono::steady_clock::now() + time;
    std::atomic<uint64_t> requests = 0;
    std::vector<std::jthread> clients;
    for (uint64_t i = 0; i < 8; ++i) {
      clients.emplace_back([&, i] { requests += Work(server.address(), seed * 100 + i, until, &wrong); });
    }
    clients.clear();
    return requests.load();
  };
  // What caches and buffers may hold is filled first.
  const uint64_t first = load_for(whole / 3, 1);
  const uint64_t before = ResidentKib(server.pid());
  const uint64_t then = load_for(whole * 2 / 3, 2);
  const uint64_t after = ResidentKib(server.pid());
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(first, 100);
  EXPECT_GT(then, 100);
  RecordProperty("requests", std::to_string(first + then));
  // Buffers of the store come and go within its budget.
  EXPECT_LT(after, before + before / 5 + (64 << 10) + kQuarantineKib) << before << " KiB, then " << after;
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait(), 0);
}

}  // namespace
}  // namespace kvarts::test
