// How requests are carried out beside each other: long work leaves room for short work, what nobody waits for is not
// begun, and clients that are slow to take a stream hold little memory.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "http/event_reader.h"
#include "http/gated_server.h"
#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr milliseconds kSoon(5'000);
// The server looks whether clients are there every 250 ms.
constexpr milliseconds kNoticed(1'000);
const std::string kCompact = RequestText("POST", "/compact", {}, "{}");

class ExecutionTest : public ::testing::TestWithParam<std::string> {
 protected:
  // Whether it becomes true within some seconds.
  template <class Condition>
  static bool Eventually(const Condition& condition) {
    const auto end = Steady::now() + kSoon;
    while (!condition()) {
      if (Steady::now() > end) return false;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return true;
  }
};

TEST_P(ExecutionTest, ShortWorkDoesNotWaitForLongWork) {
  ServerOptions options = GatedServer::Options();
  options.worker_threads = 2;
  GatedServer server(GetParam(), options);
  std::vector<HttpClient> compacting;
  for (int i = 0; i < 3; ++i) {
    compacting.push_back(server.Connect());
    compacting.back().Send(kCompact);
  }
  server.gate.begun.acquire();
  HttpClient client = server.Connect();
  client.set_patience(kSoon);
  EXPECT_EQ(client.Call("GET", "/keys?limit=1").status, 200);
  EXPECT_EQ(client.Call("GET", "/namespaces").status, 200);
  EXPECT_EQ(server.gate.compactions, 1);
  server.gate.go.release(3);
  for (HttpClient& other : compacting) EXPECT_EQ(other.Read().status, 200);
}

TEST_P(ExecutionTest, LongWorkIsNotBegunForAClientThatIsGone) {
  ServerOptions options = GatedServer::Options();
  options.worker_threads = 1;
  GatedServer server(GetParam(), options);
  HttpClient first = server.Connect();
  first.Send(kCompact);
  server.gate.begun.acquire();
  HttpClient reset = server.Connect();
  HttpClient ended = server.Connect();
  HttpClient stays = server.Connect();
  for (HttpClient* client : {&reset, &ended, &stays}) client->Send(kCompact);
  std::this_thread::sleep_for(milliseconds(100));
  reset.Reset();
  ended.EndInput();
  std::this_thread::sleep_for(kNoticed);
  server.gate.go.release(10);
  EXPECT_EQ(first.Read().status, 200);
  EXPECT_EQ(stays.Read().status, 200);
  EXPECT_EQ(server.gate.compactions, 2);
}

TEST_P(ExecutionTest, WorkThatWaitedForTooLongIsNotBegun) {
  ServerOptions options = GatedServer::Options();
  options.worker_threads = 1;
  options.http.request_timeout = Duration::Millis(300);
  GatedServer server(GetParam(), options);
  HttpClient first = server.Connect();
  first.Send(kCompact);
  server.gate.begun.acquire();
  HttpClient long_work = server.Connect();
  long_work.Send(kCompact);
  HttpClient short_work = server.Connect();
  short_work.Send(RequestText("GET", "/namespaces"));
  std::this_thread::sleep_for(milliseconds(500));
  server.gate.go.release(10);
  EXPECT_EQ(first.Read().status, 200);
  for (HttpClient* client : {&long_work, &short_work}) {
    const HttpAnswer refused = client->Read();
    EXPECT_TRUE(IsProblem(refused, 503, "overloaded"));
    EXPECT_NE(refused.body.find("request_timeout"), std::string::npos);
    EXPECT_EQ(client->Call("GET", "/namespaces").status, 200);
  }
  EXPECT_EQ(server.gate.compactions, 1);
}

// Clients that ask for a stream and do not take it.
class SlowClientTest : public ExecutionTest {
 protected:
  static constexpr size_t kRoom = 4 << 20;

  static ServerOptions Options() {
    ServerOptions options = GatedServer::Options();
    options.http.max_inflight_bytes = kRoom;
    options.http.max_body_bytes = 1 << 20;
    options.http.write_timeout = Duration::Seconds(60);
    return options;
  }
  // More than the kernel takes for a client that reads nothing.
  static void Fill(const GatedServer& server) {
    HttpClient client = server.Connect();
    const std::string value(400'000, 'v');
    for (int i = 0; i < 60; ++i) {
      const std::string target = "/keys/slow/" + std::to_string(100 + i);
      ASSERT_EQ(client.Call("PUT", target, {{"Prefer", "return=minimal"}}, value).status, 204);
    }
  }
};

TEST_P(SlowClientTest, AnExportThatNobodyTakesHoldsOnePart) {
  GatedServer server(GetParam(), Options());
  Fill(server);
  HttpClient slow = server.Connect();
  slow.Send(RequestText("GET", "/keys?prefix=slow/", {{"Accept", "application/x-ndjson"}}));
  ASSERT_TRUE(Eventually([&] { return server.Metric("kvarts_inflight_bytes") > 0; }));
  // One value is larger than a part should be, so it is one by itself.
  EXPECT_LT(server.Metric("kvarts_inflight_bytes"), 500'000);
  // It goes on when the client does.
  const HttpAnswer answer = slow.Read();
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.body.find(R"({"end":true,"count":60,)"), std::string::npos);
  EXPECT_TRUE(Eventually([&] { return server.Metric("kvarts_inflight_bytes") == 0; }));
}

TEST_P(SlowClientTest, ManyOfThemAreCutOffBeforeOthersAreRefused) {
  GatedServer server(GetParam(), Options());
  Fill(server);
  std::vector<HttpClient> slow;
  for (int i = 0; i < 12; ++i) {
    slow.push_back(server.Connect());
    slow.back().Send(RequestText("GET", "/keys?prefix=slow/", {{"Accept", "application/x-ndjson"}}));
  }
  // 5 parts of 400 kB are within half of the room.
  ASSERT_TRUE(Eventually([&] { return server.Metric("kvarts_connections") <= 6; }));
  EXPECT_LE(server.Metric("kvarts_inflight_bytes"), kRoom / 2);
  EXPECT_EQ(server.Connect().Call("PUT", "/keys/other", {}, std::string(1 << 20, 'x')).status, 200);
  size_t whole = 0;
  for (HttpClient& client : slow) whole += client.Read().status == 200 ? 1 : 0;
  EXPECT_EQ(whole, 5U);
}

TEST_P(SlowClientTest, AWatchThatNobodyTakesLosesChangesAndNothingElse) {
  ServerOptions options = Options();
  options.watch.heartbeat = Duration::Seconds(60);
  GatedServer server(GetParam(), options);
  EventReader watch(server.address(), "/watch?prefix=slow/");
  ASSERT_EQ(watch.status(), 200);
  for (int i = 0; i < 3; ++i) {
    Fill(server);
    EXPECT_LE(server.Metric("kvarts_inflight_bytes"), kRoom / 2);
  }
  // What was kept comes, and then that there was more.
  std::string last;
  while (const auto event = watch.Next()) last = event->event;
  EXPECT_EQ(last, "lost");
  EXPECT_TRUE(Eventually([&] { return server.Metric("kvarts_inflight_bytes") == 0; }));
}

INSTANTIATE_TEST_SUITE_P(Engines, ExecutionTest, ::testing::ValuesIn(kEngines), EngineName);
INSTANTIATE_TEST_SUITE_P(Engines, SlowClientTest, ::testing::ValuesIn(kEngines), EngineName);

}  // namespace
}  // namespace kvarts::test
