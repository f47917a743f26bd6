// What problems about tables and rows say: which text in the body is wrong, where in it, and which limit it exceeds.
#include <fmt/format.h>

#include "http/tables_fixture.h"

namespace kvarts::test {
namespace {

class TableProblemsTest : public TablesHttpTest {
 protected:
  static JsonValue Problem(const HttpAnswer& answer, int status, std::string_view type) {
    EXPECT_TRUE(IsProblem(answer, status, type)) << answer.body;
    return JsonValue::Parse(answer.body);
  }
  static JsonValue Refusal(const HttpAnswer& answer) { return Problem(answer, 400, "invalid_argument"); }
  // "limit at_most field", of what is too large.
  static std::string Limit(const HttpAnswer& answer) {
    const JsonValue problem = Problem(answer, 413, "too_large");
    return fmt::format("{} {} {}", problem["limit"].text(), problem["at_most"].raw(), problem["field"].text());
  }
  // "field path:position", of a path or condition in a body.
  static std::string Place(const HttpAnswer& answer, std::string_view what) {
    const JsonValue problem = Refusal(answer);
    return fmt::format("{} {}:{}", problem["field"].text(), problem[what].text(), problem["position"].raw());
  }
  // So many texts with a comma between.
  static std::string Many(size_t count, const std::function<std::string(size_t)>& text) {
    std::string all;
    for (size_t i = 0; i < count; ++i) all += (i == 0 ? "" : ",") + text(i);
    return all;
  }
  static std::string Name(size_t i) { return fmt::format("\"a{}\"", i); }
  static std::string Filter(const std::string& condition) {
    return fmt::format(R"({{"partition":{{"id":"1"}},"filter":"{}"}})", condition);
  }
  static std::string Operators(size_t count) {
    std::string condition = "a=1";
    for (size_t i = 1; i < count; i += 2) condition += " or a=1";
    return condition;
  }
};

TEST_P(TableProblemsTest, AChangeOfWhatStaysSaysSo) {
  const std::string table = MustDeclare("users", kById);
  const auto refusal = [&](const std::string& body) {
    const JsonValue problem = Refusal(Call("PATCH", table, {{"Content-Type", "application/json"}}, body));
    return problem["field"].text() + ": " + problem["detail"].text();
  };
  EXPECT_EQ(refusal(R"({"key":{"partition":["other"]}})"), "key: the key of a table cannot be changed");
  EXPECT_EQ(refusal(R"({"name":"people","profile":"window"})"), "profile: the profile of a table cannot be changed");
  EXPECT_EQ(refusal(R"({"indexes":[]})"),
            "indexes: the indexes of a table that is there are made and dropped one by one");
  EXPECT_EQ(refusal(R"({"keys":1})"), "keys: there is no such field");
  EXPECT_EQ(Get(table).status, 200) << "not renamed";
}

TEST_P(TableProblemsTest, ASchemaThatIsNoneSaysWhichKeyword) {
  const std::string table = MustDeclare("users", kById);
  const auto refusal = [&](const std::string& schema) {
    const JsonValue problem = Refusal(
        Call("PATCH", table, {{"Content-Type", "application/json"}}, fmt::format(R"({{"schema":{}}})", schema)));
    EXPECT_FALSE(problem.Has("position")) << "in what only the body has: " << problem.raw();
    return fmt::format("{} {} {}", problem["field"].text(), problem["keyword"].text(), problem["schema_path"].text());
  };
  EXPECT_EQ(refusal(R"({"properties":{"a":{"minimun":1}}})"), "schema minimun /properties/a/minimun");
  EXPECT_EQ(refusal(R"({"type":"text"})"), "schema type /type");
  EXPECT_EQ(refusal(R"({"pattern":"("})"), "schema pattern /pattern");
  EXPECT_EQ(refusal(R"({"required":[1]})"), "schema required /required");
  EXPECT_EQ(refusal(R"({"items":{"$ref":"http://example.com/a"}})"), "schema $ref /items/$ref");
  const std::string large = fmt::format(R"({{"schema":{{"title":"{}"}}}})", std::string(70'000, 'x'));
  EXPECT_EQ(Limit(Call("PATCH", table, {{"Content-Type", "application/json"}}, large)),
            "max_schema_bytes 65536 schema");
  const JsonValue declared =
      Refusal(PutJson(TableAt("orders"), R"({"key":{"partition":["id"]},"schema":{"minLenght":1}})"));
  EXPECT_EQ(declared["schema_path"].text(), "/minLenght");
  EXPECT_EQ(declared["did_you_mean"].text(), "minLength");
}

TEST_P(TableProblemsTest, LimitsInBodiesHaveTheirNames) {
  const std::string table = MustDeclare("users", kById);
  EXPECT_EQ(Limit(Post(table + "/query", Filter(Operators(401)))), "max_condition_operators 300 filter");
  EXPECT_EQ(Limit(Post(table + "/query", Filter(std::string(40, '(') + "a=1" + std::string(40, ')')))),
            "max_condition_depth 32 filter");
  EXPECT_EQ(Limit(Post(table + "/query", Filter("a in (" + Many(101, [](size_t) { return "1"; }) + ")"))),
            "max_condition_in 100 filter");
  EXPECT_EQ(Limit(Post("/rows/batch",
                       fmt::format(R"({{"commands":[{{"op":"delete","table":{},"key":{{"id":"1"}},"where":"{}"}}]}})",
                                   Named("users"), Operators(401)))),
            "max_condition_operators 300 commands[0].where");
  const std::string fields = Many(101, Name);
  EXPECT_EQ(Limit(Post(table + "/query", R"({"partition":{"id":"1"},"fields":[)" + fields + "]}")),
            "max_projection_paths 100 fields[100]");
  EXPECT_EQ(Limit(Post(table + "/rows/get", R"({"keys":[{"id":"1"}],"fields":[)" + fields + "]}")),
            "max_projection_paths 100 fields[100]");
  EXPECT_EQ(Limit(Call("PATCH", table + "/rows/1", {{"Content-Type", "application/json"}},
                       R"({"update":{"remove":[)" + Many(301, Name) + "]}}")),
            "max_updates 300 update.remove[300]");
  EXPECT_EQ(
      Limit(Post(table + "/rows/get", R"({"keys":[)" + Many(10'001, [](size_t) { return R"({"id":"1"})"; }) + "]}")),
      "max_batch_keys 10000 keys[10000]");
  EXPECT_EQ(
      Limit(PutJson(table + "/rows/1", R"({"a":)" + std::string(64, '[') + std::string(64, ']') + "}")),
      "max_document_depth 64 a" + [] {
        std::string way;
        for (int i = 0; i < 63; ++i) way += "[0]";
        return way;
      }());
  const JsonValue in_path = Problem(
      Get(table + "/rows?fields=" + Many(101, [](size_t i) { return fmt::format("a{}", i); })), 413, "too_large");
  EXPECT_EQ(in_path["limit"].text() + in_path["parameter"].text(), "max_projection_pathsfields");
}

TEST_P(TableProblemsTest, WhereInAConditionOrPathIsSaid) {
  const std::string table = MustDeclare("users", kById);
  const JsonValue filter = Refusal(Post(table + "/query", Filter("z >")));
  EXPECT_EQ(filter["detail"].text(), "a path, a literal or size() was expected");
  EXPECT_EQ(Place(Post(table + "/query", Filter("z >")), "condition"), "filter z >:3");
  EXPECT_EQ(Place(Post(table + "/split", R"({"parts":2,"filter":"a = b c"})"), "condition"), "filter a = b c:6");
  EXPECT_EQ(Place(Post(table + "/query", R"({"partition":{"id":"1"},"fields":["a","b..c"]})"), "path"),
            "fields[1] b..c:2");
  EXPECT_EQ(Place(PutJson(table + "/indexes/by_a", R"({"partition":["a"],"where":"exists(a"})"), "condition"),
            "where exists(a:8");
  EXPECT_EQ(Place(PutJson(table + "/indexes/by_a", R"({"partition":["a", "b["]})"), "path"), "partition[1] b[:2");
  EXPECT_EQ(Place(PutJson(table + "/indexes/by_a", R"({"partition":["a"],"include":["c d"]})"), "path"),
            "include[0] c d:1");
  const JsonValue overlap = Refusal(Call("PATCH", table + "/rows/1", {{"Content-Type", "application/json"}},
                                         R"({"update":{"set":{"a":1},"remove":["a.b"]}})"));
  EXPECT_EQ(overlap["field"].text() + " " + overlap["path"].text() + " " + overlap["other"].text(), "update a a.b");
  const JsonValue pattern =
      Refusal(PutJson(TableAt("orders"), R"({"key":{"partition":[{"name":"id","pattern":"("}]}})"));
  EXPECT_EQ(pattern["field"].text(), "key.partition[0].pattern");
  EXPECT_FALSE(pattern["why"].text().empty()) << pattern.raw();
  // Of a parameter it is the same, with its name.
  const JsonValue parameter = Refusal(Get(table + "/rows?filter=z%20%3E"));
  EXPECT_EQ(parameter["parameter"].text() + parameter["position"].raw(), "filter3") << parameter.raw();
}

TEST_P(TableProblemsTest, OneOfManySaysWhichItIs) {
  const std::string events = MustDeclare("events", kEvents);
  const auto put = [](const std::string& op, const std::string& table, const std::string& row) {
    return fmt::format(R"({{"op":"{}","table":{},"row":{}}})", op, Named(table), row);
  };
  const std::string good = R"({"tenant":"a","n":1})";
  const std::string bad = R"({"tenant":"a","n":"bad"})";
  const auto batch = [&](const std::string& commands) {
    return Post("/rows/batch", fmt::format(R"({{"commands":[{}]}})", commands));
  };
  const JsonValue row = Refusal(batch(put("put", "events", good) + "," + put("put", "events", bad)));
  EXPECT_EQ(row["at"].text() + " " + row["field"].text(), "commands[1] n");
  EXPECT_FALSE(Refusal(batch(put("put", "events", bad))).Has("at")) << "there is only one";
  const JsonValue table = Problem(batch(put("put", "events", good) + "," + put("put", "none", good)), 404, "not_found");
  EXPECT_EQ(table["at"].text(), "commands[1]");

  const std::string key = "table-problems/" + DatasetName();
  const auto commit = [&](const std::string& more, int status, std::string_view type) {
    const HttpAnswer answer =
        Post("/commit", fmt::format(R"({{"preconditions":[{{"key":"{0}/a","absent":true}}{1})", key, more));
    return Problem(answer, status, type)["at"].text();
  };
  const std::string set = fmt::format(R"({{"op":"put","key":"{}/b","value":"x"}})", key);
  const std::string add_to_text = fmt::format(R"({{"op":"increment","key":"{}/b"}})", key);
  EXPECT_EQ(commit(R"(],"mutations":[)" + set + "," + put("put_row", "events", bad) + "]}", 400, "invalid_argument"),
            "mutations[1]");
  EXPECT_EQ(commit(R"(],"mutations":[)" + put("put_row", "events", good) + "," + set + "," + add_to_text + "]}", 400,
                   "invalid_argument"),
            "mutations[2]");
  const std::string of_what_is_not_there =
      fmt::format(R"({{"op":"patch_row","table":{},"key":{},"patch":{{}}}})", Named("events"), good);
  EXPECT_EQ(commit(R"(],"mutations":[)" + set + "," + of_what_is_not_there + "]}", 404, "not_found"), "mutations[1]");

  const JsonValue keys = Refusal(Post(events + "/rows/get", fmt::format(R"({{"keys":[{},{}]}})", good, bad)));
  EXPECT_EQ(keys["at"].text() + " " + keys["field"].text(), "keys[1] n");
  const JsonValue long_key =
      Problem(Post("/keys/get", fmt::format(R"({{"keys":["a","{}"]}})", std::string(200'000, 'k'))), 413, "too_large");
  EXPECT_EQ(long_key["at"].text(), "keys[1]");
}

TEST_P(TableProblemsTest, CountsAreNumbersAndTheWholeRowHasAPath) {
  const std::string events = MustDeclare("events", kEvents);
  EXPECT_EQ(Refusal(Get(events + "/rows/a"))["fields"].raw(), "1");
  const JsonValue sort = Refusal(Post(events + "/query", R"({"partition":{"tenant":"a"},"sort":[1,2,3]})"));
  EXPECT_EQ(sort["fields"].raw(), "1") << sort.raw();
  const JsonValue limit = Refusal(Post(events + "/query", R"({"partition":{"tenant":"a"},"limit":100001})"));
  EXPECT_FALSE(limit["at_most"].raw().empty()) << limit.raw();
  EXPECT_EQ(limit["field"].text(), "limit");
  const std::string users = MustDeclare("users", R"({"key":{"partition":["id"]},"schema":{"required":["mail"]}})");
  const JsonValue row = Refusal(PutJson(users + "/rows/1", "{}"));
  EXPECT_EQ(row["keyword"].text(), "required");
  ASSERT_TRUE(row.Has("path")) << row.raw();
  EXPECT_EQ(row["path"].raw(), R"("")");
}

KVARTS_ON_EVERY_ENGINE(TableProblemsTest);

}  // namespace
}  // namespace kvarts::test
