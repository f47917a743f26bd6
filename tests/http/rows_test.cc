// Rows over HTTP: put, read, changed and deleted one by one and together, and the conditions under which they are.
#include <thread>

#include "http/tables_fixture.h"
#include "support/eventually.h"

namespace kvarts::test {
namespace {

class RowsTest : public TablesHttpTest {
 protected:
  std::string VersionOf(const std::string& row) { return GetJson(row)["version"].text(); }
  HttpAnswer Merge(const std::string& row, const std::string& patch) {
    return Call("PATCH", row, {{"Content-Type", "application/merge-patch+json"}}, patch);
  }
  std::string ValueOf(const std::string& row) { return GetJson(row)["value"].raw(); }
};

TEST_P(RowsTest, ARowIsReadBackWithItsEnvelope) {
  const std::string table = MustDeclare("t", kEvents);
  const HttpAnswer put = PutJson(table + "/rows/acme/1", R"({"a":{"b":[1,2.50,null,true]},"s":{"$set":["y","x"]}})",
                                 {{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}});
  ASSERT_EQ(put.status, 200) << put.body;
  const JsonValue written = JsonValue::Parse(put.body);
  EXPECT_EQ(written["key"].raw(), R"({"tenant":"acme","n":1})");
  const HttpAnswer got = Get(table + "/rows/acme/1");
  ASSERT_EQ(got.status, 200) << got.body;
  const JsonValue row = JsonValue::Parse(got.body);
  EXPECT_EQ(row["key"].raw(), written["key"].raw());
  EXPECT_EQ(row["value"]["a"].raw(), R"({"b":[1,2.5,null,true]})");
  EXPECT_EQ(row["value"]["s"].raw(), R"({"$set":["x","y"]})");
  EXPECT_EQ(row["value"]["tenant"].text(), "acme") << "the fields of the key are in the row";
  EXPECT_EQ(row["value"]["n"].raw(), "1");
  EXPECT_EQ(row["version"].text(), written["version"].text());
  EXPECT_EQ(got.Header("ETag"), '"' + row["version"].text() + '"');
  EXPECT_EQ(put.Header("ETag"), got.Header("ETag"));
  EXPECT_EQ(row["trace"].text(), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_TRUE(row["updatedAt"].text().starts_with("20"));
  EXPECT_EQ(row["schemaVersion"].raw(), "0");
  EXPECT_TRUE(row["expiry"].is_null());
  const HttpAnswer head = Call("HEAD", table + "/rows/acme/1");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.Header("ETag"), got.Header("ETag"));
  EXPECT_TRUE(IsProblem(Get(table + "/rows/acme/2"), 404, "not_found"));
}

TEST_P(RowsTest, KeysInPathsAreOfTheirTypes) {
  const std::string table = MustDeclare("t", R"({"key":{"partition":["text",{"name":"flag","type":"bool"}],"sort":[)"
                                             R"({"name":"at","type":"timestamp"},{"name":"id","type":"uuid"},)"
                                             R"({"name":"bin","type":"binary"},{"name":"n","type":"number"}]}})");
  const std::string id = "01a1eca6-3cd7-70e9-8106-ecb741de7ac0";
  const std::string row = table + "/rows/a%2Fb%20%C3%A4/true/2026-07-05T10:15:30Z/" + id + "/AAEC/-1.5";
  MustPut(row, R"({"v":1})");
  const JsonValue got = GetJson(row);
  EXPECT_EQ(got["key"]["text"].text(), "a/b ä");
  EXPECT_EQ(got["key"]["flag"].raw(), "true");
  EXPECT_EQ(got["key"]["bin"].raw(), R"({"$binary":"AAEC"})");
  EXPECT_EQ(got["key"]["n"].raw(), "-1.5");
  // The same time and the same number, written in another way.
  EXPECT_EQ(Get(table + "/rows/a%2Fb%20%C3%A4/true/2026-07-05T10:15:30.000Z/" + id + "/AAEC/-1.50").status, 200);
  EXPECT_EQ(PutJson(row, R"({"at":"2026-07-05T10:15:30.0Z","v":2})").status, 200);
  for (const char* wrong :
       {"x", "x/true", "x/maybe/2026-07-05T10:15:30Z/01a1eca6-3cd7-70e9-8106-ecb741de7ac0/AAEC/1",
        "x/true/yesterday/01a1eca6-3cd7-70e9-8106-ecb741de7ac0/AAEC/1", "x/true/2026-07-05T10:15:30Z/1/AAEC/1",
        "x/true/2026-07-05T10:15:30Z/01a1eca6-3cd7-70e9-8106-ecb741de7ac0/%00/1",
        "x/true/2026-07-05T10:15:30Z/01a1eca6-3cd7-70e9-8106-ecb741de7ac0/AAEC/one",
        "%FF/true/2026-07-05T10:15:30Z/01a1eca6-3cd7-70e9-8106-ecb741de7ac0/AAEC/1", "a/b/c/d/e/f/g",
        "1/2/3/4/5/6/7/8/9/0/1/2/3/4/5/6/7", "%zz"}) {
    EXPECT_TRUE(IsProblem(Get(table + "/rows/" + wrong), 400, "invalid_argument")) << wrong;
    EXPECT_TRUE(IsProblem(PutJson(table + "/rows/" + wrong, "{}"), 400, "invalid_argument")) << wrong;
    EXPECT_TRUE(IsProblem(Call("DELETE", table + "/rows/" + wrong), 400, "invalid_argument")) << wrong;
  }
}

TEST_P(RowsTest, TheKeyInTheBodyAgreesWithThePath) {
  const std::string table = MustDeclare("t", kEvents);
  EXPECT_EQ(PutJson(table + "/rows/a/1", R"({"tenant":"a","n":1.0})").status, 200);
  const HttpAnswer other = PutJson(table + "/rows/a/1", R"({"tenant":"b"})");
  EXPECT_TRUE(IsProblem(other, 400, "invalid_argument"));
  EXPECT_EQ(JsonValue::Parse(other.body)["field"].text(), "tenant");
  EXPECT_TRUE(IsProblem(PutJson(table + "/rows/a/1", R"({"n":"1"})"), 400, "invalid_argument"));
  for (const char* body : {"", "1", "[]", "{", R"({"a":1,"a":2})", R"({"$set":["a"]})", "{}x"}) {
    EXPECT_TRUE(IsProblem(PutJson(table + "/rows/a/1", body), 400, "invalid_argument")) << body;
  }
  // A row by itself has its key in it.
  EXPECT_EQ(Post(table + "/rows", R"({"tenant":"c","n":7})").status, 200);
  EXPECT_EQ(Get(table + "/rows/c/7").status, 200);
  EXPECT_TRUE(IsProblem(Post(table + "/rows", R"({"tenant":"c"})"), 400, "invalid_argument"));
  EXPECT_EQ(Call("POST", table + "/rows", {{"If-None-Match", "*"}}, R"({"tenant":"c","n":8})").status, 201);
  EXPECT_EQ(Call("POST", table + "/rows", {{"If-None-Match", "*"}}, R"({"tenant":"c","n":8})").status, 412);
  EXPECT_TRUE(IsProblem(Post(TableAt("none") + "/rows", "{}"), 404, "not_found"));
}

TEST_P(RowsTest, ConditionsOnTheVersionAreThoseOfKeys) {
  const std::string row = MustDeclare("t", kById) + "/rows/1";
  EXPECT_EQ(PutJson(row, "{}", {{"If-Match", "*"}}).status, 412);
  EXPECT_EQ(PutJson(row, R"({"v":1})", {{"If-None-Match", "*"}}).status, 201);
  const std::string first = VersionOf(row);
  const HttpAnswer again = PutJson(row, "{}", {{"If-None-Match", "*"}});
  EXPECT_TRUE(IsProblem(again, 412, "precondition_failed"));
  EXPECT_EQ(JsonValue::Parse(again.body)["version"].text(), first);
  EXPECT_EQ(PutJson(row, R"({"v":2})", {{"If-Match", '"' + first + '"'}}).status, 200);
  EXPECT_EQ(PutJson(row, R"({"v":3})", {{"If-Match", '"' + first + '"'}}).status, 412);
  EXPECT_EQ(Patch(row, R"({"update":{"set":{"v":4}}})", {{"If-Match", '"' + first + '"'}}).status, 412);
  EXPECT_EQ(Call("DELETE", row, {{"If-Match", '"' + first + '"'}}).status, 412);
  const std::string second = VersionOf(row);
  EXPECT_EQ(Get(row, {{"If-None-Match", '"' + second + '"'}}).status, 304);
  EXPECT_EQ(Get(row, {{"If-None-Match", '"' + first + '"'}}).status, 200);
  EXPECT_EQ(Get(row, {{"If-Match", '"' + second + '"'}}).status, 200);
  const HttpAnswer not_matching = Get(row, {{"If-Match", '"' + first + '"'}});
  EXPECT_TRUE(IsProblem(not_matching, 412, "precondition_failed"));
  EXPECT_EQ(JsonValue::Parse(not_matching.body)["version"].text(), second);
  EXPECT_EQ(Call("DELETE", row, {{"If-Match", '"' + second + '"'}}).status, 200);
  EXPECT_TRUE(IsProblem(Call("DELETE", row), 404, "not_found"));
  EXPECT_TRUE(IsProblem(PutJson(row, "{}", {{"If-Match", "*"}, {"If-None-Match", "*"}}), 400, "invalid_argument"));
}

TEST_P(RowsTest, ConditionsOnFields) {
  const std::string row = MustDeclare("t", kById) + "/rows/1";
  MustPut(row, R"({"state":"open","n":5})");
  EXPECT_TRUE(IsProblem(PutJson(row + "?where=state%20%3D%20%22shut%22", "{}"), 412, "precondition_failed"));
  EXPECT_EQ(PutJson(row + "?where=n%20%3E%204", R"({"state":"shut","n":6})").status, 200);
  EXPECT_EQ(Patch(row + "?where=n%20%3E%206", R"({"update":{"set":{"n":0}}})").status, 412);
  EXPECT_EQ(Call("DELETE", row + "?where=n%20%3E%206").status, 412);
  const HttpAnswer wrong = PutJson(row + "?where=n%20%3E", "{}");
  EXPECT_TRUE(IsProblem(wrong, 400, "invalid_argument"));
  EXPECT_TRUE(JsonValue::Parse(wrong.body).Has("position")) << wrong.body;
  EXPECT_EQ(Call("DELETE", row + "?where=n%20%3D%206").status, 200);
  // Of a row that is not there, as of an empty one.
  EXPECT_EQ(PutJson(row + "?where=exists(n)", "{}").status, 412);
  EXPECT_EQ(PutJson(row + "?where=not%20exists(n)", "{}").status, 200);
  EXPECT_TRUE(IsProblem(PutJson(row + "?when=1", "{}"), 400, "invalid_argument"));
}

TEST_P(RowsTest, WhatWasThereAndWhatIsThereAreGivenBackOnRequest) {
  const std::string row = MustDeclare("t", kById) + "/rows/1";
  EXPECT_EQ(PutJson(row + "?return=before", R"({"v":1})").body.find(R"("before":null)") != std::string::npos, true);
  EXPECT_EQ(JsonValue::Parse(PutJson(row + "?return=before", R"({"v":2})").body)["before"]["v"].raw(), "1");
  const JsonValue after =
      JsonValue::Parse(Patch(row + "?return=after", R"({"update":{"increment":{"v":40}}})").body)["after"];
  EXPECT_EQ(after.raw(), R"({"v":42,"id":"1"})");
  EXPECT_EQ(JsonValue::Parse(Call("DELETE", row + "?return=before").body)["before"]["v"].raw(), "42");
  EXPECT_TRUE(IsProblem(PutJson(row + "?return=both", "{}"), 400, "invalid_argument"));
  const HttpAnswer minimal = PutJson(row, "{}", {{"Prefer", "return=minimal"}});
  EXPECT_EQ(minimal.status, 204);
  EXPECT_EQ(minimal.body, "");
  EXPECT_EQ(minimal.Header("ETag"), '"' + VersionOf(row) + '"');
}

TEST_P(RowsTest, PatchesOfEveryKind) {
  const std::string row = MustDeclare("t", kById) + "/rows/1";
  EXPECT_TRUE(IsProblem(Patch(row, R"({"update":{"set":{"a":1}}})"), 404, "not_found"));
  EXPECT_TRUE(IsProblem(Merge(row, R"({"a":1})"), 404, "not_found"));
  EXPECT_EQ(Patch(row + "?make=true", R"({"update":{"increment":{"n":2},"append":{"l":[1]},)"
                                      R"("add_to_set":{"s":{"$set":["x"]}},"set":{"m":{"a":1,"b":2}}}})")
                .status,
            200);
  EXPECT_EQ(ValueOf(row), R"({"l":[1],"m":{"a":1,"b":2},"n":2,"s":{"$set":["x"]},"id":"1"})");
  EXPECT_EQ(Patch(row, R"({"update":{"increment":{"n":-0.5},"append":{"l":[2]},"remove":["m.a"],)"
                       R"("set_if_missing":{"n2":7}}})")
                .status,
            200);
  EXPECT_EQ(ValueOf(row), R"({"l":[1,2],"m":{"b":2},"n":1.5,"s":{"$set":["x"]},"id":"1","n2":7})");
  EXPECT_EQ(Merge(row, R"({"m":{"c":3},"l":null,"n2":null,"s":null})").status, 200);
  EXPECT_EQ(ValueOf(row), R"({"m":{"b":2,"c":3},"n":1.5,"id":"1"})");
  EXPECT_EQ(Patch(row, R"({"patch":{"m":null}})").status, 200);
  EXPECT_EQ(ValueOf(row), R"({"n":1.5,"id":"1"})");
  EXPECT_TRUE(IsProblem(Merge(row, R"({"id":"2"})"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Merge(row, R"({"id":null})"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(Merge(row, "[]"), 400, "invalid_argument"));
  for (const char* body :
       {"", "{}", R"({"set":{"a":1}})", R"({"update":{"set":{"a":1}},"patch":{}})", R"({"update":{"explode":{}}})",
        R"({"update":{"set":{"a":1,"a.b":2}}})", R"({"update":{"increment":{"a":"x"}}})",
        R"({"update":{"set":{"a..b":1}}})", R"({"patch":1})"}) {
    EXPECT_TRUE(IsProblem(Patch(row, body), 400, "invalid_argument")) << body;
  }
  EXPECT_TRUE(
      IsProblem(Call("PATCH", row, {{"Content-Type", "text/plain"}}, R"({"update":{}})"), 400, "invalid_argument"));
  EXPECT_EQ(ValueOf(row), R"({"n":1.5,"id":"1"})");
}

TEST_P(RowsTest, IncrementsFromManySidesAreAllCounted) {
  const std::string row = MustDeclare("t", kById) + "/rows/1";
  constexpr int kEach = 25;
  std::vector<std::jthread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      HttpClient client = Connect();
      for (int n = 0; n < kEach; ++n) {
        const HttpAnswer answer = client.Call("PATCH", row + "?make=true", {}, R"({"update":{"increment":{"n":1}}})");
        EXPECT_EQ(answer.status, 200) << answer.body;
      }
    });
  }
  clients.clear();
  EXPECT_EQ(GetJson(row)["value"]["n"].number(), 4 * kEach);
}

TEST_P(RowsTest, FieldsThatAreAskedForComeAlone) {
  const std::string row = MustDeclare("t", kById) + "/rows/1";
  MustPut(row, R"({"a":{"b":1,"c":2},"d":[1,2],"odd,name":3})");
  EXPECT_EQ(ValueOf(row + "?fields=a.b"), R"({"a":{"b":1}})");
  EXPECT_EQ(ValueOf(row + "?fields=a.c,d"), R"({"a":{"c":2},"d":[1,2]})");
  EXPECT_EQ(ValueOf(row + "?fields=%60odd,name%60"), R"({"odd,name":3})");
  EXPECT_EQ(GetJson(row + "?fields=d")["key"].raw(), R"({"id":"1"})");
  for (const char* fields : {"", ",", "a,", "a..b", "a,a", "a,a.b", "a%20b"}) {
    EXPECT_TRUE(IsProblem(Get(row + "?fields=" + fields), 400, "invalid_argument")) << fields;
  }
}

TEST_P(RowsTest, ASchemaIsHeldAgainstWhatIsWritten) {
  const std::string table =
      MustDeclare("t", R"({"key":{"partition":["id"]},"schema":{"properties":{"n":{"type":"integer"}}}})");
  EXPECT_EQ(PutJson(table + "/rows/1", R"({"n":1})").status, 200);
  EXPECT_EQ(GetJson(table + "/rows/1")["schemaVersion"].raw(), "1");
  const HttpAnswer refused = PutJson(table + "/rows/1", R"({"n":"x"})");
  EXPECT_TRUE(IsProblem(refused, 400, "invalid_argument"));
  EXPECT_EQ(JsonValue::Parse(refused.body)["path"].text(), "/n");
  EXPECT_EQ(JsonValue::Parse(refused.body)["keyword"].text(), "type");
  EXPECT_EQ(ValueOf(table + "/rows/1"), R"({"n":1,"id":"1"})");
}

TEST_P(RowsTest, AUniqueViolationNamesIndexValueAndRowAndChangesNothing) {
  const std::string table = MustDeclare(
      "users", R"({"key":{"partition":["id"]},"indexes":[{"name":"mail","partition":["mail"],"unique":true}]})");
  MustPut(table + "/rows/1", R"({"mail":"ada@example.org"})");
  const HttpAnswer taken = PutJson(table + "/rows/2", R"({"mail":"ada@example.org"})");
  EXPECT_TRUE(IsProblem(taken, 409, "already_exists"));
  const JsonValue problem = JsonValue::Parse(taken.body);
  EXPECT_EQ(problem["index"].text(), "mail");
  EXPECT_NE(problem["value"].text().find("ada@example.org"), std::string::npos);
  EXPECT_EQ(problem["row"].text(), R"({"id":"1"})");
  EXPECT_EQ(Get(table + "/rows/2").status, 404);
  MustPut(table + "/rows/1", R"({"mail":"ada@example.com"})");
  MustPut(table + "/rows/2", R"({"mail":"ada@example.org"})");
}

TEST_P(RowsTest, ManyAreReadAtOnce) {
  const std::string table = MustDeclare("t", kEvents);
  for (int i = 0; i < 40; ++i) MustPut(fmt::format("{}/rows/a/{}", table, i), fmt::format(R"({{"v":{}}})", i));
  std::string keys;
  for (int i = 0; i < 41; ++i) keys += fmt::format(R"({}{{"tenant":"a","n":{}}})", i == 0 ? "" : ",", i);
  const JsonValue all = PostJson(table + "/rows/get", R"({"keys":[)" + keys + R"(],"fields":["v"]})")["rows"];
  ASSERT_EQ(all.size(), 41U);
  EXPECT_EQ(all.at(7)["value"].raw(), R"({"v":7})");
  EXPECT_EQ(all.at(7)["key"].raw(), R"({"tenant":"a","n":7})");
  EXPECT_TRUE(all.at(40).is_null());
  EXPECT_EQ(PostJson(table + "/rows/get", R"({"keys":[]})")["rows"].size(), 0U);
  for (const char* body : {"", "{}", R"({"keys":{}})", R"({"keys":["a"]})", R"({"keys":[{"tenant":"a"}]})",
                           R"({"keys":[{"tenant":"a","n":1,"more":2}]})", R"({"keys":[],"fields":["a","a"]})"}) {
    EXPECT_TRUE(IsProblem(Post(table + "/rows/get", body), 400, "invalid_argument")) << body;
  }
}

TEST_P(RowsTest, ABatchAcrossTablesIsAllOrNothing) {
  const std::string one = MustDeclare("one", kById);
  const std::string two = MustDeclare("two", kById);
  MustPut(one + "/rows/old", R"({"n":1})");
  const auto batch = [&](const std::string& last) {
    return fmt::format(
        R"({{"commands":[{{"op":"put","table":{0},"row":{{"id":"new"}},"ifAbsent":true}},)"
        R"({{"op":"patch","table":{1},"key":{{"id":"counter"}},"update":{{"increment":{{"n":1}}}},"make":true,)"
        R"("return":"after"}},{2}]}})",
        Named("one"), Named("two"), last);
  };
  const std::string fails =
      fmt::format(R"({{"op":"delete","table":{},"key":{{"id":"old"}},"where":"n = 2"}})", Named("one"));
  EXPECT_TRUE(IsProblem(Post("/rows/batch", batch(fails)), 412, "precondition_failed"));
  EXPECT_EQ(Get(one + "/rows/new").status, 404);
  EXPECT_EQ(Get(two + "/rows/counter").status, 404);
  const std::string holds = fmt::format(
      R"({{"op":"delete","table":{},"key":{{"id":"old"}},"where":"n = 1","return":"before"}})", Named("one"));
  const HttpAnswer done = Post("/rows/batch", batch(holds));
  ASSERT_EQ(done.status, 200) << done.body;
  const JsonValue json = JsonValue::Parse(done.body);
  EXPECT_EQ(json["results"].at(0)["key"].raw(), R"({"id":"new"})");
  EXPECT_EQ(json["results"].at(1)["after"]["n"].raw(), "1");
  EXPECT_EQ(json["results"].at(2)["before"]["n"].raw(), "1");
  EXPECT_EQ(VersionOf(one + "/rows/new"), json["version"].text());
  EXPECT_EQ(VersionOf(two + "/rows/counter"), json["version"].text());
  EXPECT_EQ(Get(one + "/rows/old").status, 404);
  EXPECT_TRUE(IsProblem(Post("/rows/batch", batch(holds)), 412, "precondition_failed"));
}

TEST_P(RowsTest, ABatchIsCarriedOutInOrderAndItsConditionsAreOfTheStateBefore) {
  const std::string row = MustDeclare("t", kById) + "/rows/1";
  const auto patch = [&](const std::string& rest) {
    return fmt::format(R"({{"op":"patch","table":{},"key":{{"id":"1"}},{}}})", Named("t"), rest);
  };
  const auto batch = [&](const std::string& where) {
    return fmt::format(R"({{"commands":[{},{}]}})", patch(R"("make":true,"update":{"prepend":{"l":[1]}})"),
                       patch(fmt::format(R"("where":"{}","update":{{"remove":["l[1]"]}})", where)));
  };
  EXPECT_TRUE(IsProblem(Post("/rows/batch", batch("size(l) = 1")), 412, "precondition_failed")) << "there is none yet";
  EXPECT_EQ(Get(row).status, 404);
  MustPut(row, R"({"l":[0]})");
  EXPECT_TRUE(IsProblem(Post("/rows/batch", batch("size(l) = 2")), 412, "precondition_failed"));
  EXPECT_EQ(Post("/rows/batch", batch("size(l) = 1")).status, 200);
  EXPECT_EQ(GetJson(row)["value"]["l"].raw(), "[1]");
}

TEST_P(RowsTest, WhatIsNoBatchIsRefused) {
  MustDeclare("t", kById);
  // An @ stands for the table.
  for (const char* command :
       {"{}", R"({"table":@})", R"({"op":"put","table":@})", R"({"op":"put","row":{"id":"1"}})",
        R"({"op":"put","table":@,"row":1})", R"({"op":"put","table":@,"row":{"id":"1"},"key":{"id":"1"}})",
        R"({"op":"move","table":@,"key":{"id":"1"}})", R"({"op":"delete","table":@,"key":"1"})",
        R"({"op":"delete","table":@,"key":{"id":"1"},"update":{}})", R"({"op":"patch","table":@,"key":{"id":"1"}})",
        R"({"op":"patch","table":@,"key":{"id":"1"},"patch":{},"missing_ok":true})",
        R"({"op":"put","table":@,"row":{"id":"1"},"ifAbsent":true,"ifVersion":"1"})",
        R"({"op":"put","table":@,"row":{"id":"1"},"ifAbsent":false})",
        R"({"op":"put","table":@,"row":{"id":"1"},"where":"("})",
        R"({"op":"put","table":@,"row":{"id":"1"},"return":"all"})",
        R"({"op":"put","table":{"project":"a/b","dataset":"d","table":"t"},"row":{"id":"1"}})",
        R"({"op":"put","table":@,"row":{"id":1}})", R"({"op":"put","table":@,"row":{}})"}) {
    std::string text = command;
    if (const size_t at = text.find('@'); at != std::string::npos) text.replace(at, 1, Named("t"));
    EXPECT_TRUE(IsProblem(Post("/rows/batch", R"({"commands":[)" + text + "]}"), 400, "invalid_argument")) << text;
  }
  for (const char* body : {"", "{}", R"({"commands":[]})", R"({"commands":{}})", R"({"rows":[]})"}) {
    EXPECT_TRUE(IsProblem(Post("/rows/batch", body), 400, "invalid_argument")) << body;
  }
  EXPECT_TRUE(IsProblem(
      Post("/rows/batch", fmt::format(R"({{"commands":[{{"op":"put","table":{},"row":{{}}}}]}})", Named("none"))), 404,
      "not_found"));
}

TEST_P(RowsTest, RowsStandBesideKeysInOneCommit) {
  const std::string table = MustDeclare("t", kById);
  const std::string key = "rows-beside-keys/" + DatasetName();
  const auto commit = [&](const std::string& id) {
    return fmt::format(
        R"({{"preconditions":[{{"key":"{0}","absent":true}}],"mutations":[{{"op":"put","key":"{0}","value":1}},)"
        R"({{"op":"put_row","table":{1},"row":{{"id":"{2}","n":1}}}},{{"op":"increment","key":"{0}/n"}},)"
        R"({{"op":"patch_row","table":{1},"key":{{"id":"other"}},"patch":{{"a":1}},"make":true}},)"
        R"({{"op":"delete_row","table":{1},"key":{{"id":"gone"}},"missing_ok":true}}]}})",
        key, Named("t"), id);
  };
  const HttpAnswer done = Post("/commit", commit("1"));
  ASSERT_EQ(done.status, 200) << done.body;
  const JsonValue json = JsonValue::Parse(done.body);
  ASSERT_EQ(json["results"].size(), 5U);
  EXPECT_EQ(json["results"].at(1)["key"].raw(), R"({"id":"1"})");
  EXPECT_EQ(json["results"].at(2)["value"].raw(), "1") << "in the order in which they were given";
  EXPECT_EQ(VersionOf(table + "/rows/1"), json["version"].text());
  EXPECT_EQ(VersionOf("/keys/" + key), json["version"].text());
  EXPECT_TRUE(IsProblem(Post("/commit", commit("2")), 412, "precondition_failed"));
  EXPECT_EQ(Get(table + "/rows/2").status, 404);
  for (const std::string& mutation : {
           R"({"op":"put","key":"k","value":1,"table":)" + Named("t") + "}",
           std::string(R"({"op":"put_row","key":"k","value":1})"),
           R"({"op":"put_row","table":)" + Named("t") + R"(,"row":{"id":"1"},"ttl":5})",
           R"({"op":"move_row","table":)" + Named("t") + R"(,"row":{"id":"1"}})",
       }) {
    EXPECT_TRUE(IsProblem(Post("/commit", R"({"mutations":[)" + mutation + "]}"), 400, "invalid_argument")) << mutation;
  }
}

TEST_P(RowsTest, CostDurabilityAndConsistencyAreThoseOfKeys) {
  const std::string table = MustDeclare("t", kById);
  const HttpAnswer put =
      PutJson(table + "/rows/1", R"({"v":1})", {{"Kvarts-Cost", "1"}, {"Kvarts-Durability", "none"}});
  ASSERT_EQ(put.status, 200) << put.body;
  EXPECT_NE(put.Header("Kvarts-Cost").find("written=1"), std::string::npos) << put.Header("Kvarts-Cost");
  const HttpAnswer got = Get(table + "/rows/1?consistent=true", {{"Kvarts-Cost", "1"}});
  EXPECT_NE(got.Header("Kvarts-Cost").find("keys=1"), std::string::npos) << got.Header("Kvarts-Cost");
  EXPECT_EQ(Get(table + "/rows/1", {{"Kvarts-Consistency", "eventual"}}).status, 200);
  EXPECT_TRUE(IsProblem(Get(table + "/rows/1", {{"Kvarts-Consistency", "x"}}), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(PutJson(table + "/rows/1", "{}", {{"Kvarts-Durability", "x"}}), 400, "invalid_argument"));
}

TEST_P(RowsTest, LargeRowsComeBackWhole) {
  const std::string row = MustDeclare("t", kById) + "/rows/1";
  const std::string text(300'000, 'x');
  MustPut(row, R"({"text":")" + text + R"("})");
  EXPECT_EQ(GetJson(row)["value"]["text"].text(), text);
  const HttpAnswer back = PutJson(row + "?return=before", "{}");
  EXPECT_EQ(JsonValue::Parse(back.body)["before"]["text"].text(), text);
}

KVARTS_ON_EVERY_ENGINE(RowsTest);

// On a server of its own, since only so many names are counted.
class RowMetricsTest : public TablesHttpTest {
 protected:
  RowMetricsTest() : TablesHttpTest({"--watch-heartbeat", "13s"}) {}
};

TEST_P(RowMetricsTest, WhatIsAskedOfTablesIsCountedByTheirNames) {
  const std::string table =
      MustDeclare("t", R"({"key":{"partition":["id"]},"indexes":[{"name":"by_n","partition":["n"]}]})");
  MustPut(table + "/rows/1", R"({"n":1})");
  EXPECT_EQ(Get(TableAt("nobody-has-it") + "/rows/1").status, 404);
  const std::string label = fmt::format(R"(namespace="acme/{}/t)", DatasetName());
  std::string metrics;
  // A request counts for a table that is known by then; on some engines it is forgotten soon after it was made.
  EXPECT_TRUE(Eventually([&] {
    EXPECT_EQ(Get(table + "/rows/1").status, 200);
    EXPECT_EQ(Post(table + "/query", R"({"index":"by_n","partition":{"n":1}})").status, 200);
    metrics = Get("/metrics").body;
    return metrics.contains(label + '"') && metrics.contains(label + R"(/by_n")");
  })) << metrics;
  EXPECT_FALSE(metrics.contains("nobody-has-it"));
}

KVARTS_ON_EVERY_ENGINE(RowMetricsTest);

// Rows whose time has come, on a server that looks for them often.
class RowExpiryTest : public TablesHttpTest {
 protected:
  RowExpiryTest() : TablesHttpTest({"--expiry-interval", "100ms"}) {}

  static std::string In(std::chrono::milliseconds time) {
    const auto at = std::chrono::system_clock::now() + time;
    return fmt::format("{:.3f}", std::chrono::duration<double>(at.time_since_epoch()).count());
  }
};

TEST_P(RowExpiryTest, ARowIsGoneAtItsInstantFromItsTableAndItsIndexes) {
  const std::string table = MustDeclare(
      "t", R"({"key":{"partition":["id"]},"ttl":{"field":"until","default":3600},)"
           R"("indexes":[{"name":"by_n","partition":["n"]},{"name":"u","partition":["u"],"unique":true}]})");
  MustPut(table + "/rows/brief", fmt::format(R"({{"n":1,"u":"x","until":{}}})", In(std::chrono::milliseconds(700))));
  MustPut(table + "/rows/hour", R"({"n":1,"u":"y"})");
  MustPut(table + "/rows/said", R"({"n":1,"until":"2100-01-01T00:00:00Z"})");
  EXPECT_EQ(GetJson(table + "/rows/said")["expiry"].text(), "2100-01-01T00:00:00.000000Z");
  EXPECT_FALSE(GetJson(table + "/rows/hour")["expiry"].is_null());
  const std::string query = R"({"index":"by_n","partition":{"n":1}})";
  ASSERT_EQ(PostJson(table + "/query", query)["rows"].size(), 3U);
  EXPECT_TRUE(IsProblem(PutJson(table + "/rows/other", R"({"u":"x"})"), 409, "already_exists"));
  ASSERT_TRUE(Await([&] { return Get(table + "/rows/brief").status == 404; }));
  EXPECT_EQ(PostJson(table + "/query", query)["rows"].size(), 2U);
  MustPut(table + "/rows/other", R"({"u":"x"})");
  // What hung on it is taken away by a job, and what others have put in its place is not.
  ASSERT_TRUE(Await([&] {
    return Get("/jobs").body.find(R"("kind":"row_expiry","state":"done")") != std::string::npos;
  })) << Get("/jobs").body;
  EXPECT_TRUE(IsProblem(PutJson(table + "/rows/third", R"({"u":"x"})"), 409, "already_exists"));
  EXPECT_EQ(PostJson(table + "/query", R"({"index":"u","partition":{"u":"x"}})")["rows"].size(), 1U);
}

KVARTS_ON_EVERY_ENGINE(RowExpiryTest);

}  // namespace
}  // namespace kvarts::test
