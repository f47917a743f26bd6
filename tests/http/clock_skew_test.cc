// Processes on one database whose wall clocks disagree: one is right, one an hour ahead, one an hour behind. That
// changes no version and no expiry, as docs/consistency.md says: time is that of the database's server.
//
// What is to live on here lives for half an hour, and so has ended by the clock that is ahead; what is to end does so
// in a few seconds, and by the clock that is behind has an hour left.
#include <fmt/format.h>
#include <signal.h>
#include <time.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/clock.h"
#include "http/http_fixture.h"
#include "support/eventually.h"
#include "support/postgres_database.h"

namespace kvarts::test {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
constexpr const char* kWhySkipped = "a sanitizer must be the first library that is loaded";

// Programs that begin while it is there see a wall clock that is off by so many seconds.
class WrongClock {
 public:
  explicit WrongClock(int seconds) {
    setenv(kLibrary, KVARTS_BINARY_DIR "/libkvarts_wrong_clock.so", 1);
    setenv(kOff, std::to_string(seconds).c_str(), 1);
  }
  ~WrongClock() {
    unsetenv(kLibrary);
    unsetenv(kOff);
  }
  WrongClock(const WrongClock&) = delete;
  WrongClock& operator=(const WrongClock&) = delete;

 private:
  static constexpr const char* kLibrary = "LD_PRELOAD";
  static constexpr const char* kOff = "KVARTS_TEST_CLOCK_OFF";
};

// What the tests below would find: on an engine whose time is the process's own, a value that has half an hour left is
// gone with a clock that is an hour ahead.
TEST(WrongClockTest, MisleadsAnEngineThatGoesByIt) {
  if (kSanitized) GTEST_SKIP() << kWhySkipped;
  const TempDir dir;
  for (const int off : {0, 1200, 3600}) {
    const WrongClock clock(off);
    ServerProcess server({"--engine", "rocksdb", "--data", dir / "data"});
    HttpClient client(server.address());
    if (off == 0) client.Call("PUT", "/keys/lives?ttl=1800", {}, "x");
    EXPECT_EQ(client.Call("GET", "/keys/lives").status, off < 1800 ? 200 : 404);
    server.Signal(SIGTERM);
    EXPECT_EQ(server.Wait(), 0);
  }
}

class ClockSkewTest : public OnEngineTest {
 protected:
  static constexpr int kClocks[] = {0, 3600, -3600};  // in seconds; of one process each
  static constexpr size_t kProcesses = std::size(kClocks);

  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << kWhySkipped;
    for (const int off : kClocks) {
      const WrongClock clock(off);
      servers_.push_back(std::make_unique<ServerProcess>(
          std::vector<std::string>{"--engine", GetParam().name, "--data", dir_ / "data", "--durability", "none",
                                   "--expiry-interval", "100ms", "--limits-max-cursor-age", "30m"}));
      clients_.push_back(std::make_unique<HttpClient>(servers_.back()->address()));
      ASSERT_NEAR(static_cast<double>(SecondsShownBy(clients_.size() - 1) - time(nullptr)), off, 60);
    }
  }

  // A request through one of the processes; any number is one of them.
  HttpAnswer Call(size_t process, std::string_view method, std::string_view target, std::string_view body = {},
                  HttpHeaders headers = {}) {
    if (!body.empty()) headers.emplace_back("Content-Type", "application/json");
    if (!token_.empty()) headers.emplace_back("Authorization", "Bearer " + token_);
    return clients_[process % kProcesses]->Call(method, target, headers, body);
  }
  JsonValue MustCall(size_t process, std::string_view method, std::string_view target, std::string_view body = {}) {
    const HttpAnswer answer = Call(process, method, target, body);
    EXPECT_LE(answer.status, 202) << method << " " << target << answer.body;
    return JsonValue::Parse(answer.body.empty() ? "null" : answer.body);
  }
  int StatusOf(size_t process, std::string_view target) { return Call(process, "GET", target).status; }

  std::string AskDatabase(const std::string& sql) const { return DatabaseFor(dir_ / "data").Ask(sql); }
  // The one clock that counts.
  Timestamp Now() const {
    return {std::stoull(AskDatabase("SELECT greatest(kvarts.now_micros(), last_value >> 10) FROM kvarts.clock"))};
  }
  static Timestamp ExpiryOf(const JsonValue& item) {
    const auto expiry = Timestamp::Parse(item["expiry"].text());
    EXPECT_TRUE(expiry) << item["expiry"].raw();
    return expiry.value_or(kNever);
  }

  std::string token_;

 private:
  // By the date of an answer.
  time_t SecondsShownBy(size_t process) {
    tm date{};
    const std::string text = Call(process, "GET", "/keys/none").Header("Date");
    EXPECT_NE(strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date), nullptr) << text;
    return timegm(&date);
  }

  const TempDir dir_;
  std::vector<std::unique_ptr<ServerProcess>> servers_;
  std::vector<std::unique_ptr<HttpClient>> clients_;
};
KVARTS_ON_ENGINES_WITH(ClockSkewTest, shared);

TEST_P(ClockSkewTest, AValueEndsForAllAtTheInstantThatTheDatabaseSays) {
  constexpr double kSecond = 1e6;
  const auto key = [](size_t writer) { return fmt::format("/keys/ends/{}", writer); };
  std::vector<Timestamp> ends;
  for (size_t writer = 0; writer < kProcesses; ++writer) {
    const Timestamp before = Now();
    MustCall(writer, "PUT", key(writer), R"({"value":1,"ttl":3})");
    ends.push_back(ExpiryOf(MustCall(writer, "GET", key(writer))));
    EXPECT_NEAR(static_cast<double>(ends.back().micros - before.micros), 3 * kSecond, kSecond);
    for (size_t reader = 0; reader < kProcesses; ++reader) {
      EXPECT_EQ(ExpiryOf(MustCall(reader, "GET", key(writer))), ends.back()) << writer << " " << reader;
      // A condition is judged by the same clock.
      const HttpAnswer refused = Call(reader, "PUT", key(writer), R"({"value":2})", {{"If-None-Match", "*"}});
      EXPECT_EQ(refused.status, 412) << writer << " " << reader;
    }
  }
  size_t live = kProcesses;
  for (int round = 0; live > 0; ++round) {
    live = 0;
    for (size_t writer = 0; writer < kProcesses; ++writer) {
      for (size_t reader = 0; reader < kProcesses; ++reader) {
        const Timestamp before = Now();
        const int status = StatusOf(reader, key(writer));
        const Timestamp after = Now();
        if (status == 200) {
          ++live;
          EXPECT_LT(before, ends[writer]) << writer << " " << reader;
        } else {
          EXPECT_GE(after, ends[writer]) << writer << " " << reader;
        }
      }
    }
    ASSERT_LT(round, 1000);
  }
  for (size_t writer = 0; writer < kProcesses; ++writer) {
    const HttpAnswer anew = Call(writer + 1, "PUT", key(writer), R"({"value":3})", {{"If-None-Match", "*"}});
    EXPECT_EQ(anew.status, 201) << anew.body;
  }
}

TEST_P(ClockSkewTest, VersionsGrowWhoeverWrites) {
  int64_t last = 0;
  for (size_t i = 0; i < 90; ++i) {
    // In another order each time around, and over deletions.
    const size_t writer = i / kProcesses % 2 == 0 ? i : kProcesses - 1 - i % kProcesses;
    if (i % 7 == 0) Call(writer + 1, "DELETE", "/keys/grows");
    const int64_t version = MustCall(writer, "PUT", "/keys/grows", R"({"value":1})")["version"].number();
    EXPECT_GT(version, last);
    last = version;
    for (size_t reader = 0; reader < kProcesses; ++reader) {
      EXPECT_EQ(MustCall(reader, "GET", "/keys/grows")["version"].number(), last);
    }
    // The version that one gave is a condition for another.
    const HttpAnswer swapped =
        Call(writer + 1, "PUT", "/keys/grows", R"({"value":2})", {{"If-Match", fmt::format("\"{}\"", last)}});
    ASSERT_EQ(swapped.status, 200) << swapped.body;
    const int64_t after = JsonValue::Parse(swapped.body)["version"].number();
    EXPECT_GT(after, last);
    last = after;
  }
}

TEST_P(ClockSkewTest, WhatLivesIsTakenAwayByNobody) {
  const std::string table = "/projects/acme/datasets/skew/tables/rows";
  MustCall(0, "PUT", "/projects/acme");
  MustCall(0, "PUT", "/projects/acme/datasets/skew");
  MustCall(0, "PUT", table,
           R"({"key":{"partition":["id"]},"indexes":[{"name":"by_kind","partition":["kind"]}],)"
           R"("ttl":{"field":"until","default":1800}})");
  const Timestamp soon{Now().micros + 4'000'000};
  for (size_t writer = 0; writer < kProcesses; ++writer) {
    MustCall(writer, "PUT", fmt::format("{}/rows/lives{}", table, writer), R"({"kind":"row"})");
    MustCall(writer, "PUT", fmt::format("{}/rows/ends{}", table, writer),
             fmt::format(R"({{"kind":"row","until":"{}"}})", soon.ToString()));
    MustCall(writer, "PUT", fmt::format("/keys/lives/{}", writer), R"({"value":1,"ttl":1800})");
    MustCall(writer, "PUT", fmt::format("/keys/erased/{}", writer), R"({"value":1})");
    MustCall(writer, "DELETE", fmt::format("/keys/erased/{}", writer));
  }
  // Who works on expiry takes away what has ended, with its entries.
  EXPECT_EQ(AskDatabase("SELECT count(*) >= 3 FROM kvarts.entry WHERE expire_at BETWEEN 1 AND " +
                        std::to_string(soon.micros) + " AND bits & 16 <> 0"),
            "t");
  EXPECT_TRUE(Eventually([&] {
    return AskDatabase("SELECT count(*) FROM kvarts.entry WHERE expire_at BETWEEN 1 AND " +
                       std::to_string(soon.micros)) == "0";
  }));
  // By now each has looked for what is dead a few times.
  std::this_thread::sleep_for(std::chrono::seconds(12));
  for (size_t reader = 0; reader < kProcesses; ++reader) {
    const JsonValue found =
        MustCall(reader, "POST", table + "/query", R"({"index":"by_kind","partition":{"kind":"row"}})");
    EXPECT_EQ(found["rows"].size(), kProcesses) << found.raw();
    for (size_t writer = 0; writer < kProcesses; ++writer) {
      EXPECT_EQ(StatusOf(reader, fmt::format("{}/rows/lives{}", table, writer)), 200) << reader << " " << writer;
      EXPECT_EQ(StatusOf(reader, fmt::format("{}/rows/ends{}", table, writer)), 404) << reader << " " << writer;
      EXPECT_EQ(StatusOf(reader, fmt::format("/keys/lives/{}", writer)), 200) << reader << " " << writer;
    }
  }
  // What was erased stays stored for as long as a view may be open, and that is longer than this test.
  EXPECT_EQ(AskDatabase("SELECT count(*) FROM kvarts.entry WHERE expire_at < 0 AND key LIKE '%erased%'"),
            std::to_string(kProcesses));
}

TEST_P(ClockSkewTest, ACursorGoesOnWhereverItIsGiven) {
  for (size_t i = 0; i < 9; ++i) MustCall(i, "PUT", fmt::format("/keys/page/{}", i), R"({"value":1})");
  std::string keys;
  std::string cursor;
  for (size_t process = 0; process < 9; ++process) {
    const JsonValue page = MustCall(process, "GET", "/keys?prefix=page/&limit=1" + cursor);
    ASSERT_EQ(page["items"].size(), 1u) << process;
    keys += page["items"].at(0)["key"].text().back();
    if (process + 1 < 9) cursor = "&cursor=" + page["cursor"].text();
  }
  EXPECT_EQ(keys, "012345678");
}

TEST_P(ClockSkewTest, ATokenHoldsForAllUntilItsInstant) {
  token_ = MustCall(0, "POST", "/tokens", R"({"name":"operator","scopes":["admin"]})")["token"].text();
  const std::string admin = token_;
  for (size_t maker = 0; maker < kProcesses; ++maker) {
    token_ = admin;
    ASSERT_TRUE(Eventually([&] { return StatusOf(maker, "/keys/none") == 404; }));
    const auto made = [&](int ttl) {
      const std::string body = fmt::format(R"({{"name":"reader","scopes":["read"],"ttl":{}}})", ttl);
      return MustCall(maker, "POST", "/tokens", body)["token"].text();
    };
    const std::string lasting = made(1800);
    const std::string brief = made(3);
    for (const std::string& token : {brief, lasting}) {
      token_ = token;
      for (size_t process = 0; process < kProcesses; ++process) {
        EXPECT_TRUE(Eventually([&] { return StatusOf(process, "/keys/none") == 404; })) << maker << " " << process;
      }
    }
    for (size_t process = 0; process < kProcesses; ++process) {
      token_ = brief;
      EXPECT_TRUE(Eventually([&] { return StatusOf(process, "/keys/none") == 401; })) << maker << " " << process;
      token_ = lasting;
      EXPECT_EQ(StatusOf(process, "/keys/none"), 404) << maker << " " << process;
    }
  }
}

}  // namespace
}  // namespace kvarts::test
