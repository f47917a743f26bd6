// Ranges of keys: pages and their cursors, counts, exports, deletion.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <thread>

#include "http/http_fixture.h"
#include "net/http/target.h"

namespace kvarts::test {
namespace {

class PagesTest : public HttpTest {
 protected:
  // Keys prefix0000, prefix0001, …, each with its number as a value.
  void Fill(std::string_view prefix, int count, std::string_view value = {}) {
    std::string mutations;
    for (int i = 0; i < count; ++i) {
      mutations += fmt::format(R"({}{{"op":"put","key":"{}{:04}","value":{}}})", mutations.empty() ? "" : ",", prefix,
                               i, value.empty() ? std::to_string(i) : std::string(value));
    }
    ASSERT_EQ(Post("/commit", fmt::format(R"({{"mutations":[{}]}})", mutations)).status, 200);
  }
  JsonValue Page(const std::string& query, const std::string& cursor = {}) {
    const HttpAnswer answer = Get("/keys?" + query + (cursor.empty() ? "" : "&cursor=" + cursor));
    EXPECT_EQ(answer.status, 200) << query << answer.body;
    return JsonValue::Parse(answer.body);
  }
  static std::vector<std::string> KeysOf(const JsonValue& page) {
    std::vector<std::string> keys;
    for (const JsonValue& item : page["items"].elements()) keys.push_back(item["key"].text());
    return keys;
  }
  // All pages one after the other.
  std::vector<std::string> Walk(const std::string& query) {
    std::vector<std::string> keys;
    std::string cursor;
    do {
      const JsonValue page = Page(query, cursor);
      for (const std::string& key : KeysOf(page)) keys.push_back(key);
      cursor = page["cursor"].is_null() ? "" : page["cursor"].text();
    } while (!cursor.empty() && keys.size() < 10'000);
    return keys;
  }
  std::vector<std::string> Lines(const HttpAnswer& answer) {
    std::vector<std::string> lines;
    std::istringstream in(answer.body);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
};

TEST_P(PagesTest, PagesJoinWithoutGapOrOverlap) {
  Fill("pages/join/", 50);
  std::vector<std::string> all;
  for (int i = 0; i < 50; ++i) all.push_back(fmt::format("pages/join/{:04}", i));
  for (const int limit : {1, 2, 7, 49, 50, 51, 1000}) {
    EXPECT_EQ(Walk("prefix=pages/join/&limit=" + std::to_string(limit)), all) << limit;
    std::vector<std::string> back = Walk("prefix=pages/join/&reverse=true&limit=" + std::to_string(limit));
    std::ranges::reverse(back);
    EXPECT_EQ(back, all) << limit;
  }
  EXPECT_EQ(Page("prefix=pages/join/&limit=3")["items"].raw(), Page("prefix=pages/join/&limit=3")["items"].raw());
}

TEST_P(PagesTest, BoundsAreHonoured) {
  Fill("pages/bounds/", 10);
  const auto keys = [this](const std::string& query) { return KeysOf(Page(query)).size(); };
  EXPECT_EQ(keys("start=pages/bounds/0003&end=pages/bounds/0006"), 3U);
  EXPECT_EQ(keys("start=pages/bounds/0003&end=pages/bounds/0006%00"), 4U);
  EXPECT_EQ(keys("start=pages/bounds/0003%00&end=pages/bounds/0006"), 2U);
  EXPECT_EQ(keys("start=pages/bounds/0003&end=pages/bounds0"), 7U);
  EXPECT_EQ(keys("prefix=pages/bounds/000"), 10U);
  EXPECT_EQ(keys("prefix=pages/bounds/0005"), 1U);
  EXPECT_EQ(keys("prefix=pages/bounds/x"), 0U);
  EXPECT_EQ(KeysOf(Page("start=pages/bounds/0003&end=pages/bounds/0006&reverse")).front(), "pages/bounds/0005");
  EXPECT_GE(keys("start=pages/bounds/0003"), 7U);
  for (const char* query :
       {"prefix=a&start=b", "prefix=a&end=b", "start=b&end=a", "start=a&end=a", "limit=0", "limit=x", "limit=-1",
        "limit=10001", "reverse=maybe", "count=some", "unknown=1", "limit=1&limit=2", "cursor=%zz", "prefix=%"}) {
    EXPECT_TRUE(IsProblem(Get(std::string("/keys?") + query), 400, "invalid_argument")) << query;
  }
}

TEST_P(PagesTest, AnyBytesAreABound) {
  for (const char* key : {"%FF%FFpages/1", "%FF%FFpages/%FF", "%FF%FF%FF"}) PutRaw(std::string("/keys/") + key, "x");
  EXPECT_EQ(Page("prefix=%FF%FFpages/")["items"].size(), 2U);
  EXPECT_EQ(Page("prefix=%FF%FF")["items"].size(), 3U);
  EXPECT_EQ(Page("start=%FF%FF%FF")["items"].size(), 1U);
  EXPECT_EQ(Page("prefix=%FF%FF&limit=1&reverse")["items"].at(0)["key_base64"].text(), "////");
  // In a query a plus is a space.
  PutRaw("/keys/pages%20plus", "x");
  EXPECT_EQ(Page("prefix=pages+pl")["items"].size(), 1U);
  EXPECT_EQ(Page("prefix=pages%2Bpl")["items"].size(), 0U);
  for (const char* key : {"%FF%FFpages/1", "%FF%FFpages/%FF", "%FF%FF%FF"}) Call("DELETE", std::string("/keys/") + key);
}

TEST_P(PagesTest, KeysAloneComeWithoutValues) {
  Fill("pages/alone/", 3);
  const JsonValue page = Page("prefix=pages/alone/&values=false&limit=2");
  for (const JsonValue& item : page["items"].elements()) {
    EXPECT_FALSE(item.Has("value"));
    EXPECT_FALSE(item["version"].is_null());
  }
  EXPECT_EQ(KeysOf(Page("prefix=pages/alone/&values=false&limit=2", page["cursor"].text())).size(), 1U);
}

TEST_P(PagesTest, PagesAreBoundedInBytesToo) {
  // The largest page is 8 MiB; of values of 3 MiB it holds two or three.
  const std::string value(3 << 20, 'x');
  for (int i = 0; i < 6; ++i) ASSERT_EQ(PutRaw("/keys/pages/bytes/" + std::to_string(i), value).status, 200);
  EXPECT_LT(Page("prefix=pages/bytes/")["items"].size(), 4U);
  EXPECT_EQ(Walk("prefix=pages/bytes/").size(), 6U);
  EXPECT_EQ(Page("prefix=pages/bytes/&values=false")["items"].size(), 6U);
  Call("DELETE", "/keys?prefix=pages/bytes/");
}

TEST_P(PagesTest, CursorsResumeExactlyWhileOthersWrite) {
  Fill("pages/busy/", 200, "\"stays\"");
  std::atomic<bool> done = false;
  // Writes between the keys that stay, and takes it back.
  std::thread writer([&done, address = Server().address()] {
    HttpClient client(address);
    for (int i = 0; !done; i = (i + 1) % 200) {
      client.Call("PUT", fmt::format("/keys/pages/busy/{:04}x", i), {{"Kvarts-Durability", "none"}}, "comes");
      client.Call("DELETE", fmt::format("/keys/pages/busy/{:04}x", (i + 150) % 200), {{"Kvarts-Durability", "none"}});
      client.Call("PUT", fmt::format("/keys/pages/busy/{:04}", i), {{"Kvarts-Durability", "none"}}, "stays");
    }
  });
  for (int round = 0; round < 5; ++round) {
    for (const char* reverse : {"false", "true"}) {
      std::vector<std::string> keys = Walk(std::string("prefix=pages/busy/&limit=7&reverse=") + reverse);
      if (reverse[0] == 't') std::ranges::reverse(keys);
      EXPECT_TRUE(std::ranges::is_sorted(keys));
      EXPECT_TRUE(std::ranges::adjacent_find(keys) == keys.end());
      EXPECT_EQ(std::ranges::count_if(keys, [](const std::string& key) { return !key.ends_with("x"); }), 200);
    }
  }
  done = true;
  writer.join();
}

TEST_P(PagesTest, CursorsFitOnlyTheirQueryAndCannotBeForged) {
  Fill("pages/cursor/", 20);
  const std::string query = "prefix=pages/cursor/&limit=5";
  const std::string cursor = Page(query)["cursor"].text();
  EXPECT_EQ(KeysOf(Page(query, cursor)).front(), "pages/cursor/0005");
  // Again, and with another limit: the same place.
  EXPECT_EQ(KeysOf(Page("prefix=pages/cursor/&limit=1", cursor)).front(), "pages/cursor/0005");
  for (const char* other :
       {"prefix=pages/curso", "prefix=pages/cursor/&reverse", "prefix=pages/cursor/&values=false", "limit=5",
        "prefix=pages/cursor/&count=exact", "start=pages/cursor/", "start=pages/cursor/&end=pages/cursor/0010"}) {
    EXPECT_TRUE(IsProblem(Get(std::string("/keys?") + other + "&cursor=" + cursor), 400, "invalid_argument")) << other;
  }
  const auto refused = [&](const std::string& text) {
    return IsProblem(Get("/keys?" + query + "&cursor=" + http::PercentEncode(text)), 400, "invalid_argument");
  };
  for (size_t i = 0; i < cursor.size(); ++i) {
    std::string altered = cursor;
    altered[i] = altered[i] == 'A' ? 'B' : 'A';
    EXPECT_TRUE(refused(altered)) << i;
  }
  EXPECT_TRUE(refused(cursor.substr(0, cursor.size() - 1)));
  EXPECT_TRUE(refused(cursor + "A"));
  EXPECT_TRUE(refused(cursor + cursor));
  EXPECT_TRUE(refused("x"));
  EXPECT_TRUE(refused(std::string("\0\xff", 2)));
  EXPECT_TRUE(refused(std::string(10'000, 'A')));
}

TEST_P(PagesTest, ACursorOfAnotherDatabaseIsRefused) {
  Fill("pages/foreign/", 4);
  const std::string cursor = Page("prefix=pages/foreign/&limit=1")["cursor"].text();
  HttpClient other = Connect({"--limits-max-cursor-age", "1s"});
  EXPECT_TRUE(
      IsProblem(other.Call("GET", "/keys?prefix=pages/foreign/&limit=1&cursor=" + cursor), 400, "invalid_argument"));
  // Its own, too, after their time.
  for (int i = 0; i < 3; ++i) other.Call("PUT", "/keys/pages/foreign/" + std::to_string(i), {}, "x");
  const std::string own =
      JsonValue::Parse(other.Call("GET", "/keys?prefix=pages/foreign/&limit=1").body)["cursor"].text();
  EXPECT_EQ(other.Call("GET", "/keys?prefix=pages/foreign/&limit=1&cursor=" + own).status, 200);
  std::this_thread::sleep_for(std::chrono::milliseconds(1'100));
  EXPECT_TRUE(
      IsProblem(other.Call("GET", "/keys?prefix=pages/foreign/&limit=1&cursor=" + own), 400, "invalid_argument"));
}

TEST_P(PagesTest, CountsAreExactWhenAsked) {
  Fill("pages/count/", 123);
  Call("DELETE", "/keys/pages/count/0100");
  const JsonValue exact = Page("prefix=pages/count/&count=exact");
  EXPECT_EQ(exact["count"].raw(), "122");
  EXPECT_TRUE(exact["exact"].is_true());
  EXPECT_EQ(Page("start=pages/count/0010&end=pages/count/0020&count=exact")["count"].raw(), "10");
  EXPECT_EQ(Page("prefix=pages/count/x&count=exact")["count"].raw(), "0");
  const int64_t estimate = Page("prefix=pages/count/&count=estimate")["count"].number();
  EXPECT_GT(estimate, 0);
  EXPECT_LT(estimate, 10'000);
}

TEST_P(PagesTest, AnExportIsWholeAndSaysSo) {
  for (int part = 0; part < 5; ++part) Fill("pages/export/" + std::to_string(part) + "/", 500);
  const HttpHeaders lines_please = {{"Accept", "application/x-ndjson"}};
  for (const char* more : {"", "&reverse=true", "&values=false"}) {
    const HttpAnswer answer = Get(std::string("/keys?prefix=pages/export/") + more, lines_please);
    EXPECT_EQ(answer.Header("Content-Type"), "application/x-ndjson");
    const std::vector<std::string> lines = Lines(answer);
    ASSERT_EQ(lines.size(), 2'501U);
    std::set<std::string> keys;
    for (size_t i = 0; i < 2'500; ++i) keys.insert(JsonValue::Parse(lines[i])["key"].text());
    EXPECT_EQ(keys.size(), 2'500U);
    const JsonValue end = JsonValue::Parse(lines.back());
    EXPECT_TRUE(end["end"].is_true());
    EXPECT_EQ(end["count"].raw(), "2500");
    EXPECT_TRUE(end["cursor"].is_null());
  }
  // A part of it, and the rest from its cursor.
  const std::vector<std::string> first = Lines(Get("/keys?prefix=pages/export/&limit=1500", lines_please));
  ASSERT_EQ(first.size(), 1'501U);
  const std::string cursor = JsonValue::Parse(first.back())["cursor"].text();
  const std::vector<std::string> rest = Lines(Get("/keys?prefix=pages/export/&cursor=" + cursor, lines_please));
  EXPECT_EQ(rest.size(), 1'001U);
  EXPECT_EQ(JsonValue::Parse(rest.front())["key"].text(), "pages/export/3/0000");
  // Nothing at all is an export, too, and a cursor that is none is an error.
  EXPECT_EQ(Lines(Get("/keys?prefix=pages/export/x", lines_please)).size(), 1U);
  EXPECT_TRUE(IsProblem(Get("/keys?prefix=pages/export/&cursor=x", lines_please), 400, "invalid_argument"));
}

TEST_P(PagesTest, AnExportCanBeCompressed) {
  Fill("pages/packed/", 2'000);
  const ProgramRun run =
      RunProgram({"curl", "-sN", "--compressed", "-H", "Accept: application/x-ndjson", "-w", "%{size_download}",
                  "http://" + Server().address() + "/keys?prefix=pages/packed/"});
  const size_t end = run.out.rfind('\n');
  EXPECT_EQ(std::ranges::count(run.out, '\n'), 2'001);
  EXPECT_LT(std::stoul(run.out.substr(end + 1)), end / 3);
}

TEST_P(PagesTest, AnExportIsCutOffWithItsReader) {
  Fill("pages/cut/", 1'000, "\"" + std::string(2'000, 'x') + "\"");
  for (int i = 0; i < 3; ++i) {
    HttpClient client = Connect();
    client.Send(RequestText("GET", "/keys?prefix=pages/cut/", {{"Accept", "application/x-ndjson"}}));
    client.ReadRaw(std::chrono::milliseconds(5));
    client.Reset();
  }
  EXPECT_EQ(Get("/livez").status, 200);
}

TEST_P(PagesTest, DeletingARangeNeedsABound) {
  Fill("pages/delete/", 10);
  for (const char* query : {"", "?prefix=", "?start=pages/delete/", "?end=pages/delete/0005", "?start=b&end=a",
                            "?prefix=pages/delete/&limit=1", "?prefix=a&start=b"}) {
    EXPECT_TRUE(IsProblem(Call("DELETE", std::string("/keys") + query), 400, "invalid_argument")) << query;
  }
  EXPECT_EQ(Page("prefix=pages/delete/&count=exact")["count"].raw(), "10");
  EXPECT_EQ(Call("DELETE", "/keys?start=pages/delete/0002&end=pages/delete/0004").status, 200);
  EXPECT_EQ(Page("prefix=pages/delete/&count=exact")["count"].raw(), "8");
  const HttpAnswer gone = Call("DELETE", "/keys?prefix=pages/delete/");
  EXPECT_EQ(gone.status, 200);
  EXPECT_FALSE(JsonValue::Parse(gone.body)["version"].is_null());
  EXPECT_EQ(Page("prefix=pages/delete/&count=exact")["count"].raw(), "0");
}

// No key stands behind all that begin with FF bytes alone, so such a prefix has no end to its range.
TEST_P(PagesTest, APrefixOfNothingButTheLastByteReachesToTheEnd) {
  for (const char* key : {"%FE", "%FE%FF", "%FF", "%FF%FE", "%FF%FF", "%FF%FF%00", "%FF%FF%FF"}) {
    ASSERT_EQ(PutRaw(std::string("/keys/") + key, "x").status, 200);
  }
  const auto count = [this](const std::string& query) {
    return JsonValue::Parse(Get("/keys?count=exact&" + query).body)["count"].raw();
  };
  EXPECT_EQ(count("prefix=%FF"), "5");
  EXPECT_EQ(JsonValue::Parse(Get("/keys?prefix=%FF%FF").body)["items"].size(), 3U);
  EXPECT_EQ(JsonValue::Parse(Get("/keys?prefix=%FF%FF&reverse=true").body)["items"].size(), 3U);
  EXPECT_EQ(Call("DELETE", "/keys?prefix=%FF%FF").status, 200);
  EXPECT_EQ(count("prefix=%FF"), "2");
  EXPECT_EQ(Call("DELETE", "/keys?prefix=%FF").status, 200);
  EXPECT_EQ(count("prefix=%FF"), "0");
  EXPECT_EQ(count("prefix=%FE"), "2");
  for (const char* unbounded : {"/keys", "/keys?prefix=", "/keys?start=%FE", "/keys?end=%FE"}) {
    EXPECT_TRUE(IsProblem(Call("DELETE", unbounded), 400, "invalid_argument")) << unbounded;
  }
  EXPECT_EQ(Call("DELETE", "/keys?prefix=%FE").status, 200);
}

KVARTS_ON_EVERY_ENGINE(PagesTest);

}  // namespace
}  // namespace kvarts::test
