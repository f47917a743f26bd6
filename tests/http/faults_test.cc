// A disk that is full and a sync that fails, as clients see them: writes are refused with a reason, reads go on, and
// whoever asks whether requests should be sent here is told that they should not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <random>
#include <thread>

#include "engine/rocksdb/rocks_engine.h"
#include "http/event_reader.h"
#include "http/http_fixture.h"
#include "support/observed_server.h"
#include "support/small_disk.h"
#include "support/sync_tracking_fs.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;
using ::testing::AnyOf;
using ::testing::Eq;
using Steady = std::chrono::steady_clock;

constexpr uint64_t kMiB = 1 << 20;
constexpr auto kPatience = std::chrono::seconds(30);
const HttpHeaders kMinimal = {{"Prefer", "return=minimal"}};

// Every kind of write, each of which would be seen.
void ExpectNoWrites(HttpClient& client, const ::testing::Matcher<std::string>& reason) {
  const auto refused = [&](std::string_view method, std::string_view target, std::string_view body) {
    const HttpAnswer answer = client.Call(method, target, {{"Content-Type", "application/json"}}, body);
    EXPECT_TRUE(IsProblem(answer, 503, "unavailable")) << method << " " << target;
    EXPECT_THAT(std::string(JsonValue::Parse(answer.body)["detail"].text()), reason) << method << " " << target;
  };
  refused("PUT", "/keys/refused", R"({"value":1})");
  refused("PUT", "/keys/old", R"({"value":"new"})");
  refused("DELETE", "/keys/old", "");
  refused("PATCH", "/keys/counter", R"({"increment":1})");
  refused("DELETE", "/keys?prefix=old", "");
  refused("POST", "/commit", R"({"mutations":[{"op":"put","key":"refused","value":1},{"op":"delete","key":"old"}]})");
  refused("POST", "/tokens", R"({"name":"first","scopes":["admin"]})");
  refused("PUT", "/namespaces/refused", R"({"grammar":"refused/<id>"})");
}

void ExpectReadsGoOn(HttpClient& client) {
  EXPECT_EQ(client.Call("GET", "/livez").status, 200);
  EXPECT_EQ(client.Call("GET", "/keys/refused").status, 404);
  EXPECT_EQ(client.Call("GET", "/namespaces/refused").status, 404);
  EXPECT_EQ(JsonValue::Parse(client.Call("GET", "/keys/old").body)["value"].text(), "value");
  EXPECT_EQ(JsonValue::Parse(client.Call("GET", "/keys/counter").body)["value"].raw(), "7");
  EXPECT_EQ(JsonValue::Parse(client.Call("GET", "/keys?prefix=old").body)["items"].size(), 1U);
  EXPECT_NE(client.Call("GET", "/metrics").body.find("\nkvarts_writable 0\n"), std::string::npos);
}

void WriteWhatStays(HttpClient& client) {
  EXPECT_EQ(client.Call("PUT", "/keys/old", {}, "value").status, 200);
  EXPECT_EQ(client.Call("PATCH", "/keys/counter", {}, R"({"increment":7})").status, 200);
}

void ExpectNotReady(HttpClient& client, std::string_view cause) {
  const HttpAnswer answer = client.Call("GET", "/readyz");
  EXPECT_TRUE(IsProblem(answer, 503, "unavailable"));
  EXPECT_EQ(JsonValue::Parse(answer.body)["cause"].text(), cause);
}

class FullDiskTest : public ::testing::Test {
 protected:
  // The server keeps 64 MiB free.
  static constexpr uint64_t kKeptFree = 64 * kMiB;
  static constexpr std::string_view kAlmostFull = "the disk is almost full";

  void SetUp() override {
    if (!disk_.mounted())
      GTEST_SKIP() << "SKIPPED: cannot mount a small file system here, so a full disk is not tested";
    Start();
  }
  void Start() {
    client_.reset();
    server_.reset();
    server_ = std::make_unique<ServerProcess>(
        std::vector<std::string>{"--data", disk_ / "data", "--memory-budget", "16MiB", "--hot-cache", "1MiB"});
    client_ = std::make_unique<HttpClient>(server_->address());
  }
  HttpClient& client() { return *client_; }

  // Bytes that cannot be compressed.
  static std::string ValueOf(size_t i) {
    std::mt19937_64 random(i);
    std::string value(64 << 10, '\0');
    for (char& c : value) c = static_cast<char>(random());
    return value;
  }
  static std::string KeyOf(size_t i) { return fmt::format("/keys/fill/{:05}", i); }
  HttpAnswer PutNext() {
    HttpAnswer answer = client().Call("PUT", KeyOf(written_), kMinimal, ValueOf(written_));
    if (answer.status == 204) ++written_;
    return answer;
  }
  // Writes until it is refused.
  HttpAnswer Fill() {
    HttpAnswer answer;
    do answer = PutNext();
    while (answer.status == 204 && written_ < 10'000);
    return answer;
  }
  bool AwaitReady(int status) {
    const auto give_up = Steady::now() + kPatience;
    while (Steady::now() < give_up) {
      if (client().Call("GET", "/readyz").status == status) return true;
      std::this_thread::sleep_for(milliseconds(5));
    }
    return false;
  }
  void ExpectAllThere() {
    for (size_t i = 0; i < written_; ++i) {
      const HttpAnswer answer = client().Call("GET", KeyOf(i), {{"Accept", "application/octet-stream"}});
      ASSERT_TRUE(answer.status == 200 && answer.body == ValueOf(i)) << KeyOf(i) << ": " << answer.status;
    }
  }
  void ExpectGoesOn() {
    ASSERT_TRUE(AwaitReady(200)) << client().Call("GET", "/readyz").body;
    const size_t before = written_;
    for (int i = 0; i < 20; ++i) ASSERT_EQ(PutNext().status, 204);
    EXPECT_EQ(written_, before + 20);
    ExpectAllThere();
    server_->Signal(SIGTERM);
    EXPECT_EQ(server_->Wait(), 0);
    Start();
    ExpectAllThere();
    EXPECT_EQ(client().Call("GET", "/readyz").status, 200);
  }

  const SmallDisk disk_{192 * kMiB};
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<HttpClient> client_;
  size_t written_ = 0;
};

TEST_F(FullDiskTest, WritesAreRefusedBeforeItIsFullAndRoomEndsThat) {
  WriteWhatStays(client());
  EXPECT_EQ(client().Call("GET", "/readyz").status, 200);
  disk_.LeaveOnly(kKeptFree + 8 * kMiB);
  const HttpAnswer refused = Fill();
  EXPECT_TRUE(IsProblem(refused, 503, "unavailable"));
  EXPECT_EQ(JsonValue::Parse(refused.body)["detail"].text(), kAlmostFull);
  EXPECT_GT(written_, 10U);
  EXPECT_EQ(client().Call("GET", KeyOf(written_)).status, 404) << "nothing was written";
  ExpectNotReady(client(), kAlmostFull);
  ExpectNoWrites(client(), Eq(kAlmostFull));
  ExpectReadsGoOn(client());
  ExpectAllThere();
  disk_.GiveBack();
  ExpectGoesOn();
}

TEST_F(FullDiskTest, OneThatFillsUpAllAtOnceLosesNothingAcknowledged) {
  WriteWhatStays(client());
  for (int i = 0; i < 20; ++i) ASSERT_EQ(PutNext().status, 204);
  disk_.LeaveOnly(0);
  // Whoever is the first may find out by a write that fails half-way.
  const HttpAnswer first = Fill();
  EXPECT_TRUE(IsProblem(first, 503, "unavailable") || IsProblem(first, 500, "unknown_outcome")) << first.body;
  ASSERT_TRUE(AwaitReady(503));
  // What runs in the background may find out any time that it is full.
  const auto either = AnyOf(Eq(kAlmostFull), Eq("the disk is full"));
  EXPECT_THAT(std::string(JsonValue::Parse(client().Call("GET", "/readyz").body)["cause"].text()), either);
  ExpectNoWrites(client(), either);
  ExpectReadsGoOn(client());
  ExpectAllThere();
  disk_.GiveBack();
  ExpectGoesOn();
}

TEST_F(FullDiskTest, AServerThatStartsOnOneServesReads) {
  WriteWhatStays(client());
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait(), 0);
  disk_.LeaveOnly(kKeptFree / 2);
  Start();
  ASSERT_TRUE(AwaitReady(503));
  ExpectNotReady(client(), kAlmostFull);
  ExpectNoWrites(client(), Eq(kAlmostFull));
  ExpectReadsGoOn(client());
  disk_.GiveBack();
  ExpectGoesOn();
}

// The engine is the test's own, over a file system that fails on demand; so is the process.
class FailedSyncTest : public ::testing::Test {
 protected:
  static constexpr std::string_view kFailed = "a write to the disk failed; the store must be reopened";

  void SetUp() override { Start(); }
  void Start() {
    client_.reset();
    server_.reset();
    files_ = std::make_shared<SyncTrackingFs>();
    RocksOptions options;
    options.file_system = files_;
    options.memory_budget = 16 << 20;
    options.hot_cache_bytes = 1 << 20;
    options.min_free_disk_bytes = 0;
    server_ = std::make_unique<ObservedServer>(OpenRocksEngine(temp_ / "data", options).value());
    client_ = std::make_unique<HttpClient>(server_->server().addresses().at(0));
  }
  HttpClient& client() { return *client_; }
  HttpAnswer PutSynced(std::string_view target, std::string_view value) {
    return client().Call("PUT", target, {{"Kvarts-Durability", "sync"}}, value);
  }

  TempDir temp_;
  std::shared_ptr<SyncTrackingFs> files_;
  std::unique_ptr<ObservedServer> server_;
  std::unique_ptr<HttpClient> client_;
};

TEST_F(FailedSyncTest, TheOutcomeIsUnknownAndWritesEndUntilItIsOpenedAgain) {
  WriteWhatStays(client());
  EXPECT_EQ(PutSynced("/keys/synced", "1").status, 200);
  EventReader watch(server_->server().addresses().at(0), "/watch?prefix=unknown");
  files_->Inject({.op = FileOp::kSync, .kind = FileKind::kLog});
  const HttpAnswer unknown = PutSynced("/keys/unknown", "x");
  EXPECT_TRUE(IsProblem(unknown, 500, "unknown_outcome"));
  EXPECT_EQ(files_->failed(), 1U);
  EXPECT_EQ(unknown.Header("Connection"), "") << "the connection goes on";
  // Nobody is shown what may not be there.
  EXPECT_EQ(client().Call("GET", "/keys/unknown").status, 404);
  EXPECT_FALSE(watch.Next(milliseconds(300)));
  ExpectNotReady(client(), kFailed);
  ExpectNoWrites(client(), Eq(kFailed));
  ExpectReadsGoOn(client());
  // The disk is well again, but nobody knows what it has.
  ExpectNotReady(client(), kFailed);

  Start();
  EXPECT_EQ(client().Call("GET", "/readyz").status, 200);
  EXPECT_EQ(client().Call("GET", "/keys/synced").status, 200);
  EXPECT_EQ(client().Call("GET", "/keys/refused").status, 404);
  const HttpAnswer found = client().Call("GET", "/keys/unknown");
  EXPECT_TRUE(found.status == 404 || JsonValue::Parse(found.body)["value"].text() == "x") << found.body;
  EXPECT_EQ(PutSynced("/keys/unknown", "y").status, 200);
}

TEST_F(FailedSyncTest, EveryWriteOfTheGroupIsUnknown) {
  const std::string address = server_->server().addresses().at(0);
  const uint64_t syncs = files_->count(FileOp::kSync, FileKind::kLog);
  files_->Hold(FileOp::kSync, FileKind::kLog);
  // The first keeps the disk busy; the others are written together behind it.
  const auto put = [](int i) {
    return RequestText("PUT", fmt::format("/keys/group/{}", i), {{"Kvarts-Durability", "sync"}}, "x");
  };
  std::vector<HttpClient> clients;
  clients.emplace_back(address);
  clients.back().Send(put(0));
  while (files_->count(FileOp::kSync, FileKind::kLog) == syncs) std::this_thread::sleep_for(milliseconds(1));
  for (int i = 1; i < 5; ++i) {
    clients.emplace_back(address);
    clients.back().Send(put(i));
  }
  std::this_thread::sleep_for(milliseconds(100));
  files_->Inject({.op = FileOp::kSync, .kind = FileKind::kLog, .skip = 1});
  files_->Release();
  EXPECT_EQ(clients[0].Read().status, 200);
  for (size_t i = 1; i < clients.size(); ++i) {
    EXPECT_TRUE(IsProblem(clients[i].Read(), 500, "unknown_outcome")) << i;
    EXPECT_EQ(client().Call("GET", fmt::format("/keys/group/{}", i)).status, 404);
  }
  ExpectNotReady(client(), kFailed);
}

}  // namespace
}  // namespace kvarts::test
