// What problems say: their members by kind, and that they lead to the way out.
#include <fmt/format.h>

#include "http/http_fixture.h"

namespace kvarts::test {
namespace {

class ProblemsTest : public HttpTest {
 protected:
  // The problem that an answer of 400 is.
  static JsonValue Refusal(const HttpAnswer& answer) {
    EXPECT_TRUE(IsProblem(answer, 400, "invalid_argument")) << answer.body;
    return JsonValue::Parse(answer.body);
  }
  static bool Says(const JsonValue& problem, std::string_view member, std::string_view text) {
    return problem[member].text().find(text) != std::string::npos;
  }
};

TEST_P(ProblemsTest, NumbersAreNumbersAndNothingIsEmpty) {
  const JsonValue body = Refusal(PutJson("/keys/problems/a", R"({"value": 1,, })"));
  EXPECT_EQ(body["position"].raw(), "12") << body.raw();
  EXPECT_FALSE(body.Has("field")) << body.raw();
  EXPECT_EQ(Refusal(Get("/keys/problems/%zz"))["position"].raw(), "9");
  const JsonValue grammar = Refusal(PutJson("/namespaces/problems-bad", R"({"grammar":"x/<a"})"));
  EXPECT_NE(grammar["position"].raw().front(), '"') << grammar.raw();

  ASSERT_EQ(PutJson("/namespaces/problems", R"({"grammar":"problems-ns/<id:int(4)>","max_value_bytes":3})").status,
            200);
  const JsonValue key = Refusal(PutRaw("/keys/problems-ns/12x4", "v"));
  EXPECT_EQ(key["position"].raw(), "14") << key.raw();
  EXPECT_EQ(key["field"].text(), "id");
  const HttpAnswer large = PutRaw("/keys/problems-ns/1234", "long");
  ASSERT_TRUE(IsProblem(large, 413, "too_large"));
  const JsonValue too_large = JsonValue::Parse(large.body);
  EXPECT_EQ(too_large["at_most"].raw(), "3");
  EXPECT_EQ(too_large["is"].raw(), "4");
  EXPECT_EQ(too_large["limit"].text(), "max_value_bytes");
  // What somebody said stays what they said.
  const JsonValue said = Refusal(PutRaw("/keys/problems/a", "x", {{"Kvarts-Durability", "5"}}));
  EXPECT_EQ(said["is"].raw(), R"("5")");
}

TEST_P(ProblemsTest, ADurabilityThatIsNotThereSaysWhichIs) {
  const HttpAnswer answer = PutRaw("/keys/problems/durable", "x", {{"Kvarts-Durability", "quorum"}});
  if (answer.status == 200) return;  // where there are replicas
  EXPECT_EQ(Refusal(answer)["strongest"].text(), "sync");
}

TEST_P(ProblemsTest, AVersionIsATextOrNull) {
  const HttpAnswer absent = PutRaw("/keys/problems/none", "x", {{"If-Match", "\"7\""}});
  ASSERT_TRUE(IsProblem(absent, 412, "precondition_failed"));
  EXPECT_TRUE(JsonValue::Parse(absent.body).Has("version"));
  EXPECT_TRUE(JsonValue::Parse(absent.body)["version"].is_null()) << absent.body;
  const std::string version = JsonValue::Parse(PutRaw("/keys/problems/there", "x").body)["version"].raw();
  const HttpAnswer other = PutRaw("/keys/problems/there", "y", {{"If-Match", "\"7\""}});
  EXPECT_EQ(JsonValue::Parse(other.body)["version"].raw(), version) << other.body;
  const HttpAnswer range = Post("/commit", R"({"preconditions":[{"prefix":"problems/","unchanged_since":"7"}]})");
  ASSERT_TRUE(IsProblem(range, 412, "precondition_failed"));
  EXPECT_NE(JsonValue::Parse(range.body)["version"].text(), "changed") << range.body;
}

TEST_P(ProblemsTest, WhatIsWrongWithATtlIsSaid) {
  EXPECT_TRUE(Says(Refusal(PutJson("/keys/problems/ttl?ttl=4", R"({"value":1})")), "detail", "stands in the body"));
  EXPECT_TRUE(Says(Refusal(PutJson("/keys/problems/ttl", R"({"value":1,"ttl":1e18})")), "detail", "too large"));
  EXPECT_TRUE(Says(Refusal(PutRaw("/keys/problems/ttl?ttl=1e18", "x")), "detail", "too large"));
  EXPECT_TRUE(Says(Refusal(PutJson("/keys/problems/ttl", R"({"value":1,"ttl":0})")), "detail", "above zero"));
  EXPECT_TRUE(Says(Refusal(PutRaw("/keys/problems/ttl?ttl=-1", "x")), "detail", "above zero"));
  EXPECT_TRUE(Says(Refusal(PutRaw("/keys/problems/ttl?ttl=soon", "x")), "detail", "number of seconds"));
  EXPECT_EQ(Get("/keys/problems/ttl").status, 404);
}

TEST_P(ProblemsTest, WhatIsMissingIsNamed) {
  EXPECT_EQ(Refusal(PutJson("/keys/problems/value", R"({"ttl":3})"))["field"].text(), "value");
  EXPECT_EQ(Refusal(Post("/keys/get", "{}"))["field"].text(), "keys");
  EXPECT_EQ(Post("/keys/get", R"({"keys":[]})").status, 200);
  for (const char* body : {"hello", "\"hello\"", "[1]", "7"}) {
    const JsonValue form =
        Refusal(Call("PUT", "/keys/problems/form", {{"Content-Type", "application/x-www-form-urlencoded"}}, body));
    EXPECT_TRUE(Says(form, "advice", "Content-Type")) << form.raw();
  }
  EXPECT_TRUE(Says(Refusal(Post("/compact", "{}")), "detail", "all"));
  EXPECT_EQ(Refusal(Post("/compact", R"({"all":true,"prefix":"a"})"))["status"].raw(), "400");
  EXPECT_EQ(Post("/compact", R"({"prefix":"problems/"})").status, 200);
  EXPECT_EQ(Post("/compact", R"({"all":true})").status, 200);
}

TEST_P(ProblemsTest, NamespacesSayWhatDiffersAndHowTheyGo) {
  const std::string grammar = R"({"grammar":"problems-cases/<id>","feed":true})";
  ASSERT_EQ(PutJson("/namespaces/problems-cases", grammar).status, 200);
  const JsonValue feed = Refusal(PutJson("/namespaces/problems-cases", R"({"grammar":"problems-cases/<id>"})"));
  EXPECT_EQ(feed["field"].text(), "feed");
  ASSERT_EQ(PutRaw("/keys/problems-cases/1", "x").status, 200);
  const HttpAnswer other = PutJson("/namespaces/problems-cases", R"({"grammar":"problems-cases/<id>/<part>"})");
  ASSERT_TRUE(IsProblem(other, 412, "precondition_failed"));
  EXPECT_EQ(JsonValue::Parse(other.body)["field"].text(), "grammar") << other.body;
  const HttpAnswer full = Call("DELETE", "/namespaces/problems-cases");
  ASSERT_TRUE(IsProblem(full, 412, "precondition_failed"));
  EXPECT_TRUE(Says(JsonValue::Parse(full.body), "advice", "?erase=true")) << full.body;
}

TEST_P(ProblemsTest, TheRootSaysWhereToLook) {
  const HttpAnswer root = Get("/");
  ASSERT_EQ(root.status, 200);
  const JsonValue about = JsonValue::Parse(root.body);
  EXPECT_EQ(about["name"].text(), "kvarts");
  EXPECT_FALSE(about["version"].text().empty());
  EXPECT_EQ(Get(about["openapi"].text()).status, 200);
}

TEST_P(ProblemsTest, WritesThatAreRefusedAreNotHot) {
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(PutRaw("/keys/problems-hot/refused", "x", {{"If-Match", "\"7\""}}).status, 412);
    ASSERT_EQ(PutRaw("/keys/problems-hot/written", "x").status, 200);
    ASSERT_EQ(Post("/commit", R"({"mutations":[{"op":"add","key":"problems-hot/added"}]})").status, 200);
  }
  const std::string hot = Get("/hotkeys?by=writes&limit=500").body;
  EXPECT_NE(hot.find("problems-hot/written"), std::string::npos) << hot;
  EXPECT_NE(hot.find("problems-hot/added"), std::string::npos) << hot;
  EXPECT_EQ(hot.find("problems-hot/refused"), std::string::npos) << hot;
}

KVARTS_ON_EVERY_ENGINE(ProblemsTest);

}  // namespace
}  // namespace kvarts::test
