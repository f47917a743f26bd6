// The server as a process: many connections, stopping, starting again, other addresses.
#include <signal.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "http/event_reader.h"
#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr milliseconds kSoon(5'000);

class LifecycleTest : public HttpTest {
 protected:
  // A server that the test may stop.
  std::unique_ptr<ServerProcess> Start(std::vector<std::string> options = {}) {
    options.insert(options.end(), {"--engine", GetParam().name});
    return std::make_unique<ServerProcess>(options);
  }
  static bool Refuses(const std::string& address) {
    HttpClient client(address);
    return !client.connected();
  }
};

TEST_P(LifecycleTest, ManyConnectionsAtOnce) {
  const size_t count = LongRun() ? 10'000 : 1'000;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_max < count + 200) GTEST_SKIP() << "only " << files.rlim_max << " files may be open";
  const auto server = Start();
  std::vector<HttpClient> clients;
  for (size_t i = 0; i < count; ++i) {
    clients.emplace_back(server->address());
    ASSERT_TRUE(clients.back().connected()) << i;
  }
  // All ask, then all are answered; some write, and all see it.
  for (size_t i = 0; i < count; ++i) {
    const std::string key = "/keys/many/" + std::to_string(i % 10);
    ASSERT_TRUE(clients[i].Send(i < 10 ? RequestText("PUT", key, {}, "x") : RequestText("GET", "/livez")));
  }
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(clients[i].Read().status, 200) << i;
  for (size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(clients[i].Send(RequestText("GET", "/keys/many/" + std::to_string(i % 10))));
  }
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(clients[i].Read().status, 200) << i;
  // Idle ones do not keep it from stopping.
  const auto begin = Steady::now();
  server->Signal(SIGTERM);
  EXPECT_EQ(server->Wait(), 0);
  EXPECT_LT(Steady::now() - begin, kSoon);
}

TEST_P(LifecycleTest, ConnectionsThatComeAndGoLeaveNothing) {
  const auto server = Start();
  const auto open_files = [&server] {
    const std::filesystem::directory_iterator all("/proc/" + std::to_string(server->pid()) + "/fd");
    return std::distance(begin(all), end(all));
  };
  HttpClient(server->address()).Call("GET", "/livez");
  constexpr int kOfEngine = 20;  // it may open some for itself meanwhile, to its servers
  const auto before = open_files() + kOfEngine;
  for (int i = 0; i < 300; ++i) {
    HttpClient client(server->address());
    if (i % 3 == 0) client.Call("GET", "/livez");
    if (i % 3 == 1) client.Send("GET /li");
    if (i % 5 == 0) client.Reset();
  }
  const auto give_up = Steady::now() + kSoon;
  while (open_files() > before && Steady::now() < give_up) std::this_thread::sleep_for(milliseconds(20));
  EXPECT_LE(open_files(), before);
}

TEST_P(LifecycleTest, AStoppingServerFinishesWhatIsUnderWay) {
  const auto server = Start();
  const std::string address = server->address();
  // As many as it takes for each loop to have one.
  std::vector<HttpClient> idle;
  for (int i = 0; i < 16; ++i) EXPECT_EQ(idle.emplace_back(address).Call("GET", "/livez").status, 200);
  HttpClient half_body(address);
  const std::string put = RequestText("PUT", "/keys/drain/a", {}, "0123456789");
  half_body.Send(put.substr(0, put.size() - 5));
  HttpClient half_head(address);
  half_head.Send("GET /livez HTT");
  // The server has read these when it answers this one.
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(idle.front().Call("GET", "/readyz").status, 200);

  server->Signal(SIGTERM);
  ASSERT_TRUE(server->AwaitLog("stopping"));
  for (HttpClient& client : idle) EXPECT_TRUE(client.EndsWithin(kSoon));
  EXPECT_TRUE(Refuses(address));
  EXPECT_TRUE(server->Running());
  half_body.Send(put.substr(put.size() - 5));
  const HttpAnswer put_answer = half_body.Read();
  EXPECT_EQ(put_answer.status, 200);
  EXPECT_EQ(put_answer.Header("Connection"), "close");
  EXPECT_TRUE(half_body.EndsWithin(kSoon));
  half_head.Send("P/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(half_head.Read().status, 200);
  EXPECT_TRUE(half_head.EndsWithin(kSoon));
  // The server need not wait for them to close their side.
  half_body.Reset();
  half_head.Reset();
  EXPECT_EQ(server->Wait(), 0);
}

TEST_P(LifecycleTest, AStoppingServerFinishesAnExport) {
  const auto server = Start();
  HttpClient client(server->address());
  const std::string value(1 << 20, 'x');
  for (int i = 0; i < 30; ++i)
    client.Call("PUT", "/keys/drain/" + std::to_string(i), {{"Prefer", "return=minimal"}}, value);
  client.Send(RequestText("GET", "/keys?prefix=drain/", {{"Accept", "application/x-ndjson"}}));
  std::this_thread::sleep_for(milliseconds(100));
  server->Signal(SIGTERM);
  ASSERT_TRUE(server->AwaitLog("stopping"));
  const HttpAnswer answer = client.Read();
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.body.find(R"({"end":true,"count":30)"), std::string::npos);
  EXPECT_EQ(server->Wait(), 0);
}

TEST_P(LifecycleTest, WhatIsUnderWayEndsEachInItsWay) {
  const auto server = Start();
  const std::string address = server->address();
  HttpClient writer(address);
  const std::string value(1 << 20, 'x');
  for (int i = 0; i < 30; ++i) {
    ASSERT_EQ(writer.Call("PUT", "/keys/way/" + std::to_string(i), {{"Prefer", "return=minimal"}}, value).status, 204);
  }
  EventReader watch(address, "/watch?prefix=way/");
  ASSERT_EQ(watch.status(), 200);
  HttpClient poll(address);
  poll.Send(RequestText("GET", "/watch?prefix=way/&wait=60"));
  HttpClient exporter(address);
  exporter.Send(RequestText("GET", "/keys?prefix=way/", {{"Accept", "application/x-ndjson"}}));
  const std::string put = RequestText("PUT", "/keys/way/put", {}, "0123456789");
  writer.Send(put.substr(0, put.size() - 5));
  std::this_thread::sleep_for(milliseconds(100));

  server->Signal(SIGTERM);
  ASSERT_TRUE(server->AwaitLog("stopping"));
  // A watch is told that it is over, and where it was; a client that comes again finds another server.
  EXPECT_TRUE(watch.EndsWithin(kSoon));
  EXPECT_TRUE(watch.ended_well());
  const HttpAnswer polled = poll.Read();
  EXPECT_EQ(polled.status, 200);
  EXPECT_EQ(JsonValue::Parse(polled.body)["changes"].size(), 0U);
  // What changes something, and what is being read, is brought to its end.
  EXPECT_TRUE(server->Running());
  writer.Send(put.substr(put.size() - 5));
  EXPECT_EQ(writer.Read().status, 200);
  const HttpAnswer exported = exporter.Read();
  EXPECT_EQ(exported.status, 200);
  EXPECT_NE(exported.body.find(R"({"end":true,"count":3)"), std::string::npos);
  EXPECT_EQ(server->Wait(), 0);
  EXPECT_EQ(server->Log().find("cut off"), std::string::npos);
}

TEST_P(LifecycleTest, ASecondSignalEndsItAtOnce) {
  const TempDir dir;
  for (const int second : {SIGTERM, SIGINT}) {
    const auto server = Start({"--drain-timeout", "10m", "--data", dir / "data"});
    HttpClient done(server->address());
    EXPECT_EQ(done.Call("PUT", "/keys/done", {}, "x").status, 200);
    HttpClient half(server->address());
    half.Send("PUT /keys/half HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n123");
    std::this_thread::sleep_for(milliseconds(50));
    server->Signal(SIGTERM);
    ASSERT_TRUE(server->AwaitLog("stopping"));
    // To reload is not to hurry.
    server->Signal(SIGHUP);
    std::this_thread::sleep_for(milliseconds(100));
    EXPECT_TRUE(server->Running());
    const auto begin = Steady::now();
    server->Signal(second);
    EXPECT_EQ(server->Wait(), 0);
    EXPECT_LT(Steady::now() - begin, kSoon);
    EXPECT_TRUE(half.EndsWithin(kSoon));
    EXPECT_NE(server->Log().find("connections were cut off"), std::string::npos);
  }
  if (!GetParam().persistent) return;
  const auto next = Start({"--data", dir / "data"});
  HttpClient client(next->address());
  EXPECT_EQ(client.Call("GET", "/keys/done").status, 200);
  EXPECT_EQ(client.Call("GET", "/keys/half").status, 404);
}

TEST_P(LifecycleTest, AStoppingServerDoesNotWaitForEver) {
  const auto server = Start({"--drain-timeout", "300ms"});
  HttpClient client(server->address());
  client.Send("PUT /keys/drain/never HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n");
  std::this_thread::sleep_for(milliseconds(50));
  const auto begin = Steady::now();
  server->Signal(SIGINT);
  EXPECT_EQ(server->Wait(), 0);
  EXPECT_LT(Steady::now() - begin, kSoon);
  EXPECT_NE(server->Log().find("connections were cut off"), std::string::npos);
}

TEST_P(LifecycleTest, UnixSockets) {
  const TempDir dir;
  const std::string path = dir / "kvarts.sock";
  {
    const auto server = Start({"--listen", "unix:" + path, "--listen", "127.0.0.1:0"});
    EXPECT_EQ(server->address(0), "unix:" + path);
    EXPECT_EQ(Curl({"--unix-socket", path, "-X", "PUT", "-d", R"({"value":1})", "http://x/keys/unix"}).status, 200);
    EXPECT_EQ(HttpClient(server->address(0)).Call("GET", "/keys/unix").status, 200);
    EXPECT_EQ(HttpClient(server->address(1)).Call("GET", "/keys/unix").status, 200);
    // One that is in use is not taken away.
    EXPECT_THROW(Start({"--listen", "unix:" + path}), std::runtime_error);
    EXPECT_EQ(HttpClient(server->address(0)).Call("GET", "/livez").status, 200);
    server->Signal(SIGTERM);
    EXPECT_EQ(server->Wait(), 0);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  {
    const auto killed = Start({"--listen", "unix:" + path});
    killed->Signal(SIGKILL);
    killed->Wait();
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  const auto next = Start({"--listen", "unix:" + path});
  EXPECT_EQ(HttpClient(next->address()).Call("GET", "/livez").status, 200);
}

TEST_P(LifecycleTest, AddressesThatCannotBeServedAreRefused) {
  EXPECT_THROW(Start({"--listen", "0.0.0.0:0"}), std::runtime_error);
  EXPECT_THROW(Start({"--listen", "nonsense"}), std::runtime_error);
  const auto server = Start();
  EXPECT_THROW(Start({"--listen", server->address()}), std::runtime_error);
}

KVARTS_ON_EVERY_ENGINE(LifecycleTest);

class RestartTest : public LifecycleTest {};

TEST_P(RestartTest, ARestartKeepsEverything) {
  const TempDir dir;
  auto server = Start({"--data", dir / "data"});
  const std::vector<std::string> targets = {"/keys/a",          "/keys/json",   "/keys/raw",
                                            "/keys/typed",      "/keys/%00%FF", "/keys/ttl",
                                            "/keys/n",          "/keys/big",    "/keys?prefix=page/&limit=100",
                                            "/keys?count=exact"};
  std::string cursor;
  std::vector<std::string> before;
  {
    HttpClient client(server->address());
    client.Call("PUT", "/keys/a", {}, "x");
    client.Call("PUT", "/keys/json", {{"Content-Type", "application/json"}},
                R"({"value":{"n":1.00,"big":123456789012345678901234567890}})");
    client.Call("PUT", "/keys/raw", {}, std::string("\0\xff", 2));
    client.Call("PUT", "/keys/typed", {{"Content-Type", "text/html"}}, "<p>");
    client.Call("PUT", "/keys/%00%FF", {}, "bytes");
    client.Call("PUT", "/keys/ttl?ttl=1000", {}, "x");
    client.Call("PUT", "/keys/short?ttl=0.1", {}, "x");
    client.Call("PATCH", "/keys/n", {}, R"({"increment":7})");
    client.Call("PUT", "/keys/big", {}, std::string(5 << 20, 'b'));
    client.Call("PUT", "/keys/gone", {}, "x");
    client.Call("DELETE", "/keys/gone");
    for (int i = 0; i < 20; ++i)
      client.Call("PUT", "/keys/page/" + std::to_string(i), {{"Kvarts-Durability", "none"}}, "x");
    std::this_thread::sleep_for(milliseconds(110));
    for (const std::string& target : targets) before.push_back(client.Call("GET", target).body);
    cursor = JsonValue::Parse(client.Call("GET", "/keys?prefix=page/&limit=5").body)["cursor"].text();
    // Nobody else opens files meanwhile.
    if (GetParam().files) {
      EXPECT_THROW(Start({"--data", dir / "data"}), std::runtime_error);
    }
  }
  server->Signal(SIGTERM);
  EXPECT_EQ(server->Wait(), 0);
  server = Start({"--data", dir / "data"});
  HttpClient client(server->address());
  for (size_t i = 0; i < targets.size(); ++i) EXPECT_EQ(client.Call("GET", targets[i]).body, before[i]) << targets[i];
  EXPECT_EQ(client.Call("GET", "/keys/gone").status, 404);
  EXPECT_EQ(client.Call("GET", "/keys/short").status, 404);
  const JsonValue next = JsonValue::Parse(client.Call("GET", "/keys?prefix=page/&limit=100&cursor=" + cursor).body);
  EXPECT_EQ(next["items"].size(), 15U);
  // Versions go on.
  const int64_t version = JsonValue::Parse(client.Call("GET", "/keys/a").body)["version"].number();
  EXPECT_GT(JsonValue::Parse(client.Call("PUT", "/keys/a", {}, "y").body)["version"].number(), version);
}

KVARTS_ON_ENGINES_WITH(RestartTest, persistent);

}  // namespace
}  // namespace kvarts::test
