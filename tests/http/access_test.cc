// Who may do what: every route for every kind of token, and keys and ranges at the edges of scopes.
#include <fmt/format.h>

#include <set>

#include "http/access_fixture.h"

namespace kvarts::test {
namespace {

// Those who ask. A token of a namespace administers it; the others are named by what they have.
enum Who : unsigned {
  kReader = 1,          // read:prefix=p/
  kWriter = 2,          // write:prefix=p/
  kSpaceReader = 4,     // read:namespace=matrix
  kSpaceAdmin = 8,      // admin:namespace=matrix
  kAdministrator = 16,  // admin
  kTableReader = 32,    // read:tables=matrix/shop
  kTableWriter = 64,    // write:tables=matrix/shop/orders
  kTableAdmin = 128     // admin:tables=matrix/shop
};
constexpr unsigned kAnybody = 255;  // also without a token

struct Row {
  const char* method;
  const char* route;  // as /openapi.json has it
  const char* target;
  const char* body;
  unsigned allowed;
};

constexpr const char* kNoId = "00000000-0000-0000-0000-000000000000";

// tidy: long function because it is a table
std::vector<Row> Matrix() {
  static const std::string job = std::string("/jobs/") + kNoId;
  static const std::string pause = job + "/pause";
  static const std::string resume = job + "/resume";
  static const std::string cancel = job + "/cancel";
  constexpr const char* kGrammar = R"({"grammar":"matrix/<id>"})";
  return {
      {"GET", "/keys/{key}", "/keys/p/1", "", kReader | kAdministrator},
      {"GET", "/keys/{key}", "/keys/matrix/1", "", kSpaceReader | kAdministrator},
      {"GET", "/keys/{key}", "/keys/q", "", kAdministrator},
      {"PUT", "/keys/{key}", "/keys/p/1", "x", kWriter | kAdministrator},
      {"PUT", "/keys/{key}", "/keys/matrix/1", "x", kAdministrator},
      {"PATCH", "/keys/{key}", "/keys/p/n", R"({"increment":1})", kAdministrator},
      {"DELETE", "/keys/{key}", "/keys/p/1", "", kWriter | kAdministrator},
      {"GET", "/keys", "/keys?prefix=p/", "", kReader | kAdministrator},
      {"GET", "/keys", "/keys?prefix=matrix/", "", kSpaceReader | kAdministrator},
      {"GET", "/keys", "/keys", "", kAdministrator},
      {"DELETE", "/keys", "/keys?prefix=p/x", "", kWriter | kAdministrator},
      {"DELETE", "/keys", "/keys?prefix=matrix/", "", kAdministrator},
      {"POST", "/keys/get", "/keys/get", R"({"keys":["p/1","p/2"]})", kReader | kAdministrator},
      {"POST", "/keys/get", "/keys/get", R"({"keys":["matrix/1"]})", kSpaceReader | kAdministrator},
      {"POST", "/commit", "/commit", R"({"mutations":[{"op":"put","key":"p/1","value":1}]})", kWriter | kAdministrator},
      {"GET", "/watch", "/watch?prefix=p/&wait=0", "", kReader | kAdministrator},
      {"GET", "/watch", "/watch?prefix=matrix/&wait=0", "", kSpaceReader | kAdministrator},
      {"GET", "/watch", "/watch?wait=0", "", kAdministrator},
      {"GET", "/namespaces", "/namespaces", "", kAdministrator},
      {"GET", "/namespaces/{name}", "/namespaces/matrix", "", kSpaceAdmin | kAdministrator},
      {"GET", "/namespaces/{name}", "/namespaces/other", "", kAdministrator},
      {"PUT", "/namespaces/{name}", "/namespaces/matrix", kGrammar, kSpaceAdmin | kAdministrator},
      {"PUT", "/namespaces/{name}", "/namespaces/other", R"({"grammar":"other/<id>"})", kAdministrator},
      {"DELETE", "/namespaces/{name}", "/namespaces/other", "", kAdministrator},
      {"POST", "/namespaces/{name}/move", "/namespaces/other/move", R"({"from":"none/"})", kAdministrator},
      {"POST", "/namespaces/{name}/move", "/namespaces/matrix/move", R"({"from":"none/"})", kAdministrator},
      {"POST", "/namespaces/{name}/drop-bucket", "/namespaces/matrix/drop-bucket", R"({"leading":"","bucket":"2026"})",
       kSpaceAdmin | kAdministrator},
      {"GET", "/explain/{key}", "/explain/p/1", "", kReader | kAdministrator},
      {"GET", "/explain/{key}", "/explain/matrix/1", "", kSpaceReader | kAdministrator},
      {"GET", "/tokens", "/tokens", "", kAdministrator},
      {"POST", "/tokens", "/tokens", R"({"name":"x","scopes":["read"],"ttl":0.001})", kAdministrator},
      {"DELETE", "/tokens/{id}", "/tokens/000000000000", "", kAdministrator},
      {"PATCH", "/tokens/{id}", "/tokens/000000000000", R"({"disabled":true})", kAdministrator},
      {"GET", "/jobs", "/jobs", "", kAdministrator},
      {"GET", "/jobs/{id}", job.c_str(), "", kAdministrator},
      {"POST", "/jobs/{id}/pause", pause.c_str(), "", kAdministrator},
      {"POST", "/jobs/{id}/resume", resume.c_str(), "", kAdministrator},
      {"POST", "/jobs/{id}/cancel", cancel.c_str(), "", kAdministrator},
      {"POST", "/compact", "/compact", R"({"prefix":"p/"})", kAdministrator},
      {"GET", "/livez", "/livez", "", kAnybody},
      {"GET", "/readyz", "/readyz", "", kAnybody},
      {"GET", "/openapi.json", "/openapi.json", "", kAnybody},
      {"GET", "/", "/", "", kAnybody},
      {"GET", "/metrics", "/metrics", "", kAdministrator},
      {"GET", "/stats", "/stats", "", kAdministrator},
      {"GET", "/hotkeys", "/hotkeys", "", kAdministrator},
  };
}

constexpr const char* kTableAt = "/projects/matrix/datasets/shop/tables/orders";
// tidy: long function because it is a table
std::vector<Row> TableMatrix() {
  static const std::string table = kTableAt;
  static const std::string routes = "/projects/{project}/datasets/{dataset}/tables/{table}";
  static const std::string row = table + "/rows/1";
  static const std::string row_route = routes + "/rows/{key}";
  static const std::string rows = table + "/rows";
  static const std::string rows_route = routes + "/rows";
  static const std::string get = rows + "/get";
  static const std::string get_route = rows_route + "/get";
  static const std::string query = table + "/query";
  static const std::string query_route = routes + "/query";
  static const std::string split = table + "/split";
  static const std::string split_route = routes + "/split";
  static const std::string indexes = table + "/indexes";
  static const std::string indexes_route = routes + "/indexes";
  static const std::string index = indexes + "/by_n";
  static const std::string index_route = indexes_route + "/{index}";
  static const std::string verify = table + "/verify";
  static const std::string verify_route = routes + "/verify";
  static const std::string repair = table + "/repair";
  static const std::string repair_route = routes + "/repair";
  static const std::string undo = table + "/undo";
  static const std::string undo_route = routes + "/undo";
  static const std::string no_repair = fmt::format(R"({{"repair":"{}"}})", kNoId);
  static const std::string findings = fmt::format("{}/findings/{}", table, kNoId);
  static const std::string findings_route = routes + "/findings/{job}";
  static const std::string returning = row + "?return=before";
  static const std::string where = row + "?where=n%20%3D%201";
  static const std::string batch = R"({"commands":[{"op":"put",)"
                                   R"("table":{"project":"matrix","dataset":"shop","table":"orders"},)"
                                   R"("row":{"id":"1"}}]})";
  static const std::string elsewhere = R"({"commands":[{"op":"put",)"
                                       R"("table":{"project":"matrix","dataset":"shop","table":"others"},)"
                                       R"("row":{"id":"1"}}]})";
  constexpr unsigned kSee = kTableReader | kTableAdmin | kAdministrator;
  constexpr unsigned kRead = kTableReader | kAdministrator;
  constexpr unsigned kWrite = kTableWriter | kAdministrator;
  constexpr unsigned kDeclare = kTableAdmin | kAdministrator;
  constexpr const char* kDataset = "/projects/{project}/datasets/{dataset}";
  return {
      {"GET", "/projects", "/projects", "", kAdministrator},
      {"PUT", "/projects/{project}", "/projects/matrix", "", kAdministrator},
      {"GET", "/projects/{project}", "/projects/matrix", "", kAdministrator},
      {"PATCH", "/projects/{project}", "/projects/none", R"({"name":"none2"})", kAdministrator},
      {"DELETE", "/projects/{project}", "/projects/none", "", kAdministrator},
      {"GET", "/projects/{project}/datasets", "/projects/matrix/datasets", "", kAdministrator},
      {"PUT", kDataset, "/projects/matrix/datasets/shop", "", kDeclare},
      {"PUT", kDataset, "/projects/matrix/datasets/shop2", "", kAdministrator},
      {"GET", kDataset, "/projects/matrix/datasets/shop", "", kSee},
      {"PATCH", kDataset, "/projects/matrix/datasets/shop", R"({"name":"shop3"})", kAdministrator},
      {"PATCH", kDataset, "/projects/matrix/datasets/shop3", R"({"name":"shop"})", kAdministrator},
      {"DELETE", kDataset, "/projects/matrix/datasets/shop2", "", kAdministrator},
      {"GET", "/projects/{project}/datasets/{dataset}/tables", "/projects/matrix/datasets/shop/tables", "", kSee},
      {"PUT", routes.c_str(), table.c_str(), R"({"key":{"partition":["id"]}})", kDeclare},
      {"GET", routes.c_str(), table.c_str(), "", kSee},
      {"PATCH", routes.c_str(), table.c_str(), R"({"ttl":null})", kDeclare},
      {"PATCH", routes.c_str(), table.c_str(), R"({"name":"orders"})", kDeclare},
      {"GET", indexes_route.c_str(), indexes.c_str(), "", kSee},
      {"PUT", index_route.c_str(), index.c_str(), R"({"partition":["n"]})", kDeclare},
      {"GET", index_route.c_str(), index.c_str(), "", kSee},
      {"DELETE", index_route.c_str(), index.c_str(), "", kDeclare},
      {"PUT", row_route.c_str(), row.c_str(), "{}", kWrite},
      {"PUT", row_route.c_str(), returning.c_str(), "{}", kAdministrator},
      {"PUT", row_route.c_str(), where.c_str(), "{}", kAdministrator},
      {"GET", row_route.c_str(), row.c_str(), "", kRead},
      {"PATCH", row_route.c_str(), row.c_str(), R"({"update":{"increment":{"n":1}}})", kWrite},
      {"DELETE", row_route.c_str(), row.c_str(), "", kWrite},
      {"POST", rows_route.c_str(), rows.c_str(), R"({"id":"2"})", kWrite},
      {"GET", rows_route.c_str(), rows.c_str(), "", kRead},
      {"POST", get_route.c_str(), get.c_str(), R"({"keys":[]})", kRead},
      {"POST", query_route.c_str(), query.c_str(), R"({"partition":{"id":"1"}})", kRead},
      {"POST", split_route.c_str(), split.c_str(), R"({"parts":2})", kRead},
      {"POST", "/rows/batch", "/rows/batch", batch.c_str(), kWrite},
      {"POST", "/rows/batch", "/rows/batch", elsewhere.c_str(), kAdministrator},
      {"POST", verify_route.c_str(), verify.c_str(), "", kDeclare},
      {"POST", repair_route.c_str(), repair.c_str(), "{}", kDeclare},
      {"POST", undo_route.c_str(), undo.c_str(), no_repair.c_str(), kDeclare},
      {"GET", findings_route.c_str(), findings.c_str(), "", kRead},
      {"DELETE", routes.c_str(), table.c_str(), "", kDeclare},
  };
}

std::vector<Row> AllRows() {
  std::vector<Row> rows = Matrix();
  for (const Row& row : TableMatrix()) rows.push_back(row);
  return rows;
}

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

TEST_P(AccessTest, EveryRouteStandsInTheMatrix) {
  std::set<std::string> served;
  const JsonValue paths = JsonValue::Parse(Ask("", "GET", "/openapi.json").body)["paths"];
  for (const auto& [path, methods] : paths.fields()) {
    for (const auto& [method, operation] : methods.fields()) {
      if (method != "head") served.insert(Upper(method) + " " + path);
    }
  }
  std::set<std::string> known;
  for (const Row& row : AllRows()) known.insert(std::string(row.method) + " " + row.route);
  EXPECT_EQ(served, known);
}

TEST_P(AccessTest, EachTokenMayDoWhatItsScopesSayAndNothingElse) {
  Declare("matrix", "matrix/<id>");
  const std::string wrong = "kv_000000000000_" + std::string(43, 'A');
  const std::vector<std::pair<unsigned, std::string>> tokens = {
      {kReader, Make("read:prefix=p/").text},
      {kWriter, Make("write:prefix=p/").text},
      {kSpaceReader, Make("read:namespace=matrix").text},
      {kSpaceAdmin, Make("admin:namespace=matrix").text},
      {kTableReader, Make("read:tables=matrix/shop").text},
      {kTableWriter, Make("write:tables=matrix/shop/orders").text},
      {kTableAdmin, Make("admin:tables=matrix/shop").text},
      {kAdministrator, Admin()}};
  for (const Row& row : AllRows()) {
    const std::string what = fmt::format("{} {}", row.method, row.target);
    const bool open = row.allowed == kAnybody;
    for (const std::string& none : {std::string(), wrong, std::string("x")}) {
      const HttpAnswer answer = Ask(none, row.method, row.target, row.body);
      EXPECT_EQ(answer.status == 401, !open) << what << " with '" << none << "': " << answer.status;
      if (open) continue;
      EXPECT_TRUE(IsProblem(answer, 401, "unauthenticated")) << what;
      EXPECT_EQ(answer.Header("WWW-Authenticate"), "Bearer") << what;
    }
    for (const auto& [who, token] : tokens) {
      const HttpAnswer answer = Ask(token, row.method, row.target, row.body);
      const bool allowed = open || (row.allowed & who) != 0;
      EXPECT_NE(answer.status, 401) << what << " as " << who;
      EXPECT_EQ(answer.status != 403, allowed) << what << " as " << who << ": " << answer.status << answer.body;
      if (allowed) continue;
      EXPECT_TRUE(IsProblem(answer, 403, "permission_denied")) << what << " as " << who;
    }
  }
}

TEST_P(AccessTest, FiguresAreForWhoMayReadEverything) {
  EXPECT_EQ(Ask(Make("read").text, "GET", "/metrics").status, 200);
  // Two scopes side by side are not everything.
  for (const char* scope : {"write", "read:prefix=p/", R"(read:prefix=a","read:prefix=b)"}) {
    EXPECT_TRUE(IsProblem(Ask(Make(scope).text, "GET", "/metrics"), 403, "permission_denied")) << scope;
  }
}

TEST_P(AccessTest, ATokenIsAskedForInOneForm) {
  const std::string& admin = Admin();
  const auto status = [this](const std::string& value) {
    HttpClient client(Address());
    return client.Call("GET", "/keys/form", {{"Authorization", value}}).status;
  };
  EXPECT_EQ(status("Bearer " + admin), 404);
  for (const std::string& value : std::vector<std::string>{
           admin, "Basic " + admin, "Bearer", "Bearer ", "Bearer " + admin + "x", "Bearer " + admin.substr(0, 20),
           "Bearer " + admin + ", Bearer " + admin, "Bearer kv_", "Bearer " + std::string(5'000, 'k')}) {
    EXPECT_EQ(status(value), 401) << value;
  }
}

TEST_P(AccessTest, KeysAtTheEdgesOfAPrefix) {
  const Token token = Make("read,write:prefix=edge/");
  for (const char* inside : {"edge/", "edge/0", "edge/%00", "edge/%FF%FF", "edge%2F1", "%65dge/x"}) {
    EXPECT_EQ(Ask(token.text, "PUT", std::string("/keys/") + inside, "x").status, 200) << inside;
    EXPECT_EQ(Ask(token.text, "GET", std::string("/keys/") + inside).status, 200) << inside;
  }
  for (const char* outside : {"edge", "edge0", "edge.", "edgd/1", "edge%2E", "Edge/1", "%00edge/", "/edge/1", "e"}) {
    for (const char* method : {"GET", "HEAD", "PUT", "DELETE"}) {
      const HttpAnswer answer = Ask(token.text, method, std::string("/keys/") + outside);
      EXPECT_EQ(answer.status, 403) << method << outside;
    }
    EXPECT_EQ(Ask(token.text, "PATCH", std::string("/keys/") + outside, R"({"increment":1})").status, 403) << outside;
  }
  // Bytes count, not characters.
  const Token binary = Make(R"(read,write:prefix=\\xff\\xff)");
  EXPECT_EQ(Ask(binary.text, "PUT", "/keys/%FF%FF", "x").status, 200);
  EXPECT_EQ(Ask(binary.text, "PUT", "/keys/%FF%FE", "x").status, 403);
  EXPECT_EQ(Ask(binary.text, "GET", "/keys?prefix=%FF%FF").status, 200);
  EXPECT_EQ(Ask(binary.text, "GET", "/keys?start=%FF%FF").status, 200);
  EXPECT_EQ(Ask(binary.text, "GET", "/keys?start=%FF%FE").status, 403);
}

TEST_P(AccessTest, RangesThatLeaveTheScope) {
  const Token token = Make("read,write:prefix=r/");
  const std::vector<std::string> inside = {"prefix=r/", "prefix=r/a", "start=r/&end=r0", "start=r/a&end=r/b"};
  const std::vector<std::string> outside = {"prefix=r",  "prefix=r0",         "start=r/&end=r0%00",
                                            "start=r/a", "start=r.&end=r/a",  "start=q&end=s",
                                            "prefix=",   "start=r0&end=r1",   "end=r0",
                                            "prefix=s/", "start=r%2E&end=r/x"};
  const auto each = [&](const std::string& range, bool allowed) {
    const auto check = [&](const HttpAnswer& answer, const char* what) {
      EXPECT_EQ(answer.status, allowed ? 200 : 403) << what << " " << range << ": " << answer.body;
    };
    check(Ask(token.text, "GET", "/keys?" + range), "list");
    check(Ask(token.text, "GET", "/keys?values=false&reverse=true&" + range), "keys");
    check(Ask(token.text, "GET", "/keys?count=exact&" + range), "count");
    check(Ask(token.text, "GET", "/keys?count=estimate&" + range), "estimate");
    check(Ask(token.text, "GET", "/keys?" + range, {}, {{"Accept", "application/x-ndjson"}}), "export");
    check(Ask(token.text, "GET", "/watch?wait=0&" + range), "poll");
    check(Ask(token.text, "HEAD", "/watch?" + range, {}, {{"Accept", "text/event-stream"}}), "events");
  };
  for (const std::string& range : inside) {
    each(range, true);
    EXPECT_EQ(Ask(token.text, "DELETE", "/keys?" + range).status, 200) << range;
  }
  for (const std::string& range : outside) {
    each(range, false);
    const int status = Ask(token.text, "DELETE", "/keys?" + range).status;
    EXPECT_TRUE(status == 403 || status == 400) << range << status;
  }
  // Two scopes side by side do not make a larger one.
  const HttpAnswer made =
      AsAdmin("POST", "/tokens", R"({"name":"two","scopes":["read:prefix=two/a","read:prefix=two/b"]})");
  const std::string two = JsonValue::Parse(made.body)["token"].text();
  EXPECT_EQ(Ask(two, "GET", "/keys?prefix=two/a").status, 200);
  EXPECT_EQ(Ask(two, "GET", "/keys?prefix=two/b").status, 200);
  EXPECT_EQ(Ask(two, "GET", "/keys?start=two/a&end=two/c").status, 403);
}

TEST_P(AccessTest, ACursorDoesNotCarryRights) {
  const Token token = Make("read:prefix=cursor/mine/");
  for (int i = 0; i < 4; ++i) AsAdmin("PUT", fmt::format("/keys/cursor/{}/{}", i % 2 == 0 ? "mine" : "other", i), "x");
  const auto cursor = [&](const std::string& who, const std::string& query) {
    return JsonValue::Parse(Ask(who, "GET", "/keys?limit=1&" + query).body)["cursor"].text();
  };
  const std::string foreign = cursor(Admin(), "prefix=cursor/");
  EXPECT_EQ(Ask(token.text, "GET", "/keys?limit=1&prefix=cursor/&cursor=" + foreign).status, 403);
  EXPECT_EQ(Ask(token.text, "GET", "/keys?limit=1&prefix=cursor/mine/&cursor=" + foreign).status, 400);
  const std::string own = cursor(token.text, "prefix=cursor/mine/");
  EXPECT_EQ(Ask(token.text, "GET", "/keys?limit=1&prefix=cursor/mine/&cursor=" + own).status, 200);
}

TEST_P(AccessTest, OneForeignKeyRefusesTheWholeCommit) {
  const Token token = Make("read,write:prefix=own/");
  AsAdmin("PUT", "/keys/foreign", "x");
  const auto commit = [&](const std::string& body) {
    Ask(token.text, "DELETE", "/keys/own/a");
    const int status = Ask(token.text, "POST", "/commit", body).status;
    // Nothing of what was refused is there.
    const int there = AsAdmin("GET", "/keys/own/a").status;
    EXPECT_EQ(there, status == 200 ? 200 : 404) << body;
    return status;
  };
  const std::string own = R"({"op":"put","key":"own/a","value":1})";
  EXPECT_EQ(commit(fmt::format(R"({{"mutations":[{}]}})", own)), 200);
  for (const char* foreign :
       {R"({"op":"put","key":"foreign","value":1})", R"({"op":"delete","key":"foreign","missing_ok":true})",
        R"({"op":"increment","key":"foreign","by":1})", R"({"op":"append","key":"foreign","value":"x"})",
        R"({"op":"touch","key":"foreign","ttl":9})", R"({"op":"add","key":"foreign","by":1})",
        R"({"op":"delete_range","prefix":"own"})", R"({"op":"delete_range","start":"own/","end":"own0a"})"}) {
    EXPECT_EQ(commit(fmt::format(R"({{"mutations":[{},{}]}})", own, foreign)), 403) << foreign;
    EXPECT_EQ(commit(fmt::format(R"({{"mutations":[{},{}]}})", foreign, own)), 403) << foreign;
  }
  for (const char* foreign : {R"({"key":"foreign","absent":true})", R"({"key":"foreign","present":true})",
                              R"({"key":"foreign","version":"1"})", R"({"prefix":"own","unchanged_since":"1"})"}) {
    EXPECT_EQ(commit(fmt::format(R"({{"preconditions":[{}],"mutations":[{}]}})", foreign, own)), 403) << foreign;
  }
  EXPECT_EQ(JsonValue::Parse(AsAdmin("GET", "/keys/foreign").body)["value"].text(), "x");
  EXPECT_EQ(Ask(token.text, "POST", "/keys/get", R"({"keys":["own/a","foreign"]})").status, 403);
  EXPECT_EQ(Ask(token.text, "POST", "/keys/get", R"({"keys":["own/a",{"key_base64":"Zm9yZWlnbg=="}]})").status, 403);
  EXPECT_EQ(Ask(token.text, "POST", "/keys/get", R"({"keys":["own/a","own/b"]})").status, 200);
}

TEST_P(AccessTest, WhoMayOnlyWriteIsShownNoValues) {
  const Token token = Make("write:prefix=blind/");
  AsAdmin("PUT", "/keys/blind/text", "treasure");
  AsAdmin("PUT", "/keys/blind/n", "41");
  // What answers with what was there needs both rights.
  for (const char* body : {R"({"ttl":100})", R"({"append":""})", R"({"increment":1})"}) {
    EXPECT_TRUE(IsProblem(Ask(token.text, "PATCH", "/keys/blind/n", body), 403, "permission_denied")) << body;
    EXPECT_EQ(Ask(token.text, "PATCH", "/keys/blind/n", body, {{"Prefer", "return=minimal"}}).status, 403) << body;
  }
  const auto commit = [&](const std::string& mutation) {
    return Ask(token.text, "POST", "/commit", R"({"mutations":[)" + mutation + "]}");
  };
  EXPECT_EQ(commit(R"({"op":"append","key":"blind/text","value":""})").status, 403);
  EXPECT_EQ(commit(R"({"op":"increment","key":"blind/n","by":0})").status, 403);
  const HttpAnswer touched = commit(R"({"op":"touch","key":"blind/text","ttl":9},{"op":"delete","key":"blind/n"})");
  EXPECT_EQ(touched.status, 200) << touched.body;
  EXPECT_EQ(touched.body.find("treasure"), std::string::npos) << touched.body;
  // A requirement would tell, too.
  EXPECT_EQ(Ask(token.text, "POST", "/commit", R"({"preconditions":[{"key":"blind/n","present":true}],"mutations":[]})")
                .status,
            403);
  for (const char* target :
       {"/keys/blind/text", "/keys?prefix=blind/", "/watch?prefix=blind/&wait=0", "/explain/blind/text"}) {
    EXPECT_EQ(Ask(token.text, "GET", target).status, 403) << target;
  }
  EXPECT_EQ(Ask(token.text, "DELETE", "/keys?prefix=blind/").status, 200);
}

TEST_P(AccessTest, ATokenOfANamespaceHasItsKeysAndNoOthers) {
  Declare("solo", "solo/<id>");
  Declare("shared-a", "shared/<id>/a/<x>");
  Declare("shared-b", "shared/<id>/b/<x>");
  const Token solo = Make("read,write:namespace=solo");
  const Token shared = Make("read,write:namespace=shared-a");
  EXPECT_EQ(Ask(solo.text, "PUT", "/keys/solo/1", "x").status, 200);
  EXPECT_EQ(Ask(solo.text, "GET", "/keys/solo/1").status, 200);
  for (const char* key : {"solo", "solo/", "solo/1/2", "sol", "shared/1/a/x", "free"}) {
    EXPECT_EQ(Ask(solo.text, "PUT", std::string("/keys/") + key, "x").status, 403) << key;
    EXPECT_EQ(Ask(solo.text, "GET", std::string("/keys/") + key).status, 403) << key;
  }
  for (const char* range : {"prefix=solo/", "prefix=solo/1", "start=solo/1&end=solo/2"}) {
    EXPECT_EQ(Ask(solo.text, "GET", std::string("/keys?") + range).status, 200) << range;
  }
  for (const char* range : {"prefix=solo", "start=solo/", "prefix=shared/", "start=solo/&end=solo0%00", "prefix="}) {
    EXPECT_EQ(Ask(solo.text, "GET", std::string("/keys?") + range).status, 403) << range;
  }
  // Of a region that it shares it has its own keys one by one, and no range.
  EXPECT_EQ(Ask(shared.text, "PUT", "/keys/shared/1/a/x", "x").status, 200);
  EXPECT_EQ(AsAdmin("PUT", "/keys/shared/1/b/x", "x").status, 200);
  for (const char* key : {"shared/1/b/x", "shared/1/c/x", "shared/1", "shared/1/a/", "solo/1"}) {
    EXPECT_EQ(Ask(shared.text, "GET", std::string("/keys/") + key).status, 403) << key;
    EXPECT_EQ(Ask(shared.text, "DELETE", std::string("/keys/") + key).status, 403) << key;
  }
  for (const char* range : {"prefix=shared/", "prefix=shared/1", "prefix=shared/1/"}) {
    EXPECT_EQ(Ask(shared.text, "GET", std::string("/keys?") + range).status, 403) << range;
    EXPECT_EQ(Ask(shared.text, "DELETE", std::string("/keys?") + range).status, 403) << range;
    EXPECT_EQ(Ask(shared.text, "GET", std::string("/watch?wait=0&") + range).status, 403) << range;
  }
  EXPECT_EQ(AsAdmin("GET", "/keys/shared/1/b/x").status, 200);
}

TEST_P(AccessTest, ANamespaceThatGetsANeighbourNoLongerHasRanges) {
  Declare("outer", "outer/<id>");
  const Token outer = Make("read,write:namespace=outer");
  const Token inner = Make("read,write:namespace=inner");
  EXPECT_EQ(Ask(outer.text, "GET", "/keys?prefix=outer/").status, 200);
  EXPECT_EQ(Ask(inner.text, "GET", "/keys?prefix=outer/deep/").status, 403);
  Declare("inner", "outer/deep/<id>");
  for (const Token* token : {&outer, &inner}) {
    for (const char* range : {"prefix=outer/", "prefix=outer/deep/", "prefix=outer/d"}) {
      EXPECT_EQ(Ask(token->text, "GET", std::string("/keys?") + range).status, 403) << range;
    }
  }
  EXPECT_EQ(Ask(inner.text, "PUT", "/keys/outer/deep/1", "x").status, 200);
  EXPECT_EQ(Ask(outer.text, "GET", "/keys/outer/deep/1").status, 403);
  EXPECT_EQ(Ask(outer.text, "PUT", "/keys/outer/1", "x").status, 200);
}

KVARTS_ON_EVERY_ENGINE(AccessTest);

}  // namespace
}  // namespace kvarts::test
