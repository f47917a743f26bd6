// Namespaces over HTTP: declared, changed, dropped; what they ask of keys and values; and their jobs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr auto kSoon = std::chrono::seconds(20);

class NamespacesTest : public HttpTest {
 protected:
  // Namespaces are in the way of other tests' keys.
  NamespacesTest() : HttpTest({"--watch-heartbeat", "14s"}) {}

  HttpAnswer Declare(const std::string& name, const std::string& body, HttpHeaders headers = {}) {
    return PutJson("/namespaces/" + name, body, std::move(headers));
  }
  std::string StateOf(const std::string& job) { return JsonValue::Parse(Get("/jobs/" + job).body)["state"].text(); }
  bool Becomes(const std::string& job, const std::string& state) {
    const auto give_up = Steady::now() + kSoon;
    while (StateOf(job) != state) {
      if (Steady::now() > give_up) return false;
      std::this_thread::sleep_for(milliseconds(5));
    }
    return true;
  }
  int64_t Count(const std::string& prefix) {
    return JsonValue::Parse(Get("/keys?count=exact&prefix=" + prefix).body)["count"].number();
  }
  void Fill(const std::string& prefix, int count) {
    std::string mutations;
    for (int i = 0; i < count; ++i) {
      mutations += fmt::format(R"({}{{"op":"put","key":"{}{:04}","value":{}}})", i == 0 ? "" : ",", prefix, i, i);
    }
    ASSERT_EQ(Post("/commit", R"({"mutations":[)" + mutations + "]}").status, 200);
  }
};

TEST_P(NamespacesTest, ADeclarationIsReadBackAsItWasWritten) {
  const std::string body =
      R"({"grammar":"full/<tenant>/<day:date>/<id>","partition":"tenant","tenant":"tenant","max_key_bytes":100,)"
      R"("max_value_bytes":1000,"default_ttl":3600,"profile":"window",)"
      R"("envelope":{"required":true,"types":["a","b"],"min_schema":1,"max_schema":5},)"
      R"("retention":{"field":"day","keep":86400},"feed":true})";
  const HttpAnswer declared = Declare("full", body);
  ASSERT_EQ(declared.status, 200) << declared.body;
  const HttpAnswer got = Get("/namespaces/full");
  EXPECT_EQ(got.body, declared.body);
  const JsonValue asked = JsonValue::Parse(body);
  const JsonValue json = JsonValue::Parse(got.body);
  for (const auto& [name, value] : asked.fields()) EXPECT_EQ(json[name].raw(), value.raw()) << name;
  EXPECT_EQ(json["name"].text(), "full");
  EXPECT_EQ(json["state"].text(), "active");
  // The same again changes nothing.
  EXPECT_EQ(Declare("full", body).body, declared.body);
  bool listed = false;
  const JsonValue items = JsonValue::Parse(Get("/namespaces").body)["items"];
  for (const JsonValue& item : items.elements()) {
    listed = listed || item.raw() == got.body;
  }
  EXPECT_TRUE(listed);
  EXPECT_TRUE(IsProblem(Get("/namespaces/none"), 404, "not_found"));
  EXPECT_TRUE(IsProblem(Call("DELETE", "/namespaces/none"), 404, "not_found"));
}

TEST_P(NamespacesTest, WhatCannotBeDeclaredIsRefusedWithAReason) {
  for (const char* body : {"",
                           "{}",
                           R"({"grammar":""})",
                           R"({"grammar":"x/<"})",
                           R"({"grammar":"x/<Id>"})",
                           R"({"grammar":"x/<a><b>"})",
                           R"({"grammar":"x/<a:nothing>"})",
                           R"({"grammar":"x/<a>/<a>"})",
                           R"({"grammar":"x/<a>","partition":"b"})",
                           R"({"grammar":"x/<a>","tenant":"b"})",
                           R"({"grammar":"x/<a>","profile":"fast"})",
                           R"({"grammar":"x/<a>","default_ttl":0})",
                           R"({"grammar":"x/<a>","default_ttl":-5})",
                           R"({"grammar":"x/<a>","max_value_bytes":-1})",
                           R"({"grammar":"x/<a>","else":1})",
                           R"({"grammar":"x/<a>","retention":{"field":"a","keep":60}})",
                           R"({"grammar":"x/<a:date>/<b>","retention":{"field":"c","keep":60}})",
                           R"({"grammar":"x/<a:date>/<b>","retention":{"field":"a"}})",
                           R"({"grammar":"x/<a>","envelope":{"min_schema":5,"max_schema":1,"required":true}})",
                           R"({"grammar":"x/<a>","feed":"yes"})"}) {
    const HttpAnswer answer = Declare("refused", body);
    EXPECT_TRUE(IsProblem(answer, 400, "invalid_argument")) << body;
  }
  EXPECT_EQ(Get("/namespaces/refused").status, 404);
  for (const char* name : {"Upper", "a.b", "%20", "a%2Fb", "%FF"}) {
    EXPECT_TRUE(IsProblem(Declare(name, R"({"grammar":"y/<a>"})"), 400, "invalid_argument")) << name;
  }
  EXPECT_EQ(Declare(std::string(64, 'n'), R"({"grammar":"long-name/<a>"})").status, 200);
  EXPECT_EQ(Declare(std::string(65, 'n'), R"({"grammar":"longer-name/<a>"})").status, 400);
}

TEST_P(NamespacesTest, OverlapsAndOtherProfilesInARegionAreRefused) {
  ASSERT_EQ(Declare("first", R"({"grammar":"region/<id>"})").status, 200);
  const HttpAnswer overlap = Declare("second", R"({"grammar":"region/<other>"})");
  EXPECT_TRUE(IsProblem(overlap, 400, "invalid_argument"));
  EXPECT_EQ(JsonValue::Parse(overlap.body)["other"].text(), "first");
  EXPECT_TRUE(
      IsProblem(Declare("second", R"({"grammar":"region/<id>/<x>","profile":"ingest"})"), 400, "invalid_argument"));
  EXPECT_EQ(Declare("second", R"({"grammar":"region/<id>/<x>"})").status, 200);
}

TEST_P(NamespacesTest, ARangeThatHasKeysIsNotTakenOver) {
  PutRaw("/keys/taken/1", "x");
  const HttpAnswer refused = Declare("taken", R"({"grammar":"taken/<id>"})");
  EXPECT_TRUE(IsProblem(refused, 412, "precondition_failed"));
  EXPECT_EQ(JsonValue::Parse(refused.body)["key"].text(), "taken/1");
  EXPECT_TRUE(JsonValue::Parse(refused.body).Has("advice")) << refused.body;
  Call("DELETE", "/keys/taken/1");
  EXPECT_EQ(Declare("taken", R"({"grammar":"taken/<id>"})").status, 200);
}

TEST_P(NamespacesTest, KeysFollowTheGrammarOrAreRefused) {
  ASSERT_EQ(Declare("events", R"({"grammar":"events/<user>/<at:timestamp>/<n:int(4)>"})").status, 200);
  EXPECT_EQ(PutRaw("/keys/events/u1/2026-07-05T10:15:30Z/0001", "x").status, 200);
  for (const char* key : {"events/", "events/u1", "events//2026-07-05T10:15:30Z/0001", "events/u1/2026-07-05/0001",
                          "events/u1/2026-13-05T10:15:30Z/0001", "events/u1/2026-07-05T10:15:30Z/1",
                          "events/u1/2026-07-05T10:15:30Z/0001/x"}) {
    const std::string target = std::string("/keys/") + key;
    const HttpAnswer refused = PutRaw(target, "x");
    EXPECT_TRUE(IsProblem(refused, 400, "invalid_argument")) << key;
    const JsonValue problem = JsonValue::Parse(refused.body);
    EXPECT_EQ(problem["detail"].text(), "the key does not follow the grammar of its namespace");
    EXPECT_EQ(problem["key"].text(), key);
    EXPECT_EQ(problem["namespace"].text(), "events");
    EXPECT_FALSE(problem["expected"].text().empty()) << refused.body;
    EXPECT_EQ(Patch(target, R"({"increment":1})").status, 400) << key;
    EXPECT_EQ(Post("/commit", fmt::format(R"({{"mutations":[{{"op":"put","key":"{}","value":1}}]}})", key)).status,
              400);
    EXPECT_EQ(Get(target).status, 404) << "reading is no matter of grammar";
  }
}

TEST_P(NamespacesTest, EnvelopesAreAskedForAndChecked) {
  ASSERT_EQ(Declare("sealed", R"({"grammar":"sealed/<tenant>/<id>","tenant":"tenant",
      "envelope":{"required":true,"types":["order"],"min_schema":2,"max_schema":3}})")
                .status,
            200);
  const auto put = [this](const std::string& envelope) {
    return PutJson("/keys/sealed/acme/1", R"({"value":{"n":1}, "envelope":)" + envelope + "}");
  };
  const HttpAnswer good = put(R"({"schemaVersion":2,"entityType":"order","tenantId":"acme","traceId":"t1"})");
  EXPECT_EQ(good.status, 200) << good.body;
  const JsonValue item = JsonValue::Parse(Get("/keys/sealed/acme/1").body);
  EXPECT_EQ(item["value"].raw(), R"({"n":1})") << item.raw();
  EXPECT_EQ(item["envelope"]["tenantId"].text(), "acme") << item.raw();
  const auto refused = [&](const HttpAnswer& answer, const char* text) {
    EXPECT_TRUE(IsProblem(answer, 400, "invalid_argument")) << text;
    EXPECT_NE(answer.body.find(text), std::string::npos) << answer.body;
  };
  refused(PutJson("/keys/sealed/acme/1", R"({"value":1})"), "the namespace takes envelopes only");
  refused(PutRaw("/keys/sealed/acme/1", "raw"), "the namespace takes envelopes only");
  refused(Patch("/keys/sealed/acme/n", R"({"increment":1})"), "the namespace takes envelopes only");
  refused(Post("/commit", R"({"mutations":[{"op":"add","key":"sealed/acme/n","by":1}]})"),
          "the namespace takes envelopes only");
  const HttpAnswer other = put(R"({"schemaVersion":2,"entityType":"order","tenantId":"other"})");
  refused(other, "the tenant of the envelope is not the tenant of the key");
  EXPECT_EQ(JsonValue::Parse(other.body)["key_tenant"].text(), "acme");
  EXPECT_EQ(JsonValue::Parse(other.body)["envelope_tenant"].text(), "other");
  refused(put(R"({"schemaVersion":2,"entityType":"order"})"),
          "the tenant of the envelope is not the tenant of the key");
  refused(put(R"({"schemaVersion":2,"entityType":"invoice","tenantId":"acme"})"), "values of this type");
  refused(put(R"({"schemaVersion":1,"entityType":"order","tenantId":"acme"})"), "this schema version");
  refused(put(R"({"schemaVersion":4,"entityType":"order","tenantId":"acme"})"), "this schema version");
  EXPECT_EQ(put(R"({"schemaVersion":3,"entityType":"order","tenantId":"acme"})").status, 200);
  EXPECT_EQ(put(R"({"schemaVersion":"3","entityType":"order","tenantId":"acme"})").status, 400);
}

TEST_P(NamespacesTest, LimitsAndLifetimes) {
  ASSERT_EQ(Declare("bounded", R"({"grammar":"bounded/<id>","max_key_bytes":12,"max_value_bytes":10,
      "default_ttl":1000})")
                .status,
            200);
  EXPECT_EQ(PutRaw("/keys/bounded/1234", std::string(10, 'x')).status, 200);
  const HttpAnswer long_key = PutRaw("/keys/bounded/12345", "x");
  EXPECT_TRUE(IsProblem(long_key, 413, "too_large"));
  EXPECT_EQ(JsonValue::Parse(long_key.body)["limit"].text(), "max_key_bytes");
  EXPECT_EQ(JsonValue::Parse(long_key.body)["at_most"].raw(), "12");
  const HttpAnswer large = PutRaw("/keys/bounded/1", std::string(11, 'x'));
  EXPECT_TRUE(IsProblem(large, 413, "too_large"));
  EXPECT_EQ(JsonValue::Parse(large.body)["limit"].text(), "max_value_bytes");
  EXPECT_EQ(JsonValue::Parse(large.body)["namespace"].text(), "bounded");
  EXPECT_EQ(Patch("/keys/bounded/1234", R"({"append":"x"})").status, 413);
  EXPECT_NE(JsonValue::Parse(Get("/keys/bounded/1234").body)["expiry"].text(), "null");
  const JsonValue own = JsonValue::Parse(PutRaw("/keys/bounded/2?ttl=5", "x").body);
  const JsonValue given = JsonValue::Parse(PutRaw("/keys/bounded/3", "x").body);
  EXPECT_LT(own["expiry"].text(), given["expiry"].text());
  const HttpAnswer add = Post("/commit", R"({"mutations":[{"op":"add","key":"bounded/n","by":1}]})");
  EXPECT_TRUE(IsProblem(add, 400, "invalid_argument"));
}

TEST_P(NamespacesTest, ChangesAndTheirConditions) {
  const std::string version =
      JsonValue::Parse(Declare("change", R"({"grammar":"change/<id>"})", {{"If-None-Match", "*"}}).body)["version"]
          .text();
  EXPECT_TRUE(IsProblem(Declare("change", R"({"grammar":"change/<id>"})", {{"If-None-Match", "*"}}), 412,
                        "precondition_failed"));
  const HttpAnswer changed =
      Declare("change", R"({"grammar":"change/<id>","max_value_bytes":5})", {{"If-Match", "\"" + version + "\""}});
  ASSERT_EQ(changed.status, 200) << changed.body;
  const std::string newer = JsonValue::Parse(changed.body)["version"].text();
  EXPECT_NE(newer, version);
  const HttpAnswer stale = Declare("change", R"({"grammar":"change/<id>"})", {{"If-Match", "\"" + version + "\""}});
  EXPECT_TRUE(IsProblem(stale, 412, "precondition_failed"));
  EXPECT_EQ(JsonValue::Parse(stale.body)["version"].text(), newer);
  EXPECT_EQ(Call("DELETE", "/namespaces/change", {{"If-Match", "\"" + version + "\""}}).status, 412);
  EXPECT_EQ(PutRaw("/keys/change/1", "123456").status, 413);
  EXPECT_EQ(PutRaw("/keys/change/1", "12345").status, 200);
  // With keys in it, what they rest on stays.
  for (const char* body : {R"({"grammar":"change/<id>/<x>"})", R"({"grammar":"change/<id>","profile":"ingest"})"}) {
    const HttpAnswer refused = Declare("change", body);
    EXPECT_TRUE(IsProblem(refused, 412, "precondition_failed")) << body;
    EXPECT_EQ(JsonValue::Parse(refused.body)["key"].text(), "change/1");
  }
  const HttpAnswer full = Call("DELETE", "/namespaces/change");
  EXPECT_TRUE(IsProblem(full, 412, "precondition_failed"));
  EXPECT_EQ(Call("DELETE", "/keys/change/1").status, 200);
  EXPECT_EQ(Call("DELETE", "/namespaces/change", {{"If-Match", "\"" + newer + "\""}}).status, 200);
  EXPECT_EQ(Get("/namespaces/change").status, 404);
  EXPECT_EQ(PutRaw("/keys/change/1/anything", "1234567").status, 200);
  ASSERT_EQ(Declare("fed", R"({"grammar":"fed/<id>","feed":true})").status, 200);
  EXPECT_TRUE(IsProblem(Declare("fed", R"({"grammar":"fed/<id>"})"), 400, "invalid_argument"));
}

TEST_P(NamespacesTest, ErasingTakesItsKeysAndNoOthers) {
  ASSERT_EQ(Declare("alone", R"({"grammar":"alone/<id>"})").status, 200);
  ASSERT_EQ(Declare("half-a", R"({"grammar":"half/<id>/a"})").status, 200);
  ASSERT_EQ(Declare("half-b", R"({"grammar":"half/<id>/b"})").status, 200);
  for (int i = 0; i < 30; ++i) {
    PutRaw(fmt::format("/keys/alone/{}", i), "x", {{"Kvarts-Durability", "none"}});
    PutRaw(fmt::format("/keys/half/{}/{}", i / 2, i % 2 == 0 ? "a" : "b"), "x", {{"Kvarts-Durability", "none"}});
  }
  const HttpAnswer at_once = Call("DELETE", "/namespaces/alone?erase=true");
  EXPECT_EQ(at_once.status, 200);
  EXPECT_TRUE(JsonValue::Parse(at_once.body)["job"].is_null());
  EXPECT_EQ(Count("alone/"), 0);
  // Where others have keys too, a job goes through them.
  const HttpAnswer started = Call("DELETE", "/namespaces/half-a?erase=true");
  ASSERT_EQ(started.status, 202) << started.body;
  ASSERT_TRUE(Becomes(JsonValue::Parse(started.body)["job"].text(), "done"));
  EXPECT_EQ(Count("half/"), 15);
  EXPECT_EQ(Get("/keys/half/3/b").status, 200);
  EXPECT_EQ(Get("/namespaces/half-a").status, 404);
  EXPECT_EQ(Get("/namespaces/half-b").status, 200);
}

TEST_P(NamespacesTest, BucketsAreDropped) {
  ASSERT_EQ(Declare("log", R"({"grammar":"log/<day:date>/<id>","retention":{"field":"day","keep":3153600000}})").status,
            200);
  const auto fill = [this] {
    for (const char* day : {"2026-06-30", "2026-07-01", "2026-07-31", "2026-08-01"}) {
      EXPECT_EQ(PutRaw(fmt::format("/keys/log/{}/1", day), "x").status, 200);
    }
  };
  fill();
  const auto drop = [this](const std::string& leading, const std::string& bucket) {
    return Post("/namespaces/log/drop-bucket", fmt::format(R"({{"leading":"{}","bucket":"{}"}})", leading, bucket));
  };
  EXPECT_EQ(drop("log/", "2026-07").status / 100, 2);
  EXPECT_EQ(Count("log/"), 2);
  EXPECT_EQ(Count("log/2026-07"), 0);
  fill();
  EXPECT_EQ(drop("log/", "2026-07-31").status / 100, 2);
  EXPECT_EQ(Count("log/"), 3);
  for (const auto& [leading, bucket] : std::vector<std::pair<std::string, std::string>>{{"", "2026-07"},
                                                                                        {"lo", "2026-07"},
                                                                                        {"log/2026", "-07"},
                                                                                        {"log/", ""},
                                                                                        {"log/", "x"},
                                                                                        {"other/", "2026-07"},
                                                                                        {"log/", "2026-07-01/1"}}) {
    EXPECT_TRUE(IsProblem(drop(leading, bucket), 400, "invalid_argument")) << leading << " " << bucket;
  }
  EXPECT_EQ(Count("log/"), 3);
  ASSERT_EQ(Declare("unkept", R"({"grammar":"unkept/<day:date>/<id>"})").status, 200);
  EXPECT_EQ(Post("/namespaces/unkept/drop-bucket", R"({"leading":"unkept/","bucket":"2026"})").status / 100, 4);
  EXPECT_EQ(Post("/namespaces/none/drop-bucket", R"({"leading":"none/","bucket":"2026"})").status, 404);
}

TEST_P(NamespacesTest, AMoveTakesWhatFitsAndTellsOfTheRest) {
  Fill("old/", 300);
  PutRaw("/keys/old/no/fit", "x");
  ASSERT_EQ(Declare("moved", R"({"grammar":"moved/<id>"})").status, 200);
  PutRaw("/keys/moved/0007", "already");
  const HttpAnswer started = Post("/namespaces/moved/move", R"({"from":"old/"})");
  ASSERT_EQ(started.status, 202) << started.body;
  const std::string job = JsonValue::Parse(started.body)["job"].text();
  ASSERT_TRUE(Becomes(job, "done")) << Get("/jobs/" + job).body;
  const JsonValue report = JsonValue::Parse(Get("/jobs/" + job).body);
  EXPECT_EQ(report["kind"].text(), "namespace_move");
  EXPECT_EQ(report["moved"].number(), 299);
  EXPECT_EQ(report["taken"].number(), 1);
  EXPECT_EQ(report["unfit"].number(), 1);
  EXPECT_EQ(report["first_left"].text(), "old/0007");
  EXPECT_EQ(Count("old/"), 2);
  EXPECT_EQ(Count("moved/"), 300);
  EXPECT_EQ(RawValueOf("/keys/moved/0008"), "8");
  EXPECT_EQ(RawValueOf("/keys/moved/0007"), R"("already")");
  bool listed = false;
  const JsonValue items = JsonValue::Parse(Get("/jobs?limit=1000").body)["items"];
  for (const JsonValue& item : items.elements()) {
    listed = listed || item["id"].text() == job;
  }
  EXPECT_TRUE(listed);
  for (const char* body : {"", "{}", R"({"from":""})", R"({"from":"moved/"})", R"({"from":"m"})",
                           R"({"from":"a/","to":"elsewhere/"})", R"({"from":"a/","throttle":-1})"}) {
    EXPECT_TRUE(IsProblem(Post("/namespaces/moved/move", body), 400, "invalid_argument")) << body;
  }
  EXPECT_EQ(Post("/namespaces/none/move", R"({"from":"a/"})").status, 404);
}

TEST_P(NamespacesTest, AJobIsPausedResumedAndCancelled) {
  Fill("slow/", 500);
  ASSERT_EQ(Declare("held", R"({"grammar":"held/<id>"})").status, 200);
  const auto start = [this](int throttle) {
    const HttpAnswer started =
        Post("/namespaces/held/move", fmt::format(R"({{"from":"slow/","throttle":{}}})", throttle));
    return JsonValue::Parse(started.body)["job"].text();
  };
  const std::string first = start(20);
  const HttpAnswer paused = Post("/jobs/" + first + "/pause", "");
  EXPECT_EQ(paused.status, 200) << paused.body;
  EXPECT_EQ(StateOf(first), "paused");
  // One that is under way finishes the chunk that it is at, and no more.
  std::this_thread::sleep_for(milliseconds(300));
  const int64_t left = Count("slow/");
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_EQ(Count("slow/"), left);
  EXPECT_GT(left, 0);
  EXPECT_EQ(Post("/jobs/" + first + "/resume", "").status, 200);
  EXPECT_NE(StateOf(first), "paused");
  EXPECT_EQ(Post("/jobs/" + first + "/cancel", "").status, 200);
  EXPECT_TRUE(Becomes(first, "cancelled"));
  std::this_thread::sleep_for(milliseconds(100));
  const int64_t after = Count("slow/");
  EXPECT_EQ(Count("slow/") + Count("held/"), 500);
  // What has ended stays so.
  EXPECT_EQ(Post("/jobs/" + first + "/resume", "").status / 100, 4);
  EXPECT_EQ(StateOf(first), "cancelled");
  EXPECT_EQ(Count("slow/"), after);
  const std::string second = start(0);
  EXPECT_TRUE(Becomes(second, "done"));
  EXPECT_EQ(Count("slow/"), 0);
  EXPECT_EQ(Count("held/"), 500);
  EXPECT_EQ(Post("/jobs/" + second + "/pause", "").status / 100, 4);
  EXPECT_EQ(Get("/jobs/00000000-0000-0000-0000-000000000000").status, 404);
  EXPECT_EQ(Get("/jobs/x").status, 400);
  EXPECT_EQ(Post("/jobs/00000000-0000-0000-0000-000000000000/pause", "").status, 404);
}

TEST_P(NamespacesTest, JobsAreListedPageByPage) {
  ASSERT_EQ(Declare("listed", R"({"grammar":"listed/<id>"})").status, 200);
  for (int i = 0; i < 5; ++i) Post("/namespaces/listed/move", fmt::format(R"({{"from":"nothing{}/"}})", i));
  std::vector<std::string> all;
  const JsonValue items = JsonValue::Parse(Get("/jobs?limit=1000").body)["items"];
  for (const JsonValue& item : items.elements()) {
    all.push_back(item["id"].text());
  }
  ASSERT_GE(all.size(), 5U);
  std::vector<std::string> paged;
  std::string query = "limit=2";
  while (paged.size() < all.size() + 20) {
    const JsonValue page = JsonValue::Parse(Get("/jobs?" + query).body);
    for (const JsonValue& item : page["items"].elements()) paged.push_back(item["id"].text());
    if (page["next"].is_null()) break;
    query = "limit=2&after=" + page["next"].text();
  }
  // The server may have begun jobs of its own meanwhile.
  std::erase_if(paged, [&](const std::string& id) { return std::ranges::find(all, id) == all.end(); });
  EXPECT_EQ(paged, all);
  for (const char* wrong : {"limit=0", "limit=1001", "after=x", "before=x"}) {
    EXPECT_TRUE(IsProblem(Get(std::string("/jobs?") + wrong), 400, "invalid_argument")) << wrong;
  }
}

TEST_P(NamespacesTest, AKeyIsExplained) {
  ASSERT_EQ(Declare("told", R"({"grammar":"told/<tenant>/<n:int(3)>","profile":"ingest"})").status, 200);
  const auto explain = [this](const std::string& key) { return JsonValue::Parse(Get("/explain/" + key).body); };
  const JsonValue governed = explain("told/acme/007");
  EXPECT_EQ(governed["verdict"].text(), "governed");
  EXPECT_EQ(governed["namespaces"].raw(), R"(["told"])");
  ASSERT_EQ(governed["fields"].size(), 2U);
  EXPECT_EQ(governed["fields"].at(0)["name"].text(), "tenant");
  EXPECT_EQ(governed["fields"].at(0)["value"].text(), "acme");
  EXPECT_EQ(governed["fields"].at(1)["value"].text(), "007");
  EXPECT_EQ(governed["tenant"].text(), "acme");
  EXPECT_EQ(governed["profile"].text(), "ingest");
  const JsonValue refused = explain("told/acme/7");
  EXPECT_EQ(refused["verdict"].text(), "refused");
  EXPECT_EQ(refused["problem"]["field"].text(), "n");
  EXPECT_EQ(refused["problem"]["position"].number(), 11);
  EXPECT_FALSE(refused["problem"]["expected"].text().empty());
  EXPECT_EQ(explain("elsewhere")["verdict"].text(), "free");
  EXPECT_EQ(explain("%FF%00")["key_base64"].text(), "/wA=");
  for (const JsonValue& each : {governed, refused}) EXPECT_FALSE(each["text"].text().empty());
  EXPECT_EQ(Get("/explain/").status, 400);
}

TEST_P(NamespacesTest, DeclaringWhileOthersPutLeavesNothingUngoverned) {
  const std::string address = Server().address();
  constexpr int kWriters = 2;
  constexpr int kEach = 10;
  int declared = 0;
  // Whoever declares may lose each of its races.
  for (int round = 0; round < 20 || (declared == 0 && round < 1000); ++round) {
    const std::string name = fmt::format("race{}", round);
    std::atomic<int> writing = kWriters;
    std::vector<std::thread> threads;
    for (int i = 0; i < kWriters; ++i) {
      threads.emplace_back([&, i] {
        HttpClient client(address);
        // One follows the grammar to be, the other does not; all but the last of their keys go at once.
        for (int n = 0; n < kEach; ++n) {
          const std::string target = fmt::format("/keys/{}/{}{}", name, i == 0 ? "" : "x/", n);
          const int status = client.Call("PUT", target, {}, "x").status;
          EXPECT_TRUE(status == 200 || status == 400) << status;
          if (n + 1 < kEach) client.Call("DELETE", target);
        }
        --writing;
      });
    }
    HttpClient client(address);
    int status = 0;
    while (status != 200 && writing > 0) {
      status = client.Call("PUT", "/namespaces/" + name, {}, fmt::format(R"({{"grammar":"{}/<id>"}})", name)).status;
      EXPECT_TRUE(status == 200 || status == 412 || status == 409) << status;
    }
    for (std::thread& thread : threads) thread.join();
    if (status != 200) continue;
    ++declared;
    const JsonValue items = JsonValue::Parse(Get("/keys?prefix=" + name + "/").body)["items"];
    for (const JsonValue& item : items.elements()) {
      const JsonValue explained = JsonValue::Parse(Get("/explain/" + item["key"].text()).body);
      EXPECT_EQ(explained["verdict"].text(), "governed") << item["key"].text();
    }
  }
  EXPECT_GT(declared, 0);
}

TEST_P(NamespacesTest, OfManyWhoDeclareTheSameOneIsFirst) {
  std::atomic<int> created = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&, i, address = Server().address()] {
      HttpClient client(address);
      const std::string body = fmt::format(R"({{"grammar":"winner/<id>","max_value_bytes":{}}})", 100 + i);
      const int status = client.Call("PUT", "/namespaces/winner", {{"If-None-Match", "*"}}, body).status;
      EXPECT_TRUE(status == 200 || status == 412 || status == 409) << status;
      created += status == 200 ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(created, 1);
}

KVARTS_ON_EVERY_ENGINE(NamespacesTest);

}  // namespace
}  // namespace kvarts::test
