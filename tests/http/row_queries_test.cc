// Queries and scans over HTTP: by partition, in the order of a table or an index, page by page while others write.
#include <set>

#include "http/tables_fixture.h"

namespace kvarts::test {
namespace {

class RowQueriesTest : public TablesHttpTest {
 protected:
  static constexpr const char* kOrders =
      R"({"key":{"partition":["customer"],"sort":["kind",{"name":"n","type":"number"}]},)"
      R"("indexes":[{"name":"by_state","partition":["state"],"sort":[{"path":"total","order":"desc"}]},)"
      R"({"name":"by_total","local":true,"sort":["total"]},)"
      R"({"name":"covering","partition":["state"],"include":["total"]},)"
      R"({"name":"tags","partition":["tags[*]"]}]})";

  std::string Orders() {
    const std::string table = MustDeclare("orders", kOrders);
    const auto put = [&](const char* customer, const char* kind, int n, const char* row) {
      MustPut(fmt::format("{}/rows/{}/{}/{}", table, customer, kind, n), row);
    };
    put("ada", "book", 1, R"({"state":"open","total":10,"tags":["a","b"]})");
    put("ada", "book", 2, R"({"state":"paid","total":30,"tags":["b"]})");
    put("ada", "book", 10, R"({"state":"open","total":20})");
    put("ada", "box", 1, R"({"state":"open","total":5.5})");
    put("ada", "pen", 1, R"({"state":"open"})");
    put("bob", "book", 1, R"({"state":"open","total":15})");
    return table;
  }
  JsonValue Query(const std::string& table, const std::string& query) { return PostJson(table + "/query", query); }
};

TEST_P(RowQueriesTest, APartitionInTheOrderOfItsKey) {
  const std::string table = Orders();
  EXPECT_EQ(FieldsOf(Query(table, R"({"partition":{"customer":"ada"}})"), "n"), "1 2 10 1 1");
  EXPECT_EQ(FieldsOf(Query(table, R"({"partition":{"customer":"ada"},"reverse":true})"), "n"), "1 1 10 2 1");
  EXPECT_EQ(FieldsOf(Query(table, R"({"partition":{"customer":"ada"},"sort":["book"]})"), "n"), "1 2 10");
  EXPECT_EQ(FieldsOf(Query(table, R"({"partition":{"customer":"ada"},"sort":["book",2]})"), "n"), "2");
  EXPECT_EQ(FieldsOf(Query(table, R"({"partition":{"customer":"ada"},"sort":["book"],"from":{"value":2}})"), "n"),
            "2 10");
  EXPECT_EQ(FieldsOf(Query(table, R"({"partition":{"customer":"ada"},"sort":["book"],)"
                                  R"("from":{"value":1,"inclusive":false},"to":{"value":10,"inclusive":false}})"),
                     "n"),
            "2");
  EXPECT_EQ(FieldsOf(Query(table, R"({"partition":{"customer":"ada"},"prefix":"bo"})"), "kind"), "book book book box");
  EXPECT_EQ(Query(table, R"({"partition":{"customer":"nobody"}})")["rows"].size(), 0U);
}

TEST_P(RowQueriesTest, ByAnIndex) {
  const std::string table = Orders();
  EXPECT_EQ(FieldsOf(Query(table, R"({"index":"by_state","partition":{"state":"open"}})"), "total"), "20 15 10 5.5")
      << "what has no total is not in it";
  EXPECT_EQ(FieldsOf(Query(table, R"({"index":"by_state","partition":{"state":"open"},"to":{"value":10}})"), "total"),
            "10 5.5");
  EXPECT_EQ(FieldsOf(Query(table, R"({"index":"by_total","partition":{"customer":"ada"}})"), "total"), "5.5 10 20 30");
  EXPECT_EQ(Query(table, R"({"index":"tags","partition":{"tags[*]":"b"}})")["rows"].size(), 2U);
  const JsonValue covered = Query(table, R"({"index":"covering","partition":{"state":"paid"}})")["rows"].at(0);
  EXPECT_EQ(covered["value"].raw(), R"({"n":2,"kind":"book","state":"paid","total":30,"customer":"ada"})");
  EXPECT_EQ(covered["key"].raw(), R"({"customer":"ada","kind":"book","n":2})");
  EXPECT_FALSE(covered.Has("schemaVersion")) << "the index alone has answered";
}

TEST_P(RowQueriesTest, FiltersFieldsAndBounds) {
  const std::string table = Orders();
  const JsonValue filtered =
      Query(table, R"({"partition":{"customer":"ada"},"filter":"total >= 20","fields":["total"]})");
  EXPECT_EQ(FieldsOf(filtered, "total"), "30 20");
  EXPECT_EQ(filtered["rows"].at(0)["value"].raw(), R"({"total":30})");
  EXPECT_EQ(filtered["rows"].at(0)["key"].raw(), R"({"customer":"ada","kind":"book","n":2})");
  EXPECT_EQ(filtered["examined"].number(), 5);
  const JsonValue small = Query(table, R"({"partition":{"customer":"ada"},"maxBytes":1})");
  EXPECT_EQ(small["rows"].size(), 1U) << "one always fits";
  EXPECT_FALSE(small["cursor"].is_null());
}

TEST_P(RowQueriesTest, WhatIsNoQueryIsRefused) {
  const std::string table = Orders();
  for (const char* query : {"",
                            "{}",
                            "[]",
                            R"({"partition":{}})",
                            R"({"partition":"ada"})",
                            R"({"partition":{"customer":1}})",
                            R"({"partition":{"customer":"ada","n":1}})",
                            R"({"partition":{"customer":"ada"},"sort":["a",1,2]})",
                            R"({"partition":{"customer":"ada"},"sort":[5]})",
                            R"({"partition":{"customer":"ada"},"from":{}})",
                            R"({"partition":{"customer":"ada"},"from":{"value":1}})",
                            R"({"partition":{"customer":"ada"},"prefix":5})",
                            R"({"partition":{"customer":"ada"},"prefix":"a","from":{"value":"b"}})",
                            R"({"partition":{"customer":"ada"},"filter":"n >"})",
                            R"({"partition":{"customer":"ada"},"fields":[]})",
                            R"({"partition":{"customer":"ada"},"limit":0})",
                            R"({"partition":{"customer":"ada"},"limit":1000000000})",
                            R"({"partition":{"customer":"ada"},"maxBytes":0})",
                            R"({"partition":{"customer":"ada"},"cursor":"forged"})",
                            R"({"partition":{"customer":"ada"},"else":1})"}) {
    EXPECT_TRUE(IsProblem(Post(table + "/query", query), 400, "invalid_argument")) << query;
  }
  EXPECT_TRUE(IsProblem(Post(table + "/query", R"({"index":"none","partition":{"a":1}})"), 404, "not_found"));
  EXPECT_TRUE(IsProblem(Post(TableAt("none") + "/query", R"({"partition":{"a":1}})"), 404, "not_found"));
  // A cursor fits its query alone.
  const std::string cursor = Query(table, R"({"partition":{"customer":"ada"},"limit":1})")["cursor"].text();
  for (const char* other : {R"("partition":{"customer":"bob"})", R"("partition":{"customer":"ada"},"reverse":true)",
                            R"("partition":{"customer":"ada"},"filter":"n > 0")"}) {
    EXPECT_TRUE(IsProblem(Post(table + "/query", fmt::format(R"({{{},"cursor":"{}"}})", other, cursor)), 400,
                          "invalid_argument"))
        << other;
  }
  EXPECT_EQ(Post(table + "/query", fmt::format(R"({{"partition":{{"customer":"ada"}},"cursor":"{}"}})", cursor)).status,
            200);
}

TEST_P(RowQueriesTest, PagesGoOnWhileOthersWrite) {
  const std::string table =
      MustDeclare("t", R"({"key":{"partition":["tenant"],"sort":[{"name":"n","type":"number"}]},)"
                       R"("indexes":[{"name":"by_tenant","partition":["tenant"],"sort":["n"]}]})");
  constexpr int kRows = 60;
  for (int i = 0; i < kRows; i += 2) MustPut(fmt::format("{}/rows/a/{}", table, i), "{}");
  for (const bool reverse : {false, true}) {
    for (const char* index : {"", R"("index":"by_tenant",)"}) {
      std::set<int64_t> seen;
      std::string cursor;
      int changed = 0;
      do {
        const JsonValue page =
            Query(table, fmt::format(R"({{{}"partition":{{"tenant":"a"}},"limit":7,"reverse":{}{}}})", index, reverse,
                                     cursor.empty() ? "" : R"(,"cursor":")" + cursor + '"'));
        for (const JsonValue& row : page["rows"].elements()) {
          EXPECT_TRUE(seen.insert(row["key"]["n"].number()).second) << "twice";
        }
        cursor = page["cursor"].is_null() ? "" : page["cursor"].text();
        // Odd ones come and go; the even ones are always there, and are written again.
        MustPut(fmt::format("{}/rows/a/{}", table, changed * 2 + 1), "{}");
        MustPut(fmt::format("{}/rows/a/{}", table, changed * 2), R"({"again":true})");
        ++changed;
      } while (!cursor.empty());
      for (int i = 0; i < kRows; i += 2) EXPECT_TRUE(seen.contains(i)) << i;
      for (int i = 0; i < changed; ++i) Call("DELETE", fmt::format("{}/rows/a/{}", table, i * 2 + 1));
    }
  }
}

TEST_P(RowQueriesTest, AllRowsInPages) {
  const std::string table = Orders();
  std::set<std::string> seen;
  std::string cursor;
  do {
    const JsonValue page = GetJson(table + "/rows?limit=2&fields=total" + (cursor.empty() ? "" : "&cursor=" + cursor));
    EXPECT_LE(page["rows"].size(), 2U);
    for (const JsonValue& row : page["rows"].elements()) {
      EXPECT_TRUE(seen.insert(row["key"].raw()).second);
      EXPECT_FALSE(row["value"].Has("customer"));
    }
    cursor = page["cursor"].is_null() ? "" : page["cursor"].text();
  } while (!cursor.empty());
  EXPECT_EQ(seen.size(), 6U);
  EXPECT_EQ(GetJson(table + "/rows?filter=total%20%3E%2010")["rows"].size(), 3U);
  for (const char* query : {"?limit=0", "?filter=", "?filter=n%3E", "?fields=", "?cursor=x", "?what=1"}) {
    EXPECT_TRUE(IsProblem(Get(table + "/rows" + query), 400, "invalid_argument")) << query;
  }
}

TEST_P(RowQueriesTest, SeveralCanReadAllRowsTogether) {
  const std::string table = MustDeclare("t", kEvents);
  constexpr int kRows = 300;
  std::string commands;
  for (int i = 0; i < kRows; ++i) {
    commands += fmt::format(R"({}{{"op":"put","table":{},"row":{{"tenant":"t{}","n":{}}}}})", i == 0 ? "" : ",",
                            Named("t"), i % 20, i);
  }
  ASSERT_EQ(Post("/rows/batch", R"({"commands":[)" + commands + "]}").status, 200);
  for (const char* filter : {"", R"(,"filter":"n >= 100")"}) {
    const JsonValue split = PostJson(table + "/split", fmt::format(R"({{"parts":4{}}})", filter));
    EXPECT_GE(split["cursors"].size(), 1U);
    EXPECT_LE(split["cursors"].size(), 4U);
    const std::string parameter = *filter == 0 ? "" : "&filter=n%20%3E%3D%20100";
    std::set<int64_t> seen;
    for (const JsonValue& part : split["cursors"].elements()) {
      std::string cursor = part.text();
      while (!cursor.empty()) {
        const JsonValue page = GetJson(table + "/rows?limit=50&cursor=" + cursor + parameter);
        for (const JsonValue& row : page["rows"].elements()) {
          EXPECT_TRUE(seen.insert(row["value"]["n"].number()).second) << "in two parts";
        }
        cursor = page["cursor"].is_null() ? "" : page["cursor"].text();
      }
    }
    EXPECT_EQ(seen.size(), *filter == 0 ? kRows : kRows - 100U);
  }
  for (const char* body : {"{}", R"({"parts":0})", R"({"parts":1025})", R"({"parts":"x"})", R"({"parts":1,"x":1})"}) {
    EXPECT_TRUE(IsProblem(Post(table + "/split", body), 400, "invalid_argument")) << body;
  }
}

KVARTS_ON_EVERY_ENGINE(RowQueriesTest);

}  // namespace
}  // namespace kvarts::test
