// Clients that ask for much with little: they cost their own connection, not the server's memory nor others' time.
#include <signal.h>

#include <fstream>
#include <thread>

#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

// AddressSanitizer keeps what was freed for a while, and ThreadSanitizer what it knows about each byte.
#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kKept = 512 << 20;
#elif defined(__SANITIZE_THREAD__)
constexpr size_t kKept = 1 << 30;
#else
constexpr size_t kKept = 0;
#endif

class HostileTest : public HttpTest {
 protected:
  // The most memory that the process has had, in bytes.
  static size_t PeakOf(const ServerProcess& server) {
    std::ifstream status("/proc/" + std::to_string(server.pid()) + "/status");
    for (std::string word; status >> word;) {
      if (word != "VmHWM:") continue;
      size_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes << 10;
    }
    return 0;
  }
  std::unique_ptr<ServerProcess> Start(std::vector<std::string> options = {}) {
    options.insert(options.end(), {"--engine", GetParam().name});
    return std::make_unique<ServerProcess>(options);
  }
};

TEST_P(HostileTest, PipelinedRequestsForLargeAnswersDoNotPileUp) {
  const auto server = Start();
  HttpClient client(server->address());
  client.Call("PUT", "/keys/large", {{"Prefer", "return=minimal"}}, std::string(4 << 20, 'x'));
  const HttpHeaders raw = {{"Accept", "application/octet-stream"}};
  ASSERT_EQ(client.Call("GET", "/keys/large", raw).status, 200);
  const size_t before = PeakOf(*server);
  std::string text;
  for (int i = 0; i < 400; ++i) text += RequestText("GET", "/keys/large", raw);
  ASSERT_TRUE(client.Send(text));  // at once, and 1.6 GB in answer
  std::this_thread::sleep_for(milliseconds(500));
  for (int i = 0; i < 20; ++i) ASSERT_EQ(client.Read().body.size(), 4U << 20);
  EXPECT_LT(PeakOf(*server) - before, kKept + (200U << 20));
}

TEST_P(HostileTest, ALargeValueCannotBeAskedForManyTimesAtOnce) {
  const auto server = Start();
  HttpClient client(server->address());
  client.Call("PUT", "/keys/large", {{"Prefer", "return=minimal"}}, std::string(4 << 20, 'x'));
  const size_t before = PeakOf(*server);
  std::string keys;
  for (int i = 0; i < 500; ++i) keys += i == 0 ? "\"large\"" : ",\"large\"";
  EXPECT_TRUE(IsProblem(client.Call("POST", "/keys/get", {}, R"({"keys":[)" + keys + "]}"), 413, "too_large"));
  EXPECT_LT(PeakOf(*server) - before, kKept + (400U << 20));
  EXPECT_EQ(client.Call("POST", "/keys/get", {}, R"({"keys":["large","large"]})").status, 200);
}

TEST_P(HostileTest, ABusyConnectionDoesNotStarveOthers) {
  const auto server = Start({"--loops", "1"});
  std::atomic<bool> done = false;
  HttpClient busy(server->address());
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += RequestText("GET", "/livez");
  std::jthread sender([&] {
    while (!done && busy.Send(text)) continue;
  });
  std::jthread reader([&] {
    while (!busy.ReadSome(1 << 20).empty()) continue;
  });
  std::this_thread::sleep_for(milliseconds(100));
  HttpClient other(server->address());
  milliseconds longest{0};
  for (int i = 0; i < 10; ++i) {
    const auto begin = Steady::now();
    EXPECT_EQ(other.Call("GET", "/livez").status, 200);
    longest = std::max(longest, std::chrono::duration_cast<milliseconds>(Steady::now() - begin));
  }
  EXPECT_LT(longest, milliseconds(3'000));
  done = true;
  server->Signal(SIGKILL);
  server->Wait();
}

TEST_P(HostileTest, WhoOnlySaysHowMuchWillComeTakesNobodysRoom) {
  std::vector<HttpClient> boasters;
  for (int i = 0; i < 10; ++i) {
    boasters.push_back(Connect());
    boasters.back().Send("PUT /keys/hostile HTTP/1.1\r\nHost: x\r\nContent-Length: 67108864\r\n\r\nx");
  }
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(PutRaw("/keys/hostile/large", std::string(1 << 20, 'x')).status, 200);
}

TEST_P(HostileTest, ManyWhoSendNothingDoNotStopOthers) {
  std::vector<HttpClient> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(Connect());
    const char* begun[] = {"", "G", "GET / HT", "PUT /keys/x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx"};
    idle.back().Send(begun[i % 4]);
  }
  const auto begin = Steady::now();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Get("/livez").status, 200);
  EXPECT_LT(Steady::now() - begin, milliseconds(5'000));
}

KVARTS_ON_EVERY_ENGINE(HostileTest);

}  // namespace
}  // namespace kvarts::test
