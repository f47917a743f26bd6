// Tokens over time: made, revoked, disabled, expired, limited; and a server that insists on them.
#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "http/access_fixture.h"
#include "http/event_reader.h"
#include "support/files.h"

namespace kvarts::test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSoon(5'000);
// A watch that is only looked at with the beat of this server would end much later.
constexpr milliseconds kAtOnce(3'000);

class TokensTest : public AccessTest {
 protected:
  void Disable(const Token& token, bool disabled) {
    const HttpAnswer answer =
        AsAdmin("PATCH", "/tokens/" + token.id, disabled ? R"({"disabled":true})" : R"({"disabled":false})");
    EXPECT_EQ(answer.status, 200) << answer.body;
  }
  void Revoke(const Token& token) { EXPECT_EQ(AsAdmin("DELETE", "/tokens/" + token.id).status, 200); }
};

TEST_P(TokensTest, RevokingTakesEffectAtOnceOnOpenConnectionsToo) {
  const Token token = Make("read,write:prefix=now/");
  HttpClient open(Address());
  EXPECT_EQ(open.Call("PUT", "/keys/now/1", token.header, "x").status, 200);
  EXPECT_EQ(open.Call("GET", "/keys/now/1", token.header).status, 200);
  Revoke(token);
  EXPECT_TRUE(IsProblem(open.Call("GET", "/keys/now/1", token.header), 401, "unauthenticated"));
  EXPECT_EQ(open.Call("PUT", "/keys/now/1", token.header, "y").status, 401);
  EXPECT_EQ(Ask(token.text, "GET", "/keys/now/1").status, 401);
  // The connection is anybody's; nothing was written.
  EXPECT_EQ(JsonValue::Parse(open.Call("GET", "/keys/now/1", Bearing(Admin())).body)["value"].text(), "x");
  EXPECT_TRUE(IsProblem(AsAdmin("DELETE", "/tokens/" + token.id), 404, "not_found"));
}

TEST_P(TokensTest, DisablingAndEnablingTakeEffectAtOnce) {
  const Token token = Make("read:prefix=now/");
  HttpClient open(Address());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(open.Call("GET", "/keys/now/none", token.header).status, 404);
    Disable(token, true);
    EXPECT_EQ(open.Call("GET", "/keys/now/none", token.header).status, 401);
    Disable(token, false);
  }
  EXPECT_TRUE(IsProblem(AsAdmin("PATCH", "/tokens/" + token.id, "{}"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(AsAdmin("PATCH", "/tokens/" + token.id, R"({"disabled":1})"), 400, "invalid_argument"));
  EXPECT_TRUE(IsProblem(AsAdmin("PATCH", "/tokens/x", R"({"disabled":true})"), 400, "invalid_argument"));
  EXPECT_EQ(open.Call("GET", "/keys/now/none", token.header).status, 404);
}

TEST_P(TokensTest, ATokenExpiresAtItsInstant) {
  const Token token = Make("read:prefix=now/", R"(,"ttl":0.4)");
  HttpClient open(Address());
  const auto made = std::chrono::steady_clock::now();
  EXPECT_EQ(open.Call("GET", "/keys/now/none", token.header).status, 404);
  std::this_thread::sleep_until(made + milliseconds(410));
  EXPECT_EQ(open.Call("GET", "/keys/now/none", token.header).status, 401);
  EXPECT_EQ(AsAdmin("GET", "/tokens").body.find(token.id), std::string::npos);
}

TEST_P(TokensTest, AnOpenWatchEndsWithItsToken) {
  Declare("fed", "fed/<id>", true);
  for (const char* prefix : {"live/", "fed/"}) {
    const std::string target = std::string("/watch?prefix=") + prefix;
    const std::string key = std::string("/keys/") + prefix + "1";
    const Token revoked = Make(std::string("read:prefix=") + prefix);
    const Token disabled = Make(std::string("read:prefix=") + prefix);
    const Token kept = Make(std::string("read:prefix=") + prefix);
    EventReader one(Address(), target, revoked.header);
    EventReader two(Address(), target, disabled.header);
    EventReader three(Address(), target, kept.header);
    HttpClient poll(Address());
    poll.Send(RequestText("GET", target + "&wait=60", revoked.header));
    std::this_thread::sleep_for(milliseconds(50));
    AsAdmin("PUT", key, "before");
    for (EventReader* reader : {&one, &two, &three}) EXPECT_TRUE(reader->Next().has_value()) << prefix;
    EXPECT_EQ(poll.Read().status, 200);
    poll.Send(RequestText("GET", target + "&wait=60", revoked.header));
    std::this_thread::sleep_for(milliseconds(50));
    Revoke(revoked);
    Disable(disabled, true);
    EXPECT_TRUE(one.EndsWithin(kAtOnce)) << prefix;
    EXPECT_TRUE(two.EndsWithin(kAtOnce)) << prefix;
    EXPECT_TRUE(one.ended_well());
    for (EventReader* reader : {&one, &two}) EXPECT_EQ(reader->Next(milliseconds(0))->event, "lost");
    EXPECT_EQ(poll.Read().status, 401) << prefix;
    AsAdmin("PUT", key, "after");
    EXPECT_FALSE(one.Next(milliseconds(0)).has_value());
    EXPECT_FALSE(two.Next(milliseconds(0)).has_value());
    EXPECT_TRUE(three.Next().has_value()) << "others go on";
  }
}

TEST_P(TokensTest, NothingThatCameAfterTheRevocationIsSent) {
  // However close they are.
  for (int i = 0; i < 20; ++i) {
    const Token token = Make("read:prefix=close/");
    EventReader reader(Address(), "/watch?prefix=close/", token.header);
    ASSERT_EQ(reader.status(), 200);
    HttpClient admin(Address());
    admin.Call("DELETE", "/tokens/" + token.id, Bearing(Admin()));
    admin.Call("PUT", "/keys/close/1", Bearing(Admin()), "secret");
    const auto event = reader.Next();
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->event, "lost");
    EXPECT_TRUE(reader.EndsWithin(kAtOnce));
    EXPECT_FALSE(reader.Next(milliseconds(0)).has_value());
  }
}

TEST_P(TokensTest, AnOpenWatchEndsWhenItsTokenExpires) {
  const Token token = Make("read:prefix=live/", R"(,"ttl":0.5)");
  EventReader reader(Address(), "/watch?prefix=live/", token.header);
  ASSERT_EQ(reader.status(), 200);
  EXPECT_TRUE(reader.EndsWithin(kAtOnce));
  AsAdmin("PUT", "/keys/live/1", "x");
  EXPECT_EQ(reader.Next(milliseconds(0))->event, "lost");
  EXPECT_FALSE(reader.Next(milliseconds(50)).has_value());
}

TEST_P(TokensTest, WhatATokenIsMadeOfIsChecked) {
  for (const char* body : {"", "{}", R"({"name":"x"})", R"({"name":"x","scopes":[]})",
                           R"({"name":"","scopes":["read"]})", R"({"name":"x","scopes":["reed"]})",
                           R"({"name":"x","scopes":["admin:prefix=a"]})", R"({"name":"x","scopes":["read:prefix="]})",
                           R"({"name":"x","scopes":["read:space=a"]})", R"({"name":"x","scopes":["read"],"ttl":0})",
                           R"({"name":"x","scopes":["read"],"ttl":-1})", R"({"name":"x","scopes":["read"],"burst":1})",
                           R"({"name":"x","scopes":["read"],"rate":0})", R"({"name":"x","scopes":["read"],"rate":-1})",
                           R"({"name":"x","scopes":["read"],"else":1})", R"({"name":"x","scopes":"read"})"}) {
    EXPECT_TRUE(IsProblem(AsAdmin("POST", "/tokens", body), 400, "invalid_argument")) << body;
  }
}

TEST_P(TokensTest, AListTellsEverythingButTheSecret) {
  const HttpAnswer made = AsAdmin(
      "POST", "/tokens",
      R"({"name":"listed","scopes":["read,write:prefix=l/","read:namespace=solo"],"ttl":1000,"rate":10,"burst":20})");
  const JsonValue token = JsonValue::Parse(made.body);
  const std::string text = token["token"].text();
  const std::string secret = text.substr(text.rfind(token["id"].text()) + token["id"].text().size() + 1);
  ASSERT_EQ(secret.size(), 43U);
  const HttpAnswer list = AsAdmin("GET", "/tokens");
  EXPECT_EQ(list.body.find(secret), std::string::npos);
  bool found = false;
  const JsonValue items = JsonValue::Parse(list.body)["items"];
  for (const JsonValue& item : items.elements()) {
    if (item["id"].text() != token["id"].text()) continue;
    found = true;
    EXPECT_EQ(item["name"].text(), "listed");
    EXPECT_EQ(item["scopes"].raw(), R"(["read,write:prefix=l/","read:namespace=solo"])");
    EXPECT_EQ(item["rate"].raw(), "10");
    EXPECT_EQ(item["burst"].raw(), "20");
    EXPECT_EQ(item["disabled"].raw(), "false");
    EXPECT_EQ(item["expiry"].text(), token["expiry"].text());
    EXPECT_FALSE(item.Has("token"));
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(Server(Options()).Log().find(secret), std::string::npos);
}

TEST_P(TokensTest, RatesAreChargedByWhatRequestsCost) {
  HttpClient admin(Address());
  for (int i = 0; i < 10; ++i) {
    std::string mutations;
    for (int n = 0; n < 100; ++n) {
      mutations += fmt::format(R"({}{{"op":"put","key":"rate/{}","value":1}})", n == 0 ? "" : ",", i * 100 + n);
    }
    ASSERT_EQ(admin.Call("POST", "/commit", Bearing(Admin()), R"({"mutations":[)" + mutations + "]}").status, 200);
  }
  const auto admitted = [&](const Token& token, const std::string& target, int at_most) {
    HttpClient client(Address());
    for (int i = 0; i < at_most; ++i) {
      const HttpAnswer answer = client.Call("GET", target, token.header);
      if (answer.status == 429) {
        EXPECT_TRUE(IsProblem(answer, 429, "rate_limited"));
        EXPECT_GE(std::stoi("0" + answer.Header("Retry-After")), 1);
        return i;
      }
      EXPECT_EQ(answer.status, 200);
    }
    return at_most;
  };
  const std::string limit = R"(,"rate":2,"burst":100)";
  // A get costs two, one of them for the key; a page of a thousand more than there is.
  const int gets = admitted(Make("read:prefix=rate/", limit), "/keys/rate/1", 200);
  EXPECT_GE(gets, 50);
  EXPECT_LE(gets, 60);
  EXPECT_EQ(admitted(Make("read:prefix=rate/", limit), "/keys?prefix=rate/&limit=1000", 10), 1);
  const Token scanner = Make("read:prefix=rate/", limit);
  EXPECT_EQ(admitted(scanner, "/keys?prefix=rate/&limit=1000", 1), 1);
  const HttpAnswer refused = Ask(scanner.text, "GET", "/keys/rate/1");
  EXPECT_GT(std::stoi(refused.Header("Retry-After")), 100) << "the debt is paid off first";
  // Who is not limited is not held up.
  EXPECT_EQ(AsAdmin("GET", "/keys/rate/1").status, 200);
}

TEST_P(TokensTest, WhoComesBackAfterRetryAfterIsLetIn) {
  const Token token = Make("read,write:prefix=again/", R"(,"rate":20,"burst":20)");
  HttpClient client(Address());
  HttpAnswer answer = client.Call("PUT", "/keys/again/1", token.header, "x");
  for (int i = 0; i < 100 && answer.status != 429; ++i) {
    EXPECT_EQ(answer.status, 200);
    answer = client.Call("PUT", "/keys/again/1", token.header, "x");
  }
  ASSERT_EQ(answer.status, 429);
  std::this_thread::sleep_for(std::chrono::seconds(std::stoi(answer.Header("Retry-After"))));
  EXPECT_EQ(client.Call("PUT", "/keys/again/1", token.header, "x").status, 200);
  // Disabling and enabling fills nothing in.
  while (client.Call("GET", "/keys/again/1", token.header).status == 200) continue;
  Disable(token, true);
  Disable(token, false);
  const Token poor = Make("write:prefix=again/", R"(,"rate":1,"burst":10)");
  EXPECT_EQ(Ask(poor.text, "PUT", "/keys/again/2", std::string(20 << 10, 'x')).status, 200);
  Disable(poor, true);
  Disable(poor, false);
  EXPECT_EQ(Ask(poor.text, "PUT", "/keys/again/2", "x").status, 429);
}

KVARTS_ON_EVERY_ENGINE(TokensTest);

// Servers that are started and stopped.
class TokenServerTest : public HttpTest {
 protected:
  std::unique_ptr<ServerProcess> Start(std::vector<std::string> options = {}) {
    options.insert(options.end(), {"--engine", GetParam().name});
    return std::make_unique<ServerProcess>(options);
  }
  static std::string MakeAdmin(const ServerProcess& server) {
    HttpClient client(server.address());
    return JsonValue::Parse(client.Call("POST", "/tokens", {}, R"({"name":"first","scopes":["admin"]})").body)["token"]
        .text();
  }
};

TEST_P(TokenServerTest, WithoutTokensEverythingIsOpenOnLoopback) {
  const auto server = Start();
  HttpClient client(server->address());
  EXPECT_EQ(client.Call("PUT", "/keys/a", {}, "x").status, 200);
  for (const char* target : {"/keys/a", "/keys", "/namespaces", "/tokens", "/jobs", "/stats", "/metrics", "/hotkeys"}) {
    EXPECT_EQ(client.Call("GET", target).status, 200) << target;
  }
  // A token that nobody gave is not looked at.
  EXPECT_EQ(client.Call("GET", "/keys/a", {{"Authorization", "Bearer x"}}).status, 200);
}

TEST_P(TokenServerTest, TheLastAdminCannotLockEverybodyOut) {
  const auto server = Start();
  HttpClient client(server->address());
  const JsonValue first =
      JsonValue::Parse(client.Call("POST", "/tokens", {}, R"({"name":"first","scopes":["admin"]})").body);
  const HttpHeaders bearer = {{"Authorization", "Bearer " + first["token"].text()}};
  const std::string path = "/tokens/" + first["id"].text();
  const auto make = [&](const char* scope) {
    const std::string body = fmt::format(R"({{"name":"x","scopes":["{}"]}})", scope);
    return "/tokens/" + JsonValue::Parse(client.Call("POST", "/tokens", bearer, body).body)["id"].text();
  };
  const auto is_refused = [&](const std::string& what) {
    return IsProblem(client.Call("PATCH", what, bearer, R"({"disabled":true})"), 412, "precondition_failed");
  };
  EXPECT_TRUE(is_refused(path));
  const std::string reader = make("read,write");
  const std::string space_admin = make("admin:namespace=x");
  EXPECT_TRUE(is_refused(path));
  EXPECT_TRUE(IsProblem(client.Call("DELETE", path, bearer), 412, "precondition_failed"));
  // With another admin it may go, unless that one is disabled.
  const std::string second = make("admin");
  EXPECT_EQ(client.Call("PATCH", second, bearer, R"({"disabled":true})").status, 200);
  EXPECT_TRUE(is_refused(path));
  EXPECT_EQ(client.Call("PATCH", second, bearer, R"({"disabled":false})").status, 200);
  EXPECT_EQ(client.Call("DELETE", second, bearer).status, 200);
  // What gives no admin goes at any time, and the last of all may be revoked: then there are no tokens.
  EXPECT_EQ(client.Call("DELETE", reader, bearer).status, 200);
  EXPECT_EQ(client.Call("DELETE", space_admin, bearer).status, 200);
  EXPECT_EQ(client.Call("DELETE", path, bearer).status, 200);
}

TEST_P(TokenServerTest, TheFirstTokenMustBeAdmin) {
  const auto server = Start();
  HttpClient client(server->address());
  for (const char* scopes : {R"("read")", R"("read,write")", R"("admin:namespace=x")", R"("write:prefix=a","read")"}) {
    const HttpAnswer refused =
        client.Call("POST", "/tokens", {}, fmt::format(R"({{"name":"x","scopes":[{}]}})", scopes));
    EXPECT_TRUE(IsProblem(refused, 412, "precondition_failed")) << scopes;
    EXPECT_NE(refused.body.find("the first token must give admin"), std::string::npos) << refused.body;
    EXPECT_EQ(client.Call("GET", "/keys").status, 200);
  }
  EventReader before(server->address(), "/watch?prefix=a");
  const std::string admin = MakeAdmin(*server);
  // From its answer on, also for a connection that was there before.
  EXPECT_EQ(client.Call("GET", "/keys").status, 401);
  EXPECT_EQ(client.Call("POST", "/tokens", {}, R"({"name":"x","scopes":["admin"]})").status, 401);
  EXPECT_EQ(client.Call("GET", "/keys", {{"Authorization", "Bearer " + admin}}).status, 200);
  EXPECT_EQ(client.Call("POST", "/tokens", {{"Authorization", "Bearer " + admin}}, R"({"name":"x","scopes":["read"]})")
                .status,
            201);
}

TEST_P(TokenServerTest, TokensThatHaveAllGoneDoNotOpenTheDoor) {
  const auto server = Start();
  HttpClient client(server->address());
  const HttpAnswer made = client.Call("POST", "/tokens", {}, R"({"name":"short","scopes":["admin"],"ttl":0.3})");
  ASSERT_EQ(made.status, 201);
  EXPECT_EQ(client.Call("GET", "/keys").status, 401);
  std::this_thread::sleep_for(milliseconds(310));
  EXPECT_EQ(client.Call("GET", "/keys").status, 401);
  EXPECT_EQ(client.Call("POST", "/tokens", {}, R"({"name":"x","scopes":["admin"]})").status, 401);
}

TEST_P(TokenServerTest, ElsewhereThanOnLoopbackTokensMustBeThereFirst) {
  const TempDir dir;
  const auto serve = [&](const std::string& address) {
    return RunProgram(ServeCommand({"--engine", GetParam().name, "--listen", address}, dir / "data"));
  };
  for (const char* address : {"0.0.0.0:0", "[::]:0"}) {
    const ProgramRun refused = serve(address);
    EXPECT_EQ(refused.code, 1) << refused.err;
    EXPECT_NE(refused.err.find("without tokens only loopback can be served"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find(address), std::string::npos) << refused.err;
  }
  EXPECT_EQ(serve("127.0.0.1:0,0.0.0.0:0").code, 1);
}

TEST_P(TokenServerTest, AlwaysMeansFromTheFirstRequestOn) {
  const auto server = Start({"--access-require-tokens", "always"});
  HttpClient client(server->address());
  EXPECT_EQ(client.Call("GET", "/livez").status, 200);
  EXPECT_TRUE(IsProblem(client.Call("GET", "/keys/a"), 401, "unauthenticated"));
  EXPECT_EQ(client.Call("POST", "/tokens", {}, R"({"name":"x","scopes":["admin"]})").status, 401);
}

KVARTS_ON_EVERY_ENGINE(TokenServerTest);

class TokenRestartTest : public TokenServerTest {};

TEST_P(TokenRestartTest, TokensMadeBeforeLetAServerListenAnywhere) {
  const TempDir dir;
  std::string admin;
  {
    const auto server = Start({"--data", dir / "data"});
    admin = MakeAdmin(*server);
    server->Signal(SIGTERM);
    EXPECT_EQ(server->Wait(), 0);
  }
  const auto server = Start({"--data", dir / "data", "--listen", "0.0.0.0:0"});
  const std::string address = "127.0.0.1" + server->address().substr(server->address().rfind(':'));
  HttpClient client(address);
  for (const char* target : {"/keys/a", "/keys", "/tokens", "/metrics", "/stats"}) {
    EXPECT_EQ(client.Call("GET", target).status, 401) << target;
  }
  EXPECT_EQ(client.Call("GET", "/livez").status, 200);
  EXPECT_EQ(client.Call("PUT", "/keys/a", {{"Authorization", "Bearer " + admin}}, "x").status, 200);
}

KVARTS_ON_ENGINES_WITH(TokenRestartTest, persistent);

// What a directory keeps.
class TokenFilesTest : public TokenServerTest {};

TEST_P(TokenFilesTest, TokensThatHaveExpiredKeepTheDoorShutAfterARestart) {
  const TempDir dir;
  const auto stop = [](ServerProcess& server) {
    server.Signal(SIGTERM);
    EXPECT_EQ(server.Wait(), 0);
  };
  {
    const auto server = Start({"--data", dir / "data"});
    HttpClient client(server->address());
    ASSERT_EQ(client.Call("POST", "/tokens", {}, R"({"name":"short","scopes":["admin"],"ttl":0.2})").status, 201);
    stop(*server);
  }
  std::this_thread::sleep_for(milliseconds(210));
  {
    const auto server = Start({"--data", dir / "data"});
    HttpClient client(server->address());
    EXPECT_EQ(client.Call("GET", "/keys").status, 401);
    EXPECT_EQ(client.Call("POST", "/tokens", {}, R"({"name":"x","scopes":["admin"]})").status, 401);
    stop(*server);
  }
  // Who has the directory gets in again; and with the last token that is revoked it is as it was before the first.
  const auto kvarts = [&](std::vector<std::string> words) {
    words.insert(words.begin(), KVARTS_BINARY_DIR "/kvarts");
    words.insert(words.end(), {"--data", dir / "data", "--json"});
    const ProgramRun ran = RunProgram(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
  };
  const JsonValue made = JsonValue::Parse(kvarts({"token", "create", "again", "--scope", "admin"}));
  {
    const auto server = Start({"--data", dir / "data"});
    HttpClient client(server->address());
    EXPECT_EQ(client.Call("GET", "/keys", {{"Authorization", "Bearer " + made["token"].text()}}).status, 200);
    stop(*server);
  }
  kvarts({"token", "revoke", made["id"].text()});
  const auto server = Start({"--data", dir / "data"});
  HttpClient client(server->address());
  EXPECT_EQ(client.Call("GET", "/keys").status, 200);
}

TEST_P(TokenFilesTest, SecretsAreNowhere) {
  const TempDir dir;
  const auto server = Start({"--data", dir / "data", "--log-level", "debug", "--slow-request", "1ms"});
  const std::string admin = MakeAdmin(*server);
  const std::string secret = admin.substr(admin.size() - 43);
  HttpClient client(server->address());
  client.Call("GET", "/keys/a", {{"Authorization", "Bearer " + admin}});
  client.Call("GET", "/keys/a", {{"Authorization", "Bearer " + admin + "x"}});
  client.Call("GET", "/nothing", {{"Authorization", "Bearer " + admin}});
  for (const char* target : {"/tokens", "/metrics", "/stats", "/hotkeys"}) {
    const HttpAnswer answer = client.Call("GET", target, {{"Authorization", "Bearer " + admin}});
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body.find(secret), std::string::npos) << target;
  }
  server->Signal(SIGTERM);
  EXPECT_EQ(server->Wait(), 0);
  EXPECT_EQ(server->Log().find(secret), std::string::npos);
  for (const bool json : {false, true}) {
    std::vector<std::string> words = {KVARTS_BINARY_DIR "/kvarts", "dump", dir / "data", "--values"};
    if (json) words.emplace_back("--json");
    const ProgramRun dump = RunProgram(words);
    EXPECT_EQ(dump.code, 0) << dump.err;
    EXPECT_NE(dump.out.find("token"), std::string::npos) << dump.out;
    EXPECT_EQ(dump.out.find(secret), std::string::npos);
  }
  // Nor does any file have it.
  for (const auto& file : std::filesystem::recursive_directory_iterator(std::string(dir / "data"))) {
    if (!file.is_regular_file()) continue;
    EXPECT_EQ(ReadBytes(file.path()).find(secret), std::string::npos) << file.path();
  }
}

KVARTS_ON_ENGINES_WITH(TokenFilesTest, files);

}  // namespace
}  // namespace kvarts::test
