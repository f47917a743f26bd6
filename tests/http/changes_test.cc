// Changes of what is there: lifetimes, touch, increment, append, counters.
#include <chrono>
#include <thread>

#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::system_clock;

class ChangesTest : public HttpTest {
 protected:
  std::string ExpiryOf(std::string_view target) { return JsonValue::Parse(Get(target).body)["expiry"].text(); }
};

TEST_P(ChangesTest, AKeyIsGoneAtItsInstantForEverybody) {
  PutJson("/keys/changes/ttl/stays", R"({"value":0})");
  const auto before = Clock::now();
  ASSERT_EQ(PutJson("/keys/changes/ttl/goes", R"({"value":1,"ttl":0.4})").status, 200);
  const auto after = Clock::now();
  int seen = 0;
  // Nobody sees it after its instant, and everybody before.
  while (Clock::now() < after + milliseconds(500)) {
    const auto asked = Clock::now();
    const bool found = Get("/keys/changes/ttl/goes").status == 200;
    const size_t listed = JsonValue::Parse(Get("/keys?prefix=changes/ttl/").body)["items"].size();
    const int64_t counted = JsonValue::Parse(Get("/keys?prefix=changes/ttl/&count=exact").body)["count"].number();
    const auto answered = Clock::now();
    if (answered < before + milliseconds(400)) {
      EXPECT_TRUE(found);
      EXPECT_EQ(listed, 2U);
      EXPECT_EQ(counted, 2);
      ++seen;
    }
    if (asked > after + milliseconds(400)) {
      EXPECT_FALSE(found);
      EXPECT_EQ(listed, 1U);
      EXPECT_EQ(counted, 1);
    }
  }
  EXPECT_GT(seen, 0);
  // For commits it is gone, too.
  EXPECT_EQ(Call("DELETE", "/keys/changes/ttl/goes").status, 404);
  EXPECT_EQ(Patch("/keys/changes/ttl/goes", R"({"ttl":10})").status, 404);
  EXPECT_EQ(PutJson("/keys/changes/ttl/goes", R"({"value":2})", {{"If-Match", "*"}}).status, 412);
  EXPECT_EQ(PutJson("/keys/changes/ttl/goes", R"({"value":2})", {{"If-None-Match", "*"}}).status, 201);
  EXPECT_TRUE(JsonValue::Parse(Get("/keys/changes/ttl/goes").body)["expiry"].is_null());
}

TEST_P(ChangesTest, RawValuesHaveALifetimeToo) {
  ASSERT_EQ(PutRaw("/keys/changes/raw?ttl=0.2", "x").status, 200);
  const HttpAnswer raw = Get("/keys/changes/raw", {{"Accept", "application/octet-stream"}});
  EXPECT_EQ(raw.Header("Kvarts-Expiry"), ExpiryOf("/keys/changes/raw"));
  std::this_thread::sleep_for(milliseconds(210));
  EXPECT_EQ(Get("/keys/changes/raw").status, 404);
  for (const char* ttl : {"", "0", "-1", "x", "1x", "nan", "inf", "1e300"}) {
    EXPECT_TRUE(IsProblem(PutRaw(std::string("/keys/changes/raw?ttl=") + ttl, "x"), 400, "invalid_argument")) << ttl;
  }
  EXPECT_TRUE(IsProblem(PutRaw("/keys/changes/raw?tll=1", "x"), 400, "invalid_argument"));
}

TEST_P(ChangesTest, APutReplacesTheLifetime) {
  PutJson("/keys/changes/again", R"({"value":1,"ttl":100})");
  EXPECT_NE(ExpiryOf("/keys/changes/again"), "null");
  PutJson("/keys/changes/again", R"({"value":1})");
  EXPECT_EQ(ExpiryOf("/keys/changes/again"), "null");
  PutJson("/keys/changes/again", R"({"value":1,"ttl":null})");
  EXPECT_EQ(ExpiryOf("/keys/changes/again"), "null");
}

TEST_P(ChangesTest, TouchChangesTheLifetimeAndNothingElse) {
  const JsonValue put = JsonValue::Parse(PutJson("/keys/changes/touch", R"({"value":{"a":1.0}})").body);
  const HttpAnswer touched = Patch("/keys/changes/touch", R"({"ttl":100})");
  ASSERT_EQ(touched.status, 200);
  EXPECT_EQ(RawValueOf("/keys/changes/touch"), R"({"a":1.0})");
  EXPECT_NE(ExpiryOf("/keys/changes/touch"), "null");
  EXPECT_GT(JsonValue::Parse(touched.body)["version"].number(), put["version"].number());
  EXPECT_EQ(Get("/keys/changes/touch").body, touched.body);
  ASSERT_EQ(Patch("/keys/changes/touch", R"({"ttl":null})").status, 200);
  EXPECT_EQ(ExpiryOf("/keys/changes/touch"), "null");
  EXPECT_TRUE(IsProblem(Patch("/keys/changes/nothing", R"({"ttl":1})"), 404, "not_found"));
}

TEST_P(ChangesTest, AnIncrementKeepsWhatTheValueIs) {
  Call("DELETE", "/keys/changes/counter");
  EXPECT_EQ(JsonValue::Parse(Patch("/keys/changes/counter", R"({"increment":5})").body)["value"].raw(), "5");
  EXPECT_EQ(JsonValue::Parse(Patch("/keys/changes/counter", R"({"increment":-7})").body)["value"].raw(), "-2");
  EXPECT_EQ(Get("/keys/changes/counter", {{"Accept", "application/octet-stream"}}).body, "-2");
  PutJson("/keys/changes/text", R"({"value":"41"})");
  Patch("/keys/changes/text", R"({"increment":1})");
  EXPECT_EQ(RawValueOf("/keys/changes/text"), R"("42")");
  PutJson("/keys/changes/json", R"({"value":41})");
  Patch("/keys/changes/json", R"({"increment":1})");
  EXPECT_EQ(RawValueOf("/keys/changes/json"), "42");
}

TEST_P(ChangesTest, AnIncrementThatCannotBeIsRefused) {
  for (const char* value : {"\"x\"", "\"\"", "\" 1\"", "\"01\"", "1.5", "null", "[1]", "9223372036854775808"}) {
    PutJson("/keys/changes/no", std::string(R"({"value":)") + value + "}");
    EXPECT_TRUE(IsProblem(Patch("/keys/changes/no", R"({"increment":1})"), 400, "invalid_argument")) << value;
    EXPECT_EQ(RawValueOf("/keys/changes/no"), value);
  }
  PutJson("/keys/changes/most", R"({"value":9223372036854775807})");
  EXPECT_EQ(Patch("/keys/changes/most", R"({"increment":0})").status, 200);
  EXPECT_TRUE(IsProblem(Patch("/keys/changes/most", R"({"increment":1})"), 413, "too_large"));
  EXPECT_EQ(RawValueOf("/keys/changes/most"), "9223372036854775807");
  for (const char* body : {R"({"increment":1.5})", R"({"increment":"1"})", R"({"increment":9223372036854775808})", "{}",
                           R"({"increment":1,"append":"x"})", R"({"value":1})", R"({"increment":1,"ttl":0})"}) {
    EXPECT_TRUE(IsProblem(Patch("/keys/changes/most", body), 400, "invalid_argument")) << body;
  }
}

TEST_P(ChangesTest, AnAppendGrowsBytes) {
  Call("DELETE", "/keys/changes/append");
  EXPECT_EQ(JsonValue::Parse(Patch("/keys/changes/append", R"({"append":"ab"})").body)["value"].text(), "ab");
  Patch("/keys/changes/append", R"({"append_base64":"/w=="})");
  EXPECT_EQ(Get("/keys/changes/append", {{"Accept", "application/octet-stream"}}).body, "ab\xff");
  PutRaw("/keys/changes/append", "log", {{"Content-Type", "text/plain"}});
  Patch("/keys/changes/append", R"({"append":"ged"})");
  const HttpAnswer typed = Get("/keys/changes/append", {{"Accept", "application/octet-stream"}});
  EXPECT_EQ(typed.body, "logged");
  EXPECT_EQ(typed.Header("Content-Type"), "text/plain");
  PutJson("/keys/changes/append", R"({"value":[1]})");
  EXPECT_TRUE(IsProblem(Patch("/keys/changes/append", R"({"append":"x"})"), 400, "invalid_argument"));
}

TEST_P(ChangesTest, ChangesKeepTheLifetimeUnlessTheySayOtherwise) {
  PutJson("/keys/changes/keep", R"({"value":"1","ttl":100})");
  const std::string expiry = ExpiryOf("/keys/changes/keep");
  Patch("/keys/changes/keep", R"({"increment":1})");
  EXPECT_EQ(ExpiryOf("/keys/changes/keep"), expiry);
  Patch("/keys/changes/keep", R"({"append":"0"})");
  EXPECT_EQ(ExpiryOf("/keys/changes/keep"), expiry);
  Patch("/keys/changes/keep", R"({"increment":1,"ttl":200})");
  EXPECT_GT(ExpiryOf("/keys/changes/keep"), expiry);
  Patch("/keys/changes/keep", R"({"append":"0","ttl":null})");
  EXPECT_EQ(ExpiryOf("/keys/changes/keep"), "null");
  EXPECT_EQ(RawValueOf("/keys/changes/keep"), R"("210")");
}

TEST_P(ChangesTest, ConcurrentChangesAreAllThere) {
  Call("DELETE", "/keys/changes/sum");
  Call("DELETE", "/keys/changes/added");
  constexpr int kClients = 4;
  constexpr int kEach = 50;
  std::vector<std::thread> threads;
  for (int i = 0; i < kClients; ++i) {
    threads.emplace_back([address = Server().address()] {
      HttpClient client(address);
      // A server that is busy says so, and has written nothing.
      const auto must = [&client](std::string_view method, std::string_view target, std::string_view body) {
        HttpAnswer answer;
        do {
          answer = client.Call(method, target, {{"Content-Type", "application/json"}}, body);
        } while (answer.body.contains("urn:kvarts:overloaded"));
        EXPECT_EQ(answer.status, 200) << answer.body;
      };
      for (int n = 0; n < kEach; ++n) {
        must("PATCH", "/keys/changes/sum", R"({"increment":3})");
        must("POST", "/commit", R"({"mutations":[{"op":"add","key":"changes/added","by":2}]})");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(RawValueOf("/keys/changes/sum"), std::to_string(kClients * kEach * 3));
  EXPECT_EQ(RawValueOf("/keys/changes/added"), std::to_string(kClients * kEach * 2));
}

TEST_P(ChangesTest, OfManyWhoCompareAndSwapOneWins) {
  const std::string tag = PutJson("/keys/changes/race", R"({"value":0})").Header("ETag");
  std::atomic<int> won = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&won, &tag, address = Server().address()] {
      HttpClient client(address);
      const int status = client.Call("PUT", "/keys/changes/race", {{"If-Match", tag}}, "x").status;
      EXPECT_TRUE(status == 200 || status == 412) << status;
      won += status == 200 ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(won, 1);
}

KVARTS_ON_EVERY_ENGINE(ChangesTest);

}  // namespace
}  // namespace kvarts::test
