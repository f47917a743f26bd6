// Queries by partition, in the order of the table or of an index, page by page.
#include "model/table/query.h"

#include <gmock/gmock.h>

#include "support/tables.h"

namespace kvarts::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::string_view kEvents = R"({
  "key": {"partition": ["case"], "sort": [{"name": "at", "type": "number"}, {"name": "kind", "order": "desc"}]},
  "indexes": [
    {"name": "by_kind", "partition": ["kind"], "sort": [{"path": "at", "type": "number", "order": "desc"}]},
    {"name": "any", "partition": ["case"], "sort": ["v"], "sparse": false},
    {"name": "place", "partition": ["place"], "sparse": false},
    {"name": "names", "partition": ["case"], "sort": [{"path": "name", "lower": true}], "include": ["name"]}]})";

class QueryTest : public TablesFixture {
 protected:
  void SetUp() override {
    TablesFixture::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    MustCreate("events", kEvents);
  }
  void PutEvent(int at, std::string_view kind = "a", std::string_view more = "") {
    MustPut("events", R"({"case": "c", "at": )" + std::to_string(at) + R"(, "kind": ")" + std::string(kind) + "\"" +
                          std::string(more) + "}");
  }
  static RowQuery Of(std::string_view partition, std::string index = "") {
    RowQuery query;
    query.partition = Document(partition);
    query.index = std::move(index);
    return query;
  }
  static std::optional<SortBound> Bound(std::string_view value, bool inclusive = true) {
    return SortBound{Document(value), inclusive};
  }
  std::vector<std::string> At(const RowQuery& query) { return FieldOf("events", query, "at"); }
  using TablesFixture::At;
  Error Refused(const RowQuery& query) {
    const auto page = Ask("events", query);
    EXPECT_FALSE(page);
    return page ? Error(ErrorCode::kInternal, "it went through") : page.error();
  }
};
KVARTS_ON_EVERY_ENGINE(QueryTest);

TEST_P(QueryTest, RowsOfAPartitionComeInTheOrderOfTheirValues) {
  for (const int at : {10, -5, 2, 100, 0}) PutEvent(at);
  MustPut("events", R"({"case": "other", "at": 1, "kind": "a"})");
  EXPECT_THAT(At(Of(R"({"case": "c"})")), ElementsAre("-5", "0", "2", "10", "100"));
  RowQuery reverse = Of(R"({"case": "c"})");
  reverse.reverse = true;
  EXPECT_THAT(At(reverse), ElementsAre("100", "10", "2", "0", "-5"));
  EXPECT_THAT(At(Of(R"({"case": "none"})")), IsEmpty());
}

TEST_P(QueryTest, ASortFieldIsBounded) {
  for (const int at : {1, 2, 3, 4}) PutEvent(at);
  RowQuery query = Of(R"({"case": "c"})");
  query.from = Bound("2");
  EXPECT_THAT(At(query), ElementsAre("2", "3", "4"));
  query.to = Bound("4", false);
  EXPECT_THAT(At(query), ElementsAre("2", "3"));
  query.from = Bound("2", false);
  EXPECT_THAT(At(query), ElementsAre("3"));
  query.reverse = true;
  query.from.reset();
  EXPECT_THAT(At(query), ElementsAre("3", "2", "1"));
  query.to = Bound("1");
  query.from = Bound("2");
  EXPECT_THAT(At(query), IsEmpty());
}

TEST_P(QueryTest, BoundsOfADescendingFieldAreOfItsValues) {
  for (const int at : {1, 2, 3, 4}) PutEvent(at);
  RowQuery query = Of(R"({"kind": "a"})", "by_kind");
  EXPECT_THAT(At(query), ElementsAre("4", "3", "2", "1"));
  query.from = Bound("2");
  EXPECT_THAT(At(query), ElementsAre("4", "3", "2"));
  query.to = Bound("4", false);
  EXPECT_THAT(At(query), ElementsAre("3", "2"));
}

TEST_P(QueryTest, LeadingSortFieldsAreEqualAndTheNextBeginsWithSomething) {
  for (const char* kind : {"ab", "aa", "b"}) PutEvent(1, kind);
  PutEvent(2, "ab");
  RowQuery query = Of(R"({"case": "c"})");
  query.sort = {Document("1")};
  EXPECT_THAT(FieldOf("events", query, "kind"), ElementsAre(R"("b")", R"("ab")", R"("aa")"));
  query.prefix = Document(R"("a")");
  EXPECT_THAT(FieldOf("events", query, "kind"), ElementsAre(R"("ab")", R"("aa")"));
}

TEST_P(QueryTest, BoundsKeepToTheirType) {
  PutEvent(1, "a", R"(, "v": 5)");
  PutEvent(2, "a", R"(, "v": "text")");
  PutEvent(3, "a", R"(, "v": true)");
  PutEvent(4, "a");
  RowQuery query = Of(R"({"case": "c"})", "any");
  EXPECT_THAT(At(query), ElementsAre("4", "3", "1", "2")) << "nothing, truth, numbers, texts";
  query.from = Bound("-1000");
  EXPECT_THAT(At(query), ElementsAre("1"));
  query.from.reset();
  query.to = Bound(R"("z")");
  EXPECT_THAT(At(query), ElementsAre("2"));
}

TEST_P(QueryTest, RowsThatLackAFieldAreFoundByNull) {
  PutEvent(1, "a", R"(, "v": 5, "place": "here")");
  PutEvent(2);
  PutEvent(3, "a", R"(, "v": null, "place": {}, "name": "x")");
  EXPECT_THAT(At(Of(R"({"place": null})", "place")), ElementsAre("2", "3"));
  EXPECT_THAT(At(Of(R"({"place": "here"})", "place")), ElementsAre("1"));
  RowQuery sorted = Of(R"({"case": "c"})", "any");
  sorted.sort = {Document("null")};
  EXPECT_THAT(At(sorted), ElementsAre("2", "3"));
  sorted.index = "names";
  EXPECT_EQ(Refused(sorted).code(), ErrorCode::kInvalidArgument) << "that index has no such rows";
  sorted = Of(R"({"case": "c"})", "any");
  sorted.from = Bound("null");
  EXPECT_EQ(Refused(sorted).code(), ErrorCode::kInvalidArgument) << "a bound is a value";
  EXPECT_EQ(Refused(Of(R"({"case": null})")).code(), ErrorCode::kInvalidArgument);
}

TEST_P(QueryTest, AnIndexOnNormalisedValuesIsAskedByAnySpelling) {
  PutEvent(1, "a", R"(, "name": "ÄRGER")");
  RowQuery query = Of(R"({"case": "c"})", "names");
  query.sort = {Document(R"("Ärger")")};
  EXPECT_THAT(FieldOf("events", query, "name"), ElementsAre(R"("ÄRGER")"));
  query.sort.clear();
  query.prefix = Document(R"("äRG")");
  EXPECT_THAT(FieldOf("events", query, "name"), ElementsAre(R"("ÄRGER")"));
}

// Whatever entries hold, what is asked of a row is answered as of the row.
TEST_P(QueryTest, AnIndexThatCoversAnswersLikeOneThatDoesNot) {
  MustCreate("covered", R"({"key": {"partition": ["id"]}, "indexes": [
      {"name": "keys", "partition": ["city"], "sort": ["name"]},
      {"name": "some", "partition": ["city"], "sort": ["name"], "include": ["age", "lines[1].n", "home.street"]}]})");
  MustPut("covered", R"({"id": "1", "city": "L", "name": "Ada", "age": 40, "size": 1, "lines": [{"n": 1}, {"n": 2}],
                         "home": {"street": "s", "no": 1}})");
  MustPut("covered", R"({"id": "2", "city": "L", "name": "Bob", "age": 50, "size": 2, "lines": [{"n": 3}, {"n": 4}],
                         "home": {"street": "s", "no": 2}})");
  const auto found = [&](const char* index, const char* filter, const char* field) {
    RowQuery query = Of(R"({"city": "L"})", index);
    if (*filter != '\0') query.filter = Condition::Parse(filter).value();
    if (*field != '\0') {
      const std::vector<std::string> paths = {field};
      query.projection = Projection::Parse(paths).value();
    }
    const auto page = Ask("covered", query);
    EXPECT_TRUE(page) << page.error();
    std::string text;
    for (const FoundRow& row : page->rows) text += DocumentToJson(DocumentView(row.document));
    return text;
  };
  for (const char* filter :
       {"", R"(city = "L")", R"(name = "Bob")", "id = \"1\"", "age > 40", "size = 1", "lines[1].n = 2", "home.no = 2",
        R"(home.street = "s")", "exists(home)", "not exists(size)"}) {
    for (const char* field : {"id", "city", "name", "age", "size", "lines", "lines[1].n", "home", "home.street"}) {
      EXPECT_EQ(found("some", filter, field), found("keys", filter, field)) << filter << " " << field;
    }
  }
  EXPECT_EQ(found("some", R"(name = "Bob")", ""),
            R"({"id":"2","age":50,"city":"L","home":{"street":"s"},"name":"Bob","lines":[{"n":4}]})");
}

TEST_P(QueryTest, PagesGoOnExactlyWhateverIsWritten) {
  for (int at = 0; at < 20; at += 2) PutEvent(at);
  RowQuery query = Of(R"({"kind": "a"})", "by_kind");
  query.limit = 3;
  std::vector<std::string> all;
  int pages = 0;
  for (; pages < 20; ++pages) {
    const auto page = Ask("events", query);
    ASSERT_TRUE(page) << page.error();
    for (const FoundRow& row : page->rows) all.push_back(DocumentToJson(*DocumentView(row.document).Find("at")));
    if (!page->cursor) break;
    query.cursor = *page->cursor;
    PutEvent(pages == 0 ? 13 : 100 + pages);  // one behind the place, others before it
  }
  EXPECT_EQ(pages, 3);
  EXPECT_THAT(all, ElementsAre("18", "16", "14", "13", "12", "10", "8", "6", "4", "2", "0"));
}

TEST_P(QueryTest, ACursorFitsItsQueryAlone) {
  for (int at = 0; at < 5; ++at) PutEvent(at);
  RowQuery query = Of(R"({"case": "c"})");
  query.limit = 2;
  query.cursor = *Ask("events", query).value().cursor;
  RowQuery other = query;
  other.reverse = true;
  EXPECT_EQ(Refused(other).code(), ErrorCode::kInvalidArgument);
  other = query;
  other.filter = Condition::Parse("at > 0").value();
  EXPECT_EQ(Refused(other).code(), ErrorCode::kInvalidArgument);
  EXPECT_THAT(At(query), ElementsAre("2", "3"));
}

TEST_P(QueryTest, AFilterLooksAtNoMoreThanItMay) {
  for (int at = 0; at < 10; ++at) PutEvent(at);
  RowQuery query = Of(R"({"case": "c"})");
  query.filter = Condition::Parse("at >= 8").value();
  query.max_examined = 5;
  const auto first = Ask("events", query);
  ASSERT_TRUE(first) << first.error();
  EXPECT_TRUE(first->rows.empty());
  EXPECT_EQ(first->examined, 5u);
  ASSERT_TRUE(first->cursor);
  query.cursor = *first->cursor;
  EXPECT_THAT(At(query), ElementsAre("8", "9"));
}

TEST_P(QueryTest, AProjectionShowsSomeFieldsAlone) {
  PutEvent(1, "a", R"(, "x": {"y": 1, "z": 2})");
  RowQuery query = Of(R"({"case": "c"})");
  const std::vector<std::string> paths = {"x.y"};
  query.projection = Projection::Parse(paths).value();
  const auto page = Ask("events", query);
  ASSERT_TRUE(page) << page.error();
  EXPECT_EQ(DocumentToJson(DocumentView(page->rows[0].document)), R"({"x":{"y":1}})");
}

TEST_P(QueryTest, APageIsBoundedByBytes) {
  for (int at = 0; at < 5; ++at) PutEvent(at, "a", R"(, "x": ")" + std::string(1000, 'x') + "\"");
  RowQuery query = Of(R"({"case": "c"})");
  query.max_bytes = 2500;
  EXPECT_LE(At(query).size(), 3u);
  query.max_bytes = 1;
  EXPECT_THAT(At(query), ElementsAre("0"));
}

TEST_P(QueryTest, WhatAQueryMayNotAsk) {
  EXPECT_EQ(Refused(Of(R"({"case": 1})")).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Refused(Of(R"({})")).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Refused(Of(R"({"case": "c", "more": 1})")).code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(Refused(Of(R"({"case": "c"})", "nope")).code(), ErrorCode::kNotFound);
  RowQuery query = Of(R"({"case": "c"})");
  query.from = Bound(R"("text")");
  EXPECT_EQ(Refused(query).code(), ErrorCode::kInvalidArgument);
  query.from.reset();
  query.prefix = Document("1");
  EXPECT_EQ(Refused(query).code(), ErrorCode::kInvalidArgument);
  query.prefix.reset();
  query.sort = {Document("1"), Document(R"("a")"), Document("1")};
  EXPECT_EQ(Refused(query).code(), ErrorCode::kInvalidArgument);
}

TEST_P(QueryTest, AScanInPartsFindsEveryRowOnce) {
  constexpr int kRows = 300;
  for (int i = 0; i < kRows; ++i) {
    MustPut("events", R"({"case": ")" + std::to_string(i * 7919 % 1000) + R"(", "at": 1, "kind": "k"})");
  }
  const TablePtr table = tables().Find(At("events")).value();
  RowScan scan;
  scan.limit = 40;
  const auto parts = SplitScan(engine(), *table, scan, 4, {});
  ASSERT_TRUE(parts) << parts.error();
  std::vector<std::string> found;
  for (const std::string& part : *parts) {
    scan.cursor = part;
    while (true) {
      const auto page = ScanRows(engine(), *table, scan, {});
      ASSERT_TRUE(page) << page.error();
      for (const FoundRow& row : page->rows) found.emplace_back(DocumentView(row.document).Find("case")->Text());
      if (!page->cursor) break;
      scan.cursor = *page->cursor;
    }
  }
  EXPECT_EQ(found.size(), static_cast<size_t>(kRows));
  std::ranges::sort(found);
  EXPECT_EQ(std::ranges::adjacent_find(found), found.end());
  EXPECT_EQ(SplitScan(engine(), *table, scan, 0, {}).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(SplitScan(engine(), *table, scan, RowScan::kMaxParts + 1, {}).error().code(), ErrorCode::kInvalidArgument);
}

// A page that meets nothing but what was deleted ends, and goes on with its cursor: nothing is left out or comes twice.
TEST_P(QueryTest, ManyTombstonesEndAPageAndNotAQuery) {
  MustCreate("many", R"({"key": {"partition": ["p"], "sort": [{"name": "n", "type": "number"}]},
                         "indexes": [{"name": "by_q", "partition": ["q"]}]})");
  std::vector<RowCommand> puts;
  std::vector<RowCommand> deletes;
  for (int n = 0; n < 900; ++n) {
    puts.push_back(Putting(R"({"p": "a", "q": "x", "n": )" + std::to_string(n) + "}"));
    if (n % 300 == 7) continue;
    deletes.push_back(DeleteRow{Document(R"({"p": "a", "n": )" + std::to_string(n) + "}")});
  }
  ASSERT_TRUE(Apply("many", puts));
  ASSERT_TRUE(Apply("many", deletes));
  for (const bool by_index : {false, true}) {
    for (const bool reverse : {false, true}) {
      RowQuery query;
      query.partition = Document(by_index ? R"({"q": "x"})" : R"({"p": "a"})");
      if (by_index) query.index = "by_q";
      query.reverse = reverse;
      query.max_skipped = 50;
      std::vector<std::string> found;
      for (int pages = 0; pages < 100; ++pages) {
        const auto page = Ask("many", query);
        ASSERT_TRUE(page) << page.error();
        for (const FoundRow& row : page->rows) found.push_back(DocumentToJson(*DocumentView(row.document).Find("n")));
        if (!page->cursor) break;
        query.cursor = *page->cursor;
      }
      std::vector<std::string> expected = {"7", "307", "607"};
      if (reverse) std::ranges::reverse(expected);
      EXPECT_EQ(found, expected) << by_index << reverse;
    }
  }
  // In a transaction, which rests on all that it has stepped over, a page goes through.
  RowQuery query;
  query.partition = Document(R"({"p": "a"})");
  query.max_skipped = 50;
  size_t rows = 0;
  const auto ran = store().RunBody([&](Txn& txn) -> Status {
    KVARTS_TRY(const TablePtr table, tables().Use(txn, At("many")));
    KVARTS_CHECK_OK(RowWriter(txn, *table).Put({Document(R"({"p": "a", "n": 3, "q": "x"})")}, nullptr));
    KVARTS_TRY(const RowPage page, QueryRows(txn, *table, query, {}));
    rows = page.rows.size();
    return {};
  });
  ASSERT_TRUE(ran) << ran.error();
  EXPECT_EQ(rows, 4U);
}

}  // namespace
}  // namespace kvarts::test
