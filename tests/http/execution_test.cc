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
using std::chrono::seconds;
using Steady = std::chrono::steady_clock;

constexpr milliseconds kSoon(5'000);
// The server looks whether clients are there every 250 ms.
constexpr milliseconds kNoticed(1'000);
const std::string kCompact = RequestText("POST", "/compact", {}, R"({"all":true})");

class ExecutionTest : public OnEngineTest {
 protected:
  // A client whose compaction has begun.
  static HttpClient Compacting(GatedServer& server) {
    HttpClient client = server.Connect();
    client.Send(kCompact);
    server.gate.begun.acquire();
    return client;
  }
  // The thread of the loop, the only one that reads as often as it is asked to.
  static std::thread::id LoopOf(GatedServer& server) {
    constexpr int kOften = 100;
    const std::map<std::thread::id, int> before = server.gate.reads();
    HttpClient client = server.Connect();
    for (int i = 0; i < kOften; ++i) EXPECT_EQ(client.Call("GET", "/keys/none").status, 404);
    for (const auto& [thread, reads] : server.gate.reads()) {
      if (reads >= kOften + (before.contains(thread) ? before.at(thread) : 0)) return thread;
    }
    return {};
  }
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
  HttpClient first = Compacting(server);
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

TEST_P(ExecutionTest, LongWorkEndsWithItsClient) {
  ServerOptions options = GatedServer::Options();
  options.worker_threads = 1;
  GatedServer server(GetParam(), options);
  HttpClient first = Compacting(server);
  first.Reset();
  HttpClient second = server.Connect();
  second.Send(kCompact);
  EXPECT_TRUE(server.gate.begun.try_acquire_for(seconds(30)));
}

TEST_P(ExecutionTest, LongWorkDoesNotHoldUpTheEnd) {
  GatedServer server(GetParam(), GatedServer::Options());
  const HttpClient client = Compacting(server);
  server.Stop();
  EXPECT_EQ(server.gate.stopped, 1);
}

TEST_P(ExecutionTest, WorkThatWaitedForTooLongIsNotBegun) {
  ServerOptions options = GatedServer::Options();
  options.worker_threads = 1;
  options.http.request_timeout = Duration::Millis(300);
  GatedServer server(GetParam(), options);
  HttpClient first = Compacting(server);
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

TEST_P(ExecutionTest, AsManyAsTheQueueHoldsWaitForAWorker) {
  ServerOptions options = GatedServer::Options();
  options.worker_threads = 1;
  options.worker_queue = 2;
  // The server's own work would wait for the worker, too.
  options.retention_interval = options.expiry_interval = options.survey_interval = Duration{};
  GatedServer server(GetParam(), options);
  HttpClient first = Compacting(server);
  // Of each lane one less, as many, and one more.
  std::vector<HttpClient> waiting;
  for (const std::string& request : {kCompact, RequestText("GET", "/namespaces")}) {
    for (int i = 0; i < 2; ++i) {
      waiting.push_back(server.Connect());
      waiting.back().Send(request);
      EXPECT_EQ(waiting.back().ReadRaw(milliseconds(50)), "");
    }
    HttpClient refused = server.Connect();
    refused.Send(request);
    const HttpAnswer answer = refused.Read();
    EXPECT_TRUE(IsProblem(answer, 503, "overloaded"));
    EXPECT_TRUE(answer.Has("Retry-After"));
    EXPECT_NE(answer.body.find("worker_queue"), std::string::npos);
  }
  server.gate.go.release(10);
  for (HttpClient& client : waiting) EXPECT_EQ(client.Read().status, 200);
}

TEST_P(ExecutionTest, WatchesAreCounted) {
  GatedServer server(GetParam());
  EXPECT_EQ(server.Metric("kvarts_watchers"), 0);
  {
    EventReader one(server.address(), "/watch?prefix=a");
    EventReader two(server.address(), "/watch?prefix=b");
    EXPECT_EQ(server.Metric("kvarts_watchers"), 2);
  }
  // An end is noticed when there is something to send.
  HttpClient client = server.Connect();
  EXPECT_TRUE(Eventually([&] {
    client.Call("PUT", "/keys/a", {}, "x");
    client.Call("PUT", "/keys/b", {}, "x");
    return server.Metric("kvarts_watchers") == 0;
  }));
}

TEST_P(ExecutionTest, ManyKeysAreReadOnAWorkerAndFewOnTheLoop) {
  if (GetParam().shared) GTEST_SKIP() << "reads wait for a network, and never on the loop";
  GatedServer server(GetParam());
  HttpClient client = server.Connect();
  const std::thread::id loop = LoopOf(server);
  const auto on_loop = [&](int count) {
    const int before = server.gate.reads()[loop];
    std::string keys = R"("few/0")";
    for (int i = 1; i < count; ++i) keys += fmt::format(R"(,"few/{}")", i);
    const HttpAnswer answer = client.Call("POST", "/keys/get", {}, R"({"keys":[)" + keys + "]}");
    EXPECT_EQ(JsonValue::Parse(answer.body)["items"].size(), static_cast<size_t>(count));
    return server.gate.reads()[loop] > before;
  };
  EXPECT_TRUE(on_loop(1));
  EXPECT_TRUE(on_loop(16));
  EXPECT_FALSE(on_loop(17));
}

TEST_P(ExecutionTest, LargeCommitsReadOnAWorkerAndSmallOnesOnTheLoop) {
  if (GetParam().shared) GTEST_SKIP() << "reads wait for a network, and never on the loop";
  GatedServer server(GetParam());
  HttpClient client = server.Connect();
  const std::thread::id loop = LoopOf(server);
  const auto on_loop = [&](int commands) {
    const int before = server.gate.reads()[loop];
    std::string mutations;
    for (int i = 0; i < commands; ++i) {
      mutations += fmt::format(R"({}{{"op":"increment","key":"large/{}","by":1}})", i == 0 ? "" : ",", i);
    }
    const HttpAnswer answer = client.Call("POST", "/commit", {}, R"({"mutations":[)" + mutations + "]}");
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(JsonValue::Parse(answer.body)["results"].size(), static_cast<size_t>(commands));
    return server.gate.reads()[loop] > before;
  };
  EXPECT_TRUE(on_loop(1));
  EXPECT_TRUE(on_loop(256));
  EXPECT_FALSE(on_loop(257));
  EXPECT_FALSE(on_loop(5'000));
}

// With the only worker held, what is answered is answered by the loop.
TEST_P(ExecutionTest, LargeAnswersAreMadeByAWorker) {
  ServerOptions options = GatedServer::Options();
  options.worker_threads = 1;
  GatedServer server(GetParam(), options);
  const HttpHeaders gzip = {{"Accept-Encoding", "gzip"}};
  const HttpHeaders raw = {{"Accept", "application/octet-stream"}};
  const HttpHeaders packed = {{"Accept", "application/octet-stream"}, {"Accept-Encoding", "gzip"}};
  const std::string small(64 << 10, 's');
  const std::string large((64 << 10) + 1, 'l');
  HttpClient writer = server.Connect();
  ASSERT_EQ(writer.Call("PUT", "/keys/small", {}, small).status, 200);
  ASSERT_EQ(writer.Call("PUT", "/keys/large", {}, large).status, 200);
  HttpClient first = Compacting(server);
  EXPECT_NE(writer.Call("GET", "/keys/small").body.find(small), std::string::npos);
  EXPECT_EQ(writer.Call("GET", "/keys/small", packed).Header("Content-Encoding"), "gzip");
  EXPECT_TRUE(writer.Call("GET", "/keys/large", raw).body == large);
  const std::string append = R"({"append":"x"})";
  EXPECT_EQ(writer.Call("PATCH", "/keys/large", {{"Prefer", "return=minimal"}}, append).status, 204);
  std::vector<HttpClient> waiting;
  for (const HttpHeaders& headers : {HttpHeaders(), gzip, packed}) {
    waiting.push_back(server.Connect());
    // Behind it, in order.
    waiting.back().Send(RequestText("GET", "/keys/large", headers) + RequestText("GET", "/livez"));
  }
  waiting.push_back(server.Connect());
  waiting.back().Send(RequestText("PATCH", "/keys/large", {}, append) + RequestText("GET", "/livez"));
  for (HttpClient& client : waiting) EXPECT_EQ(client.ReadRaw(milliseconds(50)), "");
  server.gate.go.release();
  EXPECT_EQ(first.Read().status, 200);
  for (HttpClient& client : waiting) {
    const HttpAnswer answer = client.Read();
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.Has("ETag"));
    EXPECT_TRUE(answer.Header("Content-Encoding") == "gzip" || answer.body.find(large + "x") != std::string::npos);
    EXPECT_EQ(client.Read().body, "alive\n");
  }
}

TEST_P(ExecutionTest, WritesThatArriveTogetherAreBoundedInBytes) {
  std::string writes;
  for (int i = 0; i < 12; ++i)
    writes += RequestText("PUT", "/keys/batch/" + std::to_string(i), {}, std::string(1'000, 'x'));
  const auto most_together = [&](uint64_t bytes) {
    ServerOptions options = GatedServer::Options();
    options.http.max_pipelined_bytes = bytes;
    GatedServer server(GetParam(), options);
    HttpClient client = server.Connect();
    client.Send(writes);
    for (int i = 0; i < 12; ++i) EXPECT_EQ(client.Read().status, 200);
    return server.gate.most_submitted.load();
  };
  // Each counts for a little more than its value.
  EXPECT_EQ(most_together(1 << 10), 1U);
  EXPECT_EQ(most_together(4'000), 4U);
  EXPECT_EQ(most_together(1 << 20), 12U);
}

TEST_P(ExecutionTest, AWriteThatIsRefusedBehindOthersIsTakenOnce) {
  GatedServer server(GetParam());
  HttpClient client = server.Connect();
  client.Send(RequestText("PUT", "/keys/once/1", {}, "1") + RequestText("PUT", "/keys/%zz", {}, "22") +
              RequestText("PUT", "/keys/once/2", {}, "333") +
              RequestText("PUT", "/keys/once/3", {{"Content-Encoding", "gzip"}}, "4444") +
              RequestText("PUT", "/keys/once/4", {}, "55555"));
  for (const int status : {200, 400, 200, 415, 200}) EXPECT_EQ(client.Read().status, status);
  EXPECT_EQ(server.Metric("kvarts_http_request_body_bytes_total"), 15);
}

// Writes of 64 KiB on so many connections, 32 in all: how long they take.
milliseconds WriteOn(const GatedServer& server, int connections) {
  const std::string value(64 << 10, 'x');
  const auto begin = Steady::now();
  std::vector<std::jthread> writers;
  for (int i = 0; i < connections; ++i) {
    writers.emplace_back([&server, &value, connections, i] {
      HttpClient client = server.Connect();
      for (int k = 0; k < 32 / connections; ++k) {
        const std::string target = fmt::format("/keys/throttle/{}/{}", i, k);
        EXPECT_EQ(client.Call("PUT", target, {{"Prefer", "return=minimal"}}, value).status, 204);
      }
    });
  }
  writers.clear();
  return std::chrono::duration_cast<milliseconds>(Steady::now() - begin);
}

TEST_P(ExecutionTest, ManyWritersAreSlowedDownLikeOne) {
  KVARTS_LONG_WHERE_SHARED();
  GatedServer server(GetParam());
  server.gate.pressure = 0.5;
  WriteOn(server, 4);
  EXPECT_EQ(server.Metric("kvarts_throttled_writes_total"), 0);
  server.gate.pressure = 1;
  // 2 MiB at 1 MiB a second; the first does not wait.
  for (const int connections : {1, 4, 32}) {
    const milliseconds took = WriteOn(server, connections);
    EXPECT_GE(took, milliseconds(1'800)) << connections;
    EXPECT_LE(took, milliseconds(6'000)) << connections;
    server.gate.pressure = 0;
    WriteOn(server, 1);  // so that the line is empty
    server.gate.pressure = 1;
  }
  // Whoever comes late of itself is not held up.
  EXPECT_GE(server.Metric("kvarts_throttled_writes_total"), 48);
}

TEST_P(ExecutionTest, WritersThatWaitGoOnWhenThePressureIsGone) {
  GatedServer server(GetParam());
  server.gate.pressure = 1;
  HttpClient first = server.Connect();
  ASSERT_EQ(
      first.Call("PUT", "/keys/throttle/large", {{"Prefer", "return=minimal"}}, std::string(15 << 20, 'x')).status,
      204);
  HttpClient second = server.Connect();
  second.Send(RequestText("PUT", "/keys/throttle/small", {}, "x"));
  EXPECT_EQ(second.ReadRaw(milliseconds(300)), "");
  server.gate.pressure = 0;
  second.set_patience(kSoon);
  EXPECT_EQ(second.Read().status, 200);
}

TEST_P(ExecutionTest, AWriteThatWouldBeHeldBackForTooLongIsRefused) {
  ServerOptions options = GatedServer::Options();
  options.http.request_timeout = Duration::Seconds(2);
  GatedServer server(GetParam(), options);
  server.gate.pressure = 1;
  HttpClient client = server.Connect();
  ASSERT_EQ(
      client.Call("PUT", "/keys/throttle/large", {{"Prefer", "return=minimal"}}, std::string(15 << 20, 'x')).status,
      204);
  const HttpAnswer refused = client.Call("PUT", "/keys/throttle/refused", {}, "x");
  EXPECT_TRUE(IsProblem(refused, 503, "overloaded"));
  EXPECT_TRUE(refused.Has("Retry-After"));
  EXPECT_EQ(client.Call("GET", "/keys/throttle/refused").status, 404);
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

KVARTS_ON_EVERY_ENGINE(ExecutionTest);
KVARTS_ON_EVERY_ENGINE(SlowClientTest);

}  // namespace
}  // namespace kvarts::test
