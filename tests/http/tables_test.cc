// The catalog over HTTP: projects, datasets, tables and indexes, made, looked at, changed and dropped.
#include <thread>

#include "http/tables_fixture.h"

namespace kvarts::test {
namespace {

class TablesTest : public TablesHttpTest {
 protected:
  std::string StateOfJob(const std::string& job) { return GetJson("/jobs/" + job)["state"].text(); }
  bool Ends(const std::string& job) {
    return Await([&] { return StateOfJob(job) == "done"; });
  }
};

TEST_P(TablesTest, AProjectIsMadeOnceAndFoundAgain) {
  const HttpAnswer made = Call("PUT", "/projects/once", {}, "{}");
  ASSERT_EQ(made.status, 201) << made.body;
  const JsonValue json = JsonValue::Parse(made.body);
  EXPECT_EQ(json["name"].text(), "once");
  EXPECT_EQ(json["id"].text().size(), 36U);
  EXPECT_TRUE(json["created"].text().starts_with("20")) << made.body;
  const HttpAnswer again = Call("PUT", "/projects/once");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, made.body);
  EXPECT_EQ(Get("/projects/once").body, made.body);
  EXPECT_TRUE(IsProblem(Call("PUT", "/projects/once", {{"If-None-Match", "*"}}), 412, "precondition_failed"));
  EXPECT_TRUE(IsProblem(Call("PUT", "/projects/once", {{"If-Match", "\"1\""}}), 400, "invalid_argument"));
  EXPECT_EQ(Call("DELETE", "/projects/once").status, 200);
  EXPECT_TRUE(IsProblem(Get("/projects/once"), 404, "not_found"));
  EXPECT_TRUE(IsProblem(Call("DELETE", "/projects/once"), 404, "not_found"));
  const HttpAnswer anew = Call("PUT", "/projects/once", {{"If-None-Match", "*"}});
  EXPECT_EQ(anew.status, 201);
  EXPECT_NE(JsonValue::Parse(anew.body)["id"].text(), json["id"].text()) << "another one of the same name";
}

TEST_P(TablesTest, NamesThatNothingCanHaveAreRefused) {
  for (const char* name : {"", "%20", ".hidden", "a%2Fb", "%FF", "a:b", "%C3%A4"}) {
    const std::string project = std::string("/projects/") + name;
    EXPECT_TRUE(IsProblem(Call("PUT", project), 400, "invalid_argument")) << name;
    EXPECT_TRUE(IsProblem(Call("PUT", kProject + std::string("/datasets/") + name), 400, "invalid_argument")) << name;
    EXPECT_TRUE(IsProblem(PutJson(TableAt(name), kById), 400, "invalid_argument")) << name;
    EXPECT_TRUE(IsProblem(Get(project), 400, "invalid_argument")) << name;
  }
  EXPECT_EQ(Call("PUT", "/projects/" + std::string(255, 'p')).status, 201);
  EXPECT_TRUE(IsProblem(Call("PUT", "/projects/" + std::string(256, 'p')), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Call("PUT", "/projects/bodies", {}, R"({"name":1})"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Call("PUT", "/projects/bodies?x=1"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Call("PUT", "/projects/none-such/datasets/d"), 404, "not_found"));
}

TEST_P(TablesTest, OfTwoCreatorsAtOnceOneWins) {
  for (int round = 0; round < 10; ++round) {
    const std::string target = fmt::format("/projects/race{}", round);
    std::atomic<int> made = 0;
    std::atomic<int> refused = 0;
    std::vector<std::jthread> creators;
    for (int i = 0; i < 4; ++i) {
      creators.emplace_back([&] {
        HttpClient client = Connect();
        const HttpAnswer answer = client.Call("PUT", target, {{"If-None-Match", "*"}});
        if (answer.status == 201) ++made;
        if (answer.status == 412) ++refused;
      });
    }
    creators.clear();
    EXPECT_EQ(made, 1);
    EXPECT_EQ(refused, 3);
  }
}

TEST_P(TablesTest, ListsArePaged) {
  for (const char* name : {"delta", "alpha", "charlie", "bravo"}) MustDeclare(name, kById);
  const std::string list = Dataset() + "/tables";
  const JsonValue all = GetJson(list);
  ASSERT_EQ(all["tables"].size(), 4U);
  EXPECT_EQ(all["tables"].at(0)["name"].text(), "alpha");
  EXPECT_TRUE(all["next"].is_null());
  const JsonValue first = GetJson(list + "?limit=3");
  EXPECT_EQ(first["tables"].size(), 3U);
  EXPECT_EQ(first["next"].text(), "charlie");
  const JsonValue second = GetJson(list + "?limit=3&after=charlie");
  ASSERT_EQ(second["tables"].size(), 1U);
  EXPECT_EQ(second["tables"].at(0)["name"].text(), "delta");
  EXPECT_TRUE(second["next"].is_null());
  EXPECT_EQ(GetJson(kProject + std::string("/datasets?after=") + "zzz")["datasets"].size(), 0U);
  EXPECT_GE(GetJson("/projects")["projects"].size(), 1U);
  EXPECT_TRUE(IsProblem(Get(list + "?limit=0"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Get(list + "?limit=1001"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Get(list + "?after=a%2Fb"), 400, "invalid_argument"));
}

TEST_P(TablesTest, RenamingChangesNothingElse) {
  const std::string table = MustDeclare("before", kById);
  MustPut(table + "/rows/1", R"({"v":1})");
  const JsonValue was = GetJson(table);
  const HttpAnswer renamed = Patch(table, R"({"name":"after"})");
  ASSERT_EQ(renamed.status, 200) << renamed.body;
  EXPECT_EQ(JsonValue::Parse(renamed.body)["id"].text(), was["id"].text());
  EXPECT_TRUE(IsProblem(Get(table + "/rows/1"), 404, "not_found"));
  EXPECT_EQ(GetJson(TableAt("after") + "/rows/1")["value"]["v"].raw(), "1");
  MustDeclare("taken", kById);
  EXPECT_TRUE(IsProblem(Patch(TableAt("after"), R"({"name":"taken"})"), 409, "already_exists"));
  EXPECT_TRUE(IsProblem(Patch(TableAt("after"), R"({"name":"a/b"})"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Patch(TableAt("after"), R"({"name":"x","ttl":null})"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Patch(TableAt("after"), "{}"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Patch(TableAt("none"), R"({"name":"x"})"), 404, "not_found"));

  ASSERT_EQ(Patch(Dataset(), fmt::format(R"({{"name":"{}2"}})", DatasetName())).status, 200);
  EXPECT_EQ(GetJson(Dataset() + "2/tables/after/rows/1")["value"]["v"].raw(), "1");
  ASSERT_EQ(Call("PUT", "/projects/renamed1").status, 201);
  ASSERT_EQ(Patch("/projects/renamed1", R"({"name":"renamed2"})").status, 200);
  EXPECT_EQ(Get("/projects/renamed1").status, 404);
  EXPECT_EQ(Get("/projects/renamed2").status, 200);
  EXPECT_TRUE(IsProblem(Patch("/projects/renamed2", R"({"id":"x"})"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Patch("/projects/renamed2", R"({"name":"acme"})"), 409, "already_exists"));
}

TEST_P(TablesTest, WhatHasSomethingInItIsNotDropped) {
  const std::string table = MustDeclare("t", kById);
  EXPECT_TRUE(IsProblem(Call("DELETE", Dataset()), 412, "precondition_failed"));
  EXPECT_TRUE(IsProblem(Call("DELETE", kProject), 412, "precondition_failed"));
  MustPut(table + "/rows/1", "{}");
  const HttpAnswer dropped = Call("DELETE", table);
  ASSERT_EQ(dropped.status, 202) << dropped.body;
  EXPECT_TRUE(IsProblem(Get(table), 404, "not_found"));
  EXPECT_TRUE(IsProblem(Get(table + "/rows/1"), 404, "not_found"));
  EXPECT_TRUE(IsProblem(PutJson(table + "/rows/1", "{}"), 404, "not_found"));
  EXPECT_TRUE(Ends(JsonValue::Parse(dropped.body)["job"].text()));
  // What comes after it begins anew.
  MustDeclare("t", kById);
  EXPECT_TRUE(IsProblem(Get(table + "/rows/1"), 404, "not_found"));
  EXPECT_EQ(Call("DELETE", table).status, 202);
  EXPECT_EQ(Call("DELETE", Dataset()).status, 200);
  EXPECT_TRUE(IsProblem(Get(Dataset()), 404, "not_found"));
}

TEST_P(TablesTest, ADeclarationIsReadBackAsItWasWritten) {
  const std::string spec =
      R"({"key":{"partition":[{"name":"tenant","type":"text","max_length":20}],)"
      R"("sort":[{"name":"at","type":"timestamp","order":"desc"}]},)"
      R"("ttl":{"field":"until","default":3600},"schema":{"type":"object","required":["kind"]},"profile":"ingest",)"
      R"("indexes":[{"name":"by_kind","local":false,"unique":false,"sparse":true,)"
      R"("partition":[{"path":"kind","lower":true}],"sort":[{"path":"at"}],"where":"size(kind) > 0",)"
      R"("include":["kind"]}]})";
  const HttpAnswer made = PutJson(TableAt("full"), spec);
  ASSERT_EQ(made.status, 201) << made.body;
  const JsonValue asked = JsonValue::Parse(spec);
  const JsonValue is = GetJson(TableAt("full"));
  for (const char* name : {"key", "ttl", "schema", "profile"}) EXPECT_EQ(is[name].raw(), asked[name].raw()) << name;
  EXPECT_EQ(is["name"].text(), "full");
  EXPECT_EQ(is["project"].text(), "acme");
  EXPECT_EQ(is["dataset"].text(), DatasetName());
  EXPECT_GE(is["number"].number(), 64);
  EXPECT_EQ(is["schemaVersion"].raw(), "1");
  EXPECT_TRUE(is["created"].text().starts_with("20"));
  const JsonValue& index = is["indexes"].at(0);
  for (const auto& [name, value] : asked["indexes"].at(0).fields()) EXPECT_EQ(index[name].raw(), value.raw()) << name;
  EXPECT_EQ(index["state"].text(), "ready");
  // The same again changes nothing.
  const HttpAnswer again = PutJson(TableAt("full"), spec);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.body, made.body);
  EXPECT_TRUE(IsProblem(PutJson(TableAt("full"), spec, {{"If-None-Match", "*"}}), 412, "precondition_failed"));
}

TEST_P(TablesTest, WhatCannotBeDeclaredIsRefusedWithAReason) {
  for (const char* spec : {"",
                           "{}",
                           "[]",
                           R"({"key":{}})",
                           R"({"key":{"partition":[]}})",
                           R"({"key":{"partition":[""]}})",
                           R"({"key":{"partition":["a","a"]}})",
                           R"({"key":{"partition":["a"],"sort":["a"]}})",
                           R"({"key":{"partition":[{"name":"a","type":"list"}]}})",
                           R"({"key":{"partition":[{"name":"a","pattern":"("}]}})",
                           R"({"key":{"partition":[{"name":"a","type":"number","max_length":3}]}})",
                           R"({"key":{"partition":["a"]},"else":1})",
                           R"({"key":{"partition":["a"]},"ttl":{}})",
                           R"({"key":{"partition":["a"]},"ttl":{"default":-1}})",
                           R"({"key":{"partition":["a"]},"profile":"fast"})",
                           R"({"key":{"partition":["a"]},"schema":{"type":"nothing"}})",
                           R"({"key":{"partition":["a"]},"indexes":[{"name":"i"}]})",
                           R"({"key":{"partition":["a"]},"indexes":[{"name":"i","local":true}]})",
                           R"({"key":{"partition":["a"]},"indexes":[{"partition":["b"]}]})",
                           R"({"key":{"partition":["a"]},"indexes":[{"name":"i","partition":["b"],"where":"("}]})"}) {
    EXPECT_TRUE(IsProblem(PutJson(TableAt("refused"), spec), 400, "invalid_argument")) << spec;
  }
  EXPECT_EQ(Get(TableAt("refused")).status, 404);
  EXPECT_TRUE(IsProblem(PutJson(kProject + std::string("/datasets/none-such/tables/t"), kById), 404, "not_found"));
  EXPECT_TRUE(IsProblem(Call("PUT", TableAt("t"), {{"Content-Type", "text/plain"}}, kById), 400, "invalid_argument"));
}

TEST_P(TablesTest, ADeclarationOfATableThatIsThereChangesItsTtlAndSchemaAndNothingElse) {
  const std::string table =
      MustDeclare("t", R"({"key":{"partition":["id"]},"indexes":[{"name":"i","partition":["a"]}]})");
  const HttpAnswer changed =
      PutJson(table, R"({"key":{"partition":["id"]},"ttl":{"default":60},"schema":{"required":["a"]}})");
  ASSERT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(GetJson(table)["ttl"].raw(), R"({"default":60})");
  EXPECT_EQ(GetJson(table)["schemaVersion"].raw(), "1");
  EXPECT_EQ(GetJson(table)["indexes"].size(), 1U) << "what it does not name stays";
  EXPECT_TRUE(IsProblem(PutJson(table + "/rows/1", "{}"), 400, "invalid_argument"));
  EXPECT_EQ(PutJson(table, kById).status, 200);
  EXPECT_FALSE(GetJson(table).Has("ttl"));
  EXPECT_EQ(PutJson(table + "/rows/1", "{}").status, 200);
  EXPECT_EQ(Patch(table, R"({"ttl":{"field":"until"}})").status, 200);
  EXPECT_EQ(GetJson(table)["ttl"].raw(), R"({"field":"until"})");
  EXPECT_EQ(Patch(table, R"({"ttl":null,"schema":{"required":["b"]}})").status, 200);
  EXPECT_EQ(GetJson(table)["schemaVersion"].raw(), "3");
  const std::vector<std::pair<std::string, std::string>> refused = {
      {R"({"key":{"partition":["other"]}})", "key"},
      {R"({"key":{"partition":["id"]},"profile":"window"})", "profile"},
      {R"({"key":{"partition":["id"]},"indexes":[{"name":"j","partition":["a"]}]})", "indexes"},
      {R"({"key":{"partition":["id"]},"indexes":[{"name":"i","partition":["b"]}]})", "indexes"},
  };
  for (const auto& [spec, field] : refused) {
    const HttpAnswer answer = PutJson(table, spec);
    EXPECT_TRUE(IsProblem(answer, 400, "invalid_argument")) << spec;
    EXPECT_EQ(JsonValue::Parse(answer.body)["field"].text(), field);
  }
}

TEST_P(TablesTest, OfARetentionOnlyWhatIsSaidChanges) {
  const std::string table = MustDeclare("t", R"({"key":{"partition":[{"name":"day","type":"timestamp"}]},)"
                                             R"("retention":{"field":"day","bucket":3600,"keep":60}})");
  EXPECT_EQ(Patch(table, R"({"retention":{"keep":5}})").status, 200);
  EXPECT_EQ(GetJson(table)["retention"].raw(), R"({"field":"day","bucket":3600,"keep":5})");
  EXPECT_EQ(Patch(table, R"({"retention":{"field":"day","keep":6}})").status, 200);
  EXPECT_EQ(GetJson(table)["retention"].raw(), R"({"field":"day","bucket":3600,"keep":6})");
  for (const char* retention : {"null", "{}", R"({"keep":0})", R"({"bucket":60,"keep":6})", R"({"keep":6,"x":1})"}) {
    EXPECT_TRUE(IsProblem(Patch(table, fmt::format(R"({{"retention":{}}})", retention)), 400, "invalid_argument"))
        << retention;
  }
  EXPECT_TRUE(IsProblem(Patch(MustDeclare("plain", kById), R"({"retention":{"keep":5}})"), 400, "invalid_argument"));
}

TEST_P(TablesTest, AnIndexIsBuiltByAJobAndThenReady) {
  const std::string table = MustDeclare("t", kById);
  for (int i = 0; i < 50; ++i) MustPut(fmt::format("{}/rows/{}", table, i), fmt::format(R"({{"n":{}}})", i % 5));
  const HttpAnswer made = PutJson(table + "/indexes/by_n", R"({"partition":["n"],"sort":["id"]})");
  ASSERT_EQ(made.status, 202) << made.body;
  ASSERT_TRUE(Ends(JsonValue::Parse(made.body)["job"].text()));
  EXPECT_EQ(GetJson(table + "/indexes/by_n")["state"].text(), "ready");
  EXPECT_EQ(PostJson(table + "/query", R"({"index":"by_n","partition":{"n":3}})")["rows"].size(), 10U);
  // The same again is that one; another of the name is refused.
  EXPECT_EQ(PutJson(table + "/indexes/by_n", R"({"partition":["n"],"sort":["id"]})").status, 200);
  EXPECT_TRUE(IsProblem(PutJson(table + "/indexes/by_n", R"({"partition":["m"]})"), 409, "already_exists"));
  EXPECT_TRUE(IsProblem(PutJson(table + "/indexes/by_n", R"({"partition":["n"]})", {{"If-None-Match", "*"}}), 412,
                        "precondition_failed"));
  EXPECT_TRUE(IsProblem(PutJson(table + "/indexes/x", R"({"name":"y","partition":["n"]})"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(PutJson(table + "/indexes/x", R"({})"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Get(table + "/indexes/none"), 404, "not_found"));
  EXPECT_EQ(GetJson(table + "/indexes")["indexes"].size(), 1U);

  const HttpAnswer dropped = Call("DELETE", table + "/indexes/by_n");
  ASSERT_EQ(dropped.status, 202) << dropped.body;
  EXPECT_NE(Post(table + "/query", R"({"index":"by_n","partition":{"n":3}})").status, 200);
  ASSERT_TRUE(Ends(JsonValue::Parse(dropped.body)["job"].text()));
  EXPECT_TRUE(Await([&] { return Get(table + "/indexes/by_n").status == 404; }));
  EXPECT_TRUE(IsProblem(Call("DELETE", table + "/indexes/by_n"), 404, "not_found"));
}

TEST_P(TablesTest, AThrottledBuildShowsItsProgressAndIsNotReadYet) {
  const std::string table = MustDeclare("t", kById);
  constexpr int kRows = 3'000;  // several chunks
  for (int first = 0; first < kRows; first += 500) {
    std::string commands;
    for (int i = first; i < first + 500; ++i) {
      commands +=
          fmt::format(R"({}{{"op":"put","table":{},"row":{{"id":"{}","n":1}}}})", i == first ? "" : ",", Named("t"), i);
    }
    ASSERT_EQ(Post("/rows/batch", R"({"commands":[)" + commands + "]}").status, 200);
  }
  const HttpAnswer made = PutJson(table + "/indexes/slow", R"({"partition":["n"],"throttle":1})");
  ASSERT_EQ(made.status, 202) << made.body;
  const std::string job = JsonValue::Parse(made.body)["job"].text();
  ASSERT_TRUE(Await([&] { return GetJson(table + "/indexes/slow")["progress"]["done"].number() > 0; }));
  const JsonValue index = GetJson(table + "/indexes/slow");
  EXPECT_EQ(index["job"].text(), job);
  EXPECT_EQ(GetJson("/jobs/" + job)["table"].text(), fmt::format("acme/{}/t", DatasetName()));
  EXPECT_EQ(GetJson("/jobs/" + job)["index"].text(), "slow");
  EXPECT_EQ(index["state"].text(), "building");
  EXPECT_LT(index["progress"]["done"].number(), kRows);
  EXPECT_TRUE(IsProblem(Post(table + "/query", R"({"index":"slow","partition":{"n":1}})"), 503, "unavailable"));
  const std::string again = R"({"partition":["n"]})";
  EXPECT_EQ(PutJson(table + "/indexes/slow", again).status, 200);
  // Of a build that was cancelled nothing comes any more, which the same again does not hide.
  EXPECT_EQ(Post("/jobs/" + job + "/cancel", "").status, 200);
  const HttpAnswer given_up = PutJson(table + "/indexes/slow", again);
  EXPECT_TRUE(IsProblem(given_up, 409, "already_exists"));
  EXPECT_TRUE(JsonValue::Parse(given_up.body).Has("advice")) << given_up.body;
  // Dropped in the middle, it goes.
  EXPECT_EQ(Call("DELETE", table + "/indexes/slow").status, 202);
  EXPECT_TRUE(Await([&] { return Get(table + "/indexes/slow").status == 404; }));
}

TEST_P(TablesTest, AUniqueIndexNamesTheRowsInItsWay) {
  const std::string table = MustDeclare("users", kById);
  MustPut(table + "/rows/1", R"({"mail":"Ada@example.org"})");
  MustPut(table + "/rows/2", R"({"mail":"ada@example.org "})");
  MustPut(table + "/rows/3", R"({"mail":"grace@example.org"})");
  const HttpAnswer made =
      PutJson(table + "/indexes/mail", R"({"partition":[{"path":"mail","lower":true,"trim":true}],"unique":true})");
  ASSERT_EQ(made.status, 202) << made.body;
  const std::string job = JsonValue::Parse(made.body)["job"].text();
  ASSERT_TRUE(Await([&] { return StateOfJob(job) == "failed"; })) << Get("/jobs/" + job).body;
  const JsonValue index = GetJson(table + "/indexes/mail");
  EXPECT_EQ(index["state"].text(), "building");
  EXPECT_EQ(index["progress"]["state"].text(), "failed");
  ASSERT_EQ(index["findings"].size(), 1U) << index.raw();
  EXPECT_EQ(index["findings"].at(0)["kind"].text(), "duplicate");
  EXPECT_TRUE(index["findings"].at(0)["row"].Has("id"));
  EXPECT_TRUE(index["findings"].at(0)["other"].Has("id"));
  // Changed and resumed, it is built.
  EXPECT_EQ(Call("DELETE", table + "/rows/2").status, 200);
  EXPECT_EQ(Post("/jobs/" + job + "/resume", "").status, 200);
  EXPECT_TRUE(Await([&] { return GetJson(table + "/indexes/mail")["state"].text() == "ready"; }));
}

TEST_P(TablesTest, IndexesAreVerifiedMendedAndBroughtBackByJobs) {
  const std::string table =
      MustDeclare("t", R"({"key":{"partition":["id"]},"indexes":[{"name":"by_n","partition":["n"]}]})");
  for (int i = 0; i < 20; ++i) MustPut(fmt::format("{}/rows/{}", table, i), fmt::format(R"({{"n":{}}})", i));
  const auto start = [&](const std::string& what, const std::string& body) {
    const HttpAnswer started = Post(table + what, body);
    EXPECT_EQ(started.status, 202) << started.body;
    const std::string job = JsonValue::Parse(started.body)["job"].text();
    EXPECT_TRUE(Ends(job)) << Get("/jobs/" + job).body;
    return job;
  };
  const std::string verified = start("/verify", R"({"throttle":100000})");
  const JsonValue report = GetJson("/jobs/" + verified);
  EXPECT_EQ(report["table"].text(), fmt::format("acme/{}/t", DatasetName()));
  EXPECT_FALSE(report.Has("index")) << "it is about all of them";
  EXPECT_EQ(report["rows"].number(), 20);
  EXPECT_EQ(report["entries"].number(), 20);
  EXPECT_EQ(report["found"].raw(), "{}");
  EXPECT_EQ(Get(table + "/findings/" + verified).body, R"({"findings":[],"next":null})");
  const std::string repaired = start("/repair", fmt::format(R"({{"verified":"{}"}})", verified));
  EXPECT_EQ(GetJson("/jobs/" + repaired)["mended"].number(), 0);
  start("/repair", "");
  const std::string undone = start("/undo", fmt::format(R"({{"repair":"{}"}})", repaired));
  EXPECT_EQ(GetJson("/jobs/" + undone)["undone"].number(), 0);

  EXPECT_TRUE(IsProblem(Post(table + "/undo", "{}"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Post(table + "/undo", R"({"repair":"x"})"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Post(table + "/verify", R"({"verified":"x"})"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Post(table + "/repair", fmt::format(R"({{"verified":"{}"}})", repaired)), 404, "not_found"));
  EXPECT_TRUE(IsProblem(Post(table + "/undo", fmt::format(R"({{"repair":"{}"}})", verified)), 404, "not_found"));
  EXPECT_TRUE(IsProblem(Post(TableAt("none") + "/verify", ""), 404, "not_found"));
  // What is known of no such job is not taken for a table that is sound.
  MustDeclare("other", kById);
  EXPECT_TRUE(IsProblem(Get(TableAt("other") + "/findings/" + verified), 404, "not_found"));
  EXPECT_TRUE(IsProblem(Get(table + "/findings/0197f0a2-7c1e-7b52-9d7c-5a4c8a4b1f00"), 404, "not_found"));
  EXPECT_EQ(Get(table + "/findings/" + undone).status, 200);
  EXPECT_TRUE(IsProblem(Get(table + "/findings/x"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Get(table + "/findings/" + verified + "?limit=0"), 400, "invalid_argument"));
}

TEST_P(TablesTest, TheCatalogCanBeReadAndIsNotWrittenTo) {
  MustDeclare("t", kById);
  const std::string system = "/projects/_system/datasets/_catalog/tables/_tables";
  EXPECT_EQ(Get(system).status, 200);
  EXPECT_GE(GetJson(system + "/rows")["rows"].size(), 1U);
  EXPECT_TRUE(IsProblem(Call("DELETE", system), 403, "permission_denied"));
  EXPECT_TRUE(IsProblem(PutJson(system, kById), 403, "permission_denied"));
  EXPECT_TRUE(IsProblem(Post(system + "/rows", "{}"), 403, "permission_denied"));
  EXPECT_TRUE(IsProblem(Call("PUT", "/projects/_system/datasets/x"), 403, "permission_denied"));
  EXPECT_TRUE(IsProblem(Call("DELETE", "/projects/_system"), 403, "permission_denied"));
}

KVARTS_ON_EVERY_ENGINE(TablesTest);

}  // namespace
}  // namespace kvarts::test
