// What deleted keys cost whoever reads over them.
#include <fmt/format.h>

#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

const std::vector<std::string> kLimits = {"--scan-tombstones-warn", "100", "--scan-tombstones-fail", "300"};

class TombstonesTest : public HttpTest {
 protected:
  HttpAnswer Ask(std::string_view method, const std::string& target, std::string_view body = {},
                 const HttpHeaders& headers = {}) {
    HttpClient client = Connect(kLimits);
    return client.Call(method, target, headers, body);
  }
  // So many keys that were there, and one that is, behind them.
  void Bury(const std::string& prefix, int count) {
    HttpClient client = Connect(kLimits);
    for (const char* op : {R"("put","value":1)", R"("delete")"}) {
      std::string mutations;
      for (int i = 0; i < count; ++i) {
        mutations += fmt::format(R"({}{{"key":"{}{:04}","op":{}}})", i == 0 ? "" : ",", prefix, i, op);
      }
      ASSERT_EQ(client.Call("POST", "/commit", {}, R"({"mutations":[)" + mutations + "]}").status, 200);
    }
    client.Call("PUT", "/keys/" + prefix + "zz", {}, "last");
  }
  static uint64_t SkippedIn(const HttpAnswer& answer) {
    const std::string cost = answer.Header("Kvarts-Cost");
    const size_t at = cost.find("skipped=");
    return at == std::string::npos ? 0 : std::stoull(cost.substr(at + 8));
  }
};

TEST_P(TombstonesTest, TheCostShowsWhatWasSteppedOver) {
  Bury("cost/", 50);
  const HttpAnswer page = Ask("GET", "/keys?prefix=cost/", {}, {{"Kvarts-Cost", "1"}});
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(SkippedIn(page), 50U) << page.Header("Kvarts-Cost");
  EXPECT_FALSE(page.Has("Kvarts-Warning"));
  EXPECT_EQ(SkippedIn(Ask("GET", "/keys?prefix=cost/&count=exact", {}, {{"Kvarts-Cost", "1"}})), 50U);
  EXPECT_EQ(SkippedIn(Ask("GET", "/keys?start=cost/0040&end=cost/0", {}, {{"Kvarts-Cost", "1"}})), 0U);
}

TEST_P(TombstonesTest, ManyAreWarnedOf) {
  Bury("few/", 100);
  Bury("many/", 101);
  EXPECT_FALSE(Ask("GET", "/keys?prefix=few/").Has("Kvarts-Warning"));
  for (const char* query : {"", "&reverse=true", "&values=false", "&count=exact"}) {
    const HttpAnswer answer = Ask("GET", std::string("/keys?prefix=many/") + query);
    EXPECT_EQ(answer.status, 200) << query;
    EXPECT_EQ(answer.Header("Kvarts-Warning"), "tombstones=101") << query;
  }
  const HttpAnswer lines = Ask("GET", "/keys?prefix=many/", {}, {{"Accept", "application/x-ndjson"}});
  EXPECT_EQ(lines.Header("Kvarts-Warning"), "tombstones=101");
  EXPECT_TRUE(Server(kLimits).AwaitLog("a request stepped over many tombstones"));
  EXPECT_EQ(Server(kLimits).Log().find("many/"), std::string::npos) << "keys are not logged";
}

TEST_P(TombstonesTest, TooManyFailAndSayHowToGoOn) {
  Bury("enough/", 300);
  EXPECT_EQ(Ask("GET", "/keys?prefix=enough/").status, 200);
  Bury("wall/", 900);
  for (const char* query : {"", "&values=false", "&count=exact"}) {
    const HttpAnswer failed = Ask("GET", std::string("/keys?prefix=wall/") + query, {}, {{"Kvarts-Cost", "1"}});
    EXPECT_GT(SkippedIn(failed), 300U) << failed.Header("Kvarts-Cost");
    EXPECT_TRUE(IsProblem(failed, 503, "overloaded")) << query;
    const JsonValue problem = JsonValue::Parse(failed.body);
    EXPECT_EQ(problem["limit"].text(), "tombstones_fail");
    EXPECT_EQ(problem["at_most"].raw(), "300");
    EXPECT_GT(problem["skipped"].number(), 300);
    EXPECT_TRUE(problem["reached"].text().starts_with("wall/")) << failed.body;
    EXPECT_NE(problem["advice"].text().find("start"), std::string::npos) << failed.body;
  }
  EXPECT_EQ(Ask("GET", "/keys?prefix=wall/", {}, {{"Accept", "application/x-ndjson"}}).status, 503);
  EXPECT_EQ(Ask("GET", "/keys?prefix=wall/&count=estimate").status, 200);
  // Who goes on as it is told gets through to what is there.
  std::string start = "wall/";
  std::string found;
  for (int i = 0; i < 10 && found.empty(); ++i) {
    const HttpAnswer answer = Ask("GET", "/keys?end=wall0&start=" + start);
    const JsonValue json = JsonValue::Parse(answer.body);
    if (answer.status == 200) {
      found = json["items"].at(0)["key"].text();
    } else {
      start = json["reached"].text();
    }
  }
  EXPECT_EQ(found, "wall/zz");
}

TEST_P(TombstonesTest, AWallEndsAPageWithWhatWasFoundBeforeIt) {
  Bury("short/", 400);
  Ask("PUT", "/keys/short/", "first");
  for (const std::string query : {"prefix=short/", "prefix=short/&reverse=true", "prefix=short/&limit=1"}) {
    std::vector<std::string> found;
    std::string cursor;
    do {
      const HttpAnswer answer = Ask("GET", "/keys?" + query + (cursor.empty() ? "" : "&cursor=" + cursor));
      ASSERT_EQ(answer.status, 200) << answer.body;
      const JsonValue page = JsonValue::Parse(answer.body);
      for (const JsonValue& item : page["items"].elements()) found.push_back(item["key"].text());
      cursor = page["cursor"].is_null() ? "" : page["cursor"].text();
    } while (!cursor.empty());
    EXPECT_EQ(found.size(), 2U) << query;
  }
  const HttpAnswer lines = Ask("GET", "/keys?prefix=short/", {}, {{"Accept", "application/x-ndjson"}});
  EXPECT_NE(lines.body.find(R"("end":true,"count":2)"), std::string::npos) << lines.body;
  // A count says how far it came; what it steps over is limited in all.
  const JsonValue count = JsonValue::Parse(Ask("GET", "/keys?prefix=short/&count=exact").body);
  EXPECT_EQ(count["count"].raw(), "1");
  const JsonValue rest =
      JsonValue::Parse(Ask("GET", "/keys?prefix=short/&count=exact&cursor=" + count["cursor"].text()).body);
  EXPECT_EQ(rest["count"].raw(), "1");
  EXPECT_TRUE(rest["cursor"].is_null());
}

TEST_P(TombstonesTest, BackwardsToo) {
  Bury("back/", 900);
  Ask("PUT", "/keys/back/", "first");
  std::string end = "back/z";
  std::string found;
  for (int i = 0; i < 10 && found.empty(); ++i) {
    const HttpAnswer answer = Ask("GET", "/keys?reverse=true&start=back/&end=" + end);
    const JsonValue json = JsonValue::Parse(answer.body);
    if (answer.status == 200) {
      found = json["items"].at(0)["key"].text();
      continue;
    }
    EXPECT_TRUE(IsProblem(answer, 503, "overloaded"));
    EXPECT_NE(json["advice"].text().find("end"), std::string::npos);
    std::string reached = json["reached"].text();
    ASSERT_TRUE(reached.ends_with('\0'));
    reached.pop_back();
    end = reached + "%00";
  }
  EXPECT_EQ(found, "back/");
}

TEST_P(TombstonesTest, CompactionClearsTheWay) {
  if (GetParam().name == "memory") GTEST_SKIP() << "it keeps them, to tell what has changed";
  Bury("compact/", 900);
  EXPECT_EQ(Ask("GET", "/keys?prefix=compact/").status, 503);
  EXPECT_EQ(Ask("POST", "/compact", R"({"prefix":"compact/"})").status, 200);
  const HttpAnswer page = Ask("GET", "/keys?prefix=compact/", {}, {{"Kvarts-Cost", "1"}});
  EXPECT_EQ(page.status, 200) << page.body;
  EXPECT_EQ(SkippedIn(page), 0U);
}

TEST_P(TombstonesTest, WhoIsLimitedPaysForWhatFails) {
  const std::vector<std::string> options = {"--scan-tombstones-fail", "300", "--scan-tombstones-warn", "200"};
  const std::string address = Server(options).address();
  HttpClient client(address);
  const HttpAnswer first = client.Call("POST", "/tokens", {}, R"({"name":"a","scopes":["admin"]})");
  const HttpHeaders admin = {{"Authorization", "Bearer " + JsonValue::Parse(first.body)["token"].text()}};
  for (int i = 0; i < 400; ++i) {
    client.Call("PUT", fmt::format("/keys/paid/{:04}?ttl=0.001", i), admin, "x");
  }
  const HttpAnswer made =
      client.Call("POST", "/tokens", admin, R"({"name":"poor","scopes":["read:prefix=paid/"],"rate":1,"burst":20})");
  const HttpHeaders poor = {{"Authorization", "Bearer " + JsonValue::Parse(made.body)["token"].text()}};
  EXPECT_EQ(client.Call("GET", "/keys?prefix=paid/", poor).status, 503);
  EXPECT_EQ(client.Call("GET", "/keys?prefix=paid/", poor).status, 429);
}

KVARTS_ON_EVERY_ENGINE(TombstonesTest);

}  // namespace
}  // namespace kvarts::test
