// POST /commit: preconditions and mutations, all or nothing.
#include <fmt/format.h>

#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

class CommitTest : public HttpTest {
 protected:
  HttpAnswer Commit(std::string_view preconditions, std::string_view mutations) {
    return Post("/commit", fmt::format(R"({{"preconditions":[{}],"mutations":[{}]}})", preconditions, mutations));
  }
  std::string Version(std::string_view target) { return JsonValue::Parse(Get(target).body)["version"].text(); }
  static std::string Put(std::string_view key, std::string_view value = "1") {
    return fmt::format(R"({{"op":"put","key":"{}","value":{}}})", key, value);
  }
};

TEST_P(CommitTest, EveryOperationInOneCommitHasOneVersion) {
  Commit("", Put("commit/all/gone") + "," + Put("commit/all/range/1") + "," + Put("commit/all/range/2") + "," +
                 Put("commit/all/touched") + "," + Put("commit/all/text", R"("a")"));
  Post("/commit", R"({"mutations":[{"op":"delete_range","prefix":"commit/all/new"}]})");
  const HttpAnswer answer = Commit("", R"({"op":"put","key":"commit/all/new/put","value":{"a":1},"ttl":100},
      {"op":"delete","key":"commit/all/gone"}, {"op":"delete","key":"commit/all/never","missing_ok":true},
      {"op":"touch","key":"commit/all/touched","ttl":50}, {"op":"increment","key":"commit/all/new/n","by":4},
      {"op":"append","key":"commit/all/text","value":"b"}, {"op":"add","key":"commit/all/new/counter","by":3},
      {"op":"delete_range","start":"commit/all/range/","end":"commit/all/range/2"},
      {"op":"put","key_base64":"Y29tbWl0L2FsbC9uZXcv/w==","value_base64":"AP8="})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const JsonValue done = JsonValue::Parse(answer.body);
  ASSERT_EQ(done["results"].size(), 9U);
  EXPECT_FALSE(done["results"].at(0)["expiry"].is_null());
  EXPECT_EQ(done["results"].at(4)["value"].raw(), "4");
  EXPECT_EQ(done["results"].at(5)["value"].text(), "ab");
  for (const char* key : {"new/put", "touched", "new/n", "text", "new/counter", "new/%FF"}) {
    EXPECT_EQ(Version(std::string("/keys/commit/all/") + key), done["version"].text()) << key;
  }
  EXPECT_EQ(Get("/keys/commit/all/gone").status, 404);
  EXPECT_EQ(Get("/keys/commit/all/range/1").status, 404);
  EXPECT_EQ(Get("/keys/commit/all/range/2").status, 200);
  EXPECT_EQ(Get("/keys/commit/all/new/%FF", {{"Accept", "application/octet-stream"}}).body, std::string("\0\xff", 2));
}

TEST_P(CommitTest, KeysOfRedisAreChangedWithTheOthers) {
  const auto redis = [](std::string_view command, std::string_view more = "") {
    return fmt::format(R"({{"op":"redis","command":[{}]{}}})", command, more);
  };
  Commit("", redis(R"("DEL","commit/r","commit/h","commit/s")"));
  const HttpAnswer answer = Commit("", Put("commit/redis/key") + "," + redis(R"("INCR","commit/r")") + "," +
                                           redis(R"("HSET","commit/h","f",7,"b",{"base64":"AP8="})") + "," +
                                           redis(R"("hmget","commit/h","f","b","none")") + "," +
                                           redis(R"("SET","commit/s","in another")", R"(,"database":3)") + "," +
                                           redis(R"("EXISTS","commit/s")", R"(,"expect":0)"));
  ASSERT_EQ(answer.status, 200) << answer.body;
  const JsonValue done = JsonValue::Parse(answer.body);
  EXPECT_EQ(done["results"].at(1)["result"].raw(), "1");
  EXPECT_EQ(done["results"].at(2)["result"].raw(), "2");
  EXPECT_EQ(done["results"].at(3)["result"].raw(), R"(["7",{"base64":"AP8="},null])");
  EXPECT_EQ(done["results"].at(4)["result"].text(), "OK");
  EXPECT_EQ(done["results"].at(5)["result"].raw(), "0");

  // All or nothing, whichever of them is refused.
  for (const std::string& refused : {redis(R"("INCR","commit/h")"), redis(R"("GET","commit/r")", R"(,"expect":"5")"),
                                     std::string(R"({"op":"delete","key":"commit/redis/none"})")}) {
    const HttpAnswer no = Commit("", redis(R"("INCR","commit/r")") + "," + Put("commit/redis/not") + "," + refused);
    EXPECT_GE(no.status, 400) << no.body;
    EXPECT_EQ(Get("/keys/commit/redis/not").status, 404);
  }
  EXPECT_EQ(Commit("", redis(R"("GET","commit/r")", R"(,"expect":"1")")).status, 200);

  for (const std::string& wrong :
       {redis(R"("NOSUCH","x")"), redis(R"("PING")"), redis(R"("GET")"), redis(R"("KEYS","*")"), redis(""),
        redis(R"("GET","x")", R"(,"database":16)"), redis(R"("GET","x")", R"(,"key":"x")"),
        std::string(R"({"op":"put","key":"a","value":1,"command":["GET","x"]})")}) {
    EXPECT_EQ(Commit("", wrong).status, 400) << wrong;
  }
}

TEST_P(CommitTest, PreconditionsOfEveryKind) {
  Commit("", Put("commit/pre/a") + R"(,{"op":"delete","key":"commit/pre/none","missing_ok":true})");
  const std::string version = Version("/keys/commit/pre/a");
  struct Case {
    std::string precondition;
    bool holds;
  };
  for (const Case& one :
       {Case{R"({"key":"commit/pre/a","present":true})", true}, Case{R"({"key":"commit/pre/a","absent":true})", false},
        Case{R"({"key":"commit/pre/none","absent":true})", true},
        Case{R"({"key":"commit/pre/none","present":true})", false},
        Case{R"({"key":"commit/pre/a","version":")" + version + R"("})", true},
        Case{R"({"key":"commit/pre/a","version":"1"})", false},
        Case{R"({"key":"commit/pre/none","version":"1"})", false},
        Case{R"({"prefix":"commit/pre/a","unchanged_since":")" + version + R"("})", true},
        Case{R"({"prefix":"commit/pre/a","unchanged_since":"1"})", false}}) {
    const HttpAnswer answer = Commit(one.precondition, Put("commit/pre/outcome"));
    EXPECT_EQ(answer.status, one.holds ? 200 : 412) << one.precondition << answer.body;
    if (answer.status != 412) continue;
    EXPECT_TRUE(IsProblem(answer, 412, "precondition_failed"));
    if (one.precondition.find("\"key\":\"commit/pre/a\"") == std::string::npos) continue;
    EXPECT_EQ(JsonValue::Parse(answer.body)["version"].text(), version) << one.precondition;
    EXPECT_EQ(JsonValue::Parse(answer.body)["key"].text(), "commit/pre/a") << one.precondition;
  }
}

TEST_P(CommitTest, RangeUnchangedSeesPutsDeletesAndNewKeys) {
  Commit("", Put("commit/range/a") + "," + Put("commit/range/b") + "," + Put("commit/outside"));
  const auto unchanged_since = [](const std::string& version) {
    return R"({"start":"commit/range/","end":"commit/range0","unchanged_since":")" + version + R"("})";
  };
  std::string version = JsonValue::Parse(Commit("", Put("commit/outside")).body)["version"].text();
  // What is written elsewhere does not count.
  Commit("", Put("commit/outside"));
  EXPECT_EQ(Commit(unchanged_since(version), Put("commit/witness")).status, 200);
  for (const char* mutation :
       {R"({"op":"put","key":"commit/range/c","value":1})", R"({"op":"put","key":"commit/range/a","value":1})",
        R"({"op":"delete","key":"commit/range/b"})", R"({"op":"add","key":"commit/range/n"})",
        R"({"op":"delete_range","prefix":"commit/range/"})"}) {
    const HttpAnswer changed = Commit("", mutation);
    ASSERT_EQ(changed.status, 200) << changed.body;
    EXPECT_TRUE(
        IsProblem(Commit(unchanged_since(version), Put("commit/witness", "\"bad\"")), 412, "precondition_failed"))
        << mutation;
    version = JsonValue::Parse(changed.body)["version"].text();
    EXPECT_EQ(Commit(unchanged_since(version), Put("commit/witness")).status, 200) << mutation;
  }
  EXPECT_EQ(RawValueOf("/keys/commit/witness"), "1");
}

TEST_P(CommitTest, AnAddToNoCounterLeavesItAsItIsAndMarksIt) {
  const std::string add = R"({"op":"add","key":"commit/marks/a","by":2})";
  Commit("", Put("commit/marks/a", R"("text")"));
  EXPECT_FALSE(JsonValue::Parse(Get("/keys/commit/marks/a").body).Has("marks"));
  ASSERT_EQ(Commit("", add).status, 200);
  const JsonValue marked = JsonValue::Parse(Get("/keys/commit/marks/a").body);
  EXPECT_EQ(marked["value"].text(), "text");
  EXPECT_EQ(marked["marks"].raw(), R"(["misapplied"])");
  for (const char* page : {"/keys?prefix=commit/marks/", "/keys?prefix=commit/marks/&values=false"}) {
    EXPECT_EQ(JsonValue::Parse(Get(page).body)["items"].at(0)["marks"].raw(), R"(["misapplied"])") << page;
  }
  Commit("", Put("commit/marks/a", R"("anew")"));
  EXPECT_FALSE(JsonValue::Parse(Get("/keys/commit/marks/a").body).Has("marks"));
}

TEST_P(CommitTest, ACommitDoesNotAddToWhatItMakesNoCounter) {
  const std::string add = R"({"op":"add","key":"commit/own/a","by":2})";
  const std::string counter = R"({"op":"put","key":"commit/own/a","value":1,"counter":true})";
  const std::string text = Put("commit/own/a", R"("x")");
  EXPECT_TRUE(IsProblem(Commit("", text + "," + add), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Commit("", counter + "," + text + "," + add), 400, "invalid_argument"));
  EXPECT_TRUE(
      IsProblem(Commit("", R"({"op":"append","key":"commit/own/a","value":"x"},)" + add), 400, "invalid_argument"));
  EXPECT_EQ(Get("/keys/commit/own/a").status, 404);
  EXPECT_EQ(Commit("", text + "," + counter + "," + add).status, 200);
  EXPECT_EQ(RawValueOf("/keys/commit/own/a"), "3");
  EXPECT_EQ(Commit("", text + R"(,{"op":"delete_range","prefix":"commit/own/"},)" + add).status, 200);
  EXPECT_EQ(RawValueOf("/keys/commit/own/a"), "2");
  EXPECT_EQ(Commit("", Put("commit/own/b", R"("x")") + "," + add).status, 200);
  EXPECT_EQ(RawValueOf("/keys/commit/own/a"), "4");
}

TEST_P(CommitTest, NothingIsDoneWhenAnythingFails) {
  Commit("", Put("commit/nothing/text", R"("x")") + R"(,{"op":"delete","key":"commit/nothing/a","missing_ok":true})");
  const std::string a = Put("commit/nothing/a");
  for (const char* failing :
       {R"({"op":"delete","key":"commit/nothing/none"})", R"({"op":"touch","key":"commit/nothing/none","ttl":1})",
        R"({"op":"increment","key":"commit/nothing/text"})",
        R"({"op":"put","key":"commit/nothing/text","value":1,"absent":true})",
        R"({"op":"put","key":"commit/nothing/b","value":1,"version":"1"})"}) {
    EXPECT_EQ(Commit("", a + "," + failing).status / 100, 4) << failing;
    EXPECT_EQ(Commit("", std::string(failing) + "," + a).status / 100, 4) << failing;
  }
  EXPECT_EQ(Commit(R"({"key":"commit/nothing/text","absent":true})", a).status, 412);
  EXPECT_EQ(Get("/keys/commit/nothing/a").status, 404);
  EXPECT_EQ(Get("/keys/commit/nothing/b").status, 404);
  EXPECT_EQ(RawValueOf("/keys/commit/nothing/text"), R"("x")");
}

TEST_P(CommitTest, LaterMutationsSeeEarlierOnes) {
  const HttpAnswer answer =
      Commit("", R"({"op":"put","key":"commit/later","value":"1"},{"op":"append","key":"commit/later","value":"0"},
      {"op":"increment","key":"commit/later","by":5})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(RawValueOf("/keys/commit/later"), R"("15")");
  ASSERT_EQ(Commit("", R"({"op":"put","key":"commit/later","value":1},{"op":"delete","key":"commit/later"})").status,
            200);
  EXPECT_EQ(Get("/keys/commit/later").status, 404);
}

TEST_P(CommitTest, ConditionsAreOfTheStateBeforeTheCommitWhereverTheyStand) {
  const std::string here = R"("key":"commit/before/here")";
  const std::string gone = R"("key":"commit/before/gone")";
  // Every operation with a condition, behind a write of the same commit that would turn the condition around.
  for (const char* op : {R"("op":"put","value":1)", R"("op":"delete")", R"("op":"touch","ttl":60)",
                         R"("op":"increment","by":1)", R"("op":"append","value":"1")"}) {
    const auto operation = [op](const std::string& key, const std::string& condition) {
      return "{" + std::string(op) + "," + key + "," + condition + "}";
    };
    const auto reset = [&] {
      Commit("", Put("commit/before/here", R"("1")") + R"(,{"op":"delete","missing_ok":true,)" + gone + "}");
      return Version("/keys/commit/before/here");
    };
    const std::string version = reset();
    const std::string rewrite = Put("commit/before/here", R"("2")") + ",";
    const std::string create = Put("commit/before/gone", R"("2")") + ",";
    EXPECT_EQ(Commit("", create + operation(gone, R"("absent":true)")).status, 200) << op;
    reset();
    const HttpAnswer refused = Commit("", create + operation(gone, R"("present":true)"));
    EXPECT_TRUE(IsProblem(refused, 412, "precondition_failed")) << op;
    EXPECT_NE(refused.body.find(R"("version":null)"), std::string::npos) << op << refused.body;
    EXPECT_EQ(Commit("", rewrite + operation(here, R"("version":"1")")).status, 412) << op;
    const std::string now = reset();
    EXPECT_EQ(Commit("", rewrite + operation(here, R"("version":")" + version + R"(")")).status, 412) << op;
    EXPECT_EQ(Commit("", rewrite + operation(here, R"("version":")" + now + R"(")")).status, 200) << op;
  }
  // The condition holds, but the operation finds what the commit left of it.
  Commit("", Put("commit/before/here"));
  const HttpAnswer nothing =
      Commit("", "{\"op\":\"delete\"," + here + "},{\"op\":\"touch\",\"ttl\":9,\"present\":true," + here + "}");
  EXPECT_TRUE(IsProblem(nothing, 404, "not_found"));
}

TEST_P(CommitTest, PreconditionsAloneAreACommit) {
  Commit("", Put("commit/alone"));
  EXPECT_EQ(Post("/commit", R"({"preconditions":[{"key":"commit/alone","present":true}]})").status, 200);
  EXPECT_EQ(Post("/commit", R"({"preconditions":[{"key":"commit/alone","absent":true}]})").status, 412);
}

TEST_P(CommitTest, MalformedBodiesAreRefusedAndSayWhere) {
  for (const char* body : {"",
                           "[]",
                           "{}",
                           R"({"mutations":[]})",
                           R"({"mutations":{}})",
                           R"({"mutations":[1]})",
                           R"({"mutations":[{}]})",
                           R"({"mutations":[{"op":"drop","key":"a"}]})",
                           R"({"mutations":[{"op":"put","key":"a"}]})",
                           R"({"mutations":[{"op":"put","value":1}]})",
                           R"({"mutations":[{"op":"put","key":"","value":1}]})",
                           R"({"mutations":[{"op":"put","key":"a","value":1,"absent":false}]})",
                           R"({"mutations":[{"op":"put","key":"a","value":1,"absent":true,"present":true}]})",
                           R"({"mutations":[{"op":"put","key":"a","value":1,"version":1}]})",
                           R"({"mutations":[{"op":"put","key":"a","value":"1","counter":true}]})",
                           R"({"mutations":[{"op":"put","key":"a","value":1.5,"counter":true}]})",
                           R"({"mutations":[{"op":"put","key":"a","value":9223372036854775808,"counter":true}]})",
                           R"({"mutations":[{"op":"put","key":"a","value":1,"type":"image/png"}]})",
                           R"({"mutations":[{"op":"put","key":"a","value":"x","type":"png"}]})",
                           R"({"mutations":[{"op":"put","key":"a","value":1,"counter":true,"type":"a/b"}]})",
                           R"({"mutations":[{"op":"delete","key":"a","type":"a/b"}]})",
                           R"({"mutations":[{"op":"append","key":"a","value":"x","type":"a/b"}]})",
                           R"({"mutations":[{"op":"delete_range","start":"a","start_base64":"YQ==","end":"b"}]})",
                           R"({"mutations":[{"op":"delete_range","prefix_base64":"?"}]})",
                           R"({"mutations":[{"op":"touch","key":"a"}]})",
                           R"({"mutations":[{"op":"append","key":"a","value":1}]})",
                           R"({"mutations":[{"op":"delete_range"}]})",
                           R"({"mutations":[{"op":"delete_range","prefix":""}]})",
                           R"({"mutations":[{"op":"delete_range","start":"b","end":"a"}]})",
                           R"({"mutations":[{"op":"delete_range","start":"b"}]})",
                           R"({"mutations":[{"op":"delete_range","start":"","end":"a","prefix":"a"}]})",
                           R"({"preconditions":[{"key":"a"}]})",
                           R"({"preconditions":[{"absent":true}]})",
                           R"({"preconditions":[{"key":"a","prefix":"a","unchanged_since":"1"}]})",
                           R"({"preconditions":[{"unchanged_since":"1"}]})",
                           R"({"mutations":[{"op":"put","key":"a","value":1}],"extra":1})"}) {
    EXPECT_TRUE(IsProblem(Post("/commit", body), 400, "invalid_argument")) << body;
  }
  const JsonValue problem = JsonValue::Parse(
      Post("/commit", R"({"mutations":[{"op":"put","key":"a","value":1},{"op":"put","key":"a","value":1,"ttl":-1}]})")
          .body);
  EXPECT_EQ(problem["field"].text(), "mutations[1].ttl");
  EXPECT_TRUE(IsProblem(Call("POST", "/commit", {{"Content-Type", "text/csv"}}, "{}"), 400, "invalid_argument"));
}

KVARTS_ON_EVERY_ENGINE(CommitTest);

}  // namespace
}  // namespace kvarts::test
