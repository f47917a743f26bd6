// Users of Redis' protocol, by the real binary: who they are, what they may do, that it lasts, and that a change holds
// for those who are connected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "redis/commands.h"
#include "support/eventually.h"
#include "support/http_client.h"
#include "support/on_every_engine.h"
#include "support/programs.h"
#include "support/resp_client.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Words = std::vector<std::string>;

constexpr const char* kWrongPair = "(error) \"WRONGPASS invalid username-password pair or user is disabled.\"";
constexpr const char* kNoAuth = "(error) \"NOAUTH Authentication required.\"";

class AclServerTest : public OnEngineTest {
 protected:
  void SetUp() override { Start(); }

  void Start() {
    admin_.reset();
    server_.reset();
    server_ = MakeServer();
    admin_ = std::make_unique<RespClient>(server_->address());
  }
  std::unique_ptr<ServerProcess> MakeServer() const {
    return std::make_unique<ServerProcess>(Words{"--engine", GetParam().name, "--data", files_ / "data"});
  }
  void Restart() {
    server_->Signal(SIGTERM);
    EXPECT_EQ(server_->Wait(), 0);
    Start();
  }

  std::string Admin(const Words& words) { return admin_->Call(words); }
  void SetUser(const Words& words) {
    Words all = {"ACL", "SETUSER"};
    all.insert(all.end(), words.begin(), words.end());
    ASSERT_EQ(Admin(all), "OK");
  }
  std::unique_ptr<RespClient> As(const std::string& name, const std::string& password) {
    auto client = std::make_unique<RespClient>(server_->address());
    EXPECT_EQ(client->Call({"AUTH", name, password}), "OK");
    return client;
  }

  TempDir files_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<RespClient> admin_;
};
KVARTS_ON_EVERY_ENGINE(AclServerTest);

TEST_P(AclServerTest, UsersMayDoWhatTheirRulesSay) {
  SetUser({"ada", "on", ">one", ">two", "~a*", "%R~r*", "+@read", "+set", "+multi", "+exec", "+config|get"});
  const auto ada = As("ada", "two");
  EXPECT_EQ(ada->Call({"SET", "a1", "x"}), "OK");
  EXPECT_EQ(ada->Call({"GET", "a1"}), "\"x\"");
  EXPECT_EQ(ada->Call({"GET", "r1"}), "(nil)");
  EXPECT_THAT(ada->Call({"SET", "r1", "x"}),
              HasSubstr("NOPERM this user has no permissions to access one of the keys"));
  EXPECT_THAT(ada->Call({"DEL", "a1"}), HasSubstr("NOPERM this user has no permissions to run the 'del' command"));
  EXPECT_THAT(ada->Call({"ACL", "WHOAMI"}), HasSubstr("'acl|whoami'"));
  EXPECT_THAT(ada->Call({"CONFIG", "GET", "timeout"}), StartsWith("["));
  EXPECT_THAT(ada->Call({"CONFIG", "SET", "timeout", "0"}), HasSubstr("'config|set'"));
  EXPECT_THAT(ada->Call({"NOSUCH"}), HasSubstr("ERR unknown command"));
  // In a pipeline each by itself.
  ada->SendRaw("SET a2 x\r\nSET b x\r\nGET a2\r\nGET b\r\nGET a2\r\n");
  std::string all;
  for (int i = 0; i < 5; ++i) all += ada->Read().substr(0, 8) + ";";
  EXPECT_EQ(all, "OK;(error) ;\"x\";(error) ;\"x\";");
  EXPECT_EQ(Admin({"GET", "b"}), "(nil)");
}

TEST_P(AclServerTest, WhoIsWho) {
  SetUser({"ada", "on", ">secret", "+acl|whoami", "+hello"});
  SetUser({"any", "on", "nopass", "+acl|whoami"});
  SetUser({"off", ">secret", "+acl|whoami"});
  RespClient client(server_->address());
  EXPECT_EQ(client.Call({"ACL", "WHOAMI"}), "\"default\"");
  EXPECT_EQ(client.Call({"AUTH", "ada", "wrong"}), kWrongPair);
  EXPECT_EQ(client.Call({"AUTH", "eve", "secret"}), kWrongPair);
  EXPECT_EQ(client.Call({"AUTH", "off", "secret"}), kWrongPair);
  EXPECT_THAT(client.Call({"AUTH", "secret"}), HasSubstr("without any password configured"));
  EXPECT_EQ(client.Call({"ACL", "WHOAMI"}), "\"default\"");
  EXPECT_EQ(client.Call({"AUTH", "ada", "secret"}), "OK");
  EXPECT_EQ(client.Call({"ACL", "WHOAMI"}), "\"ada\"");
  EXPECT_EQ(client.Call({"AUTH", "any", ""}), "OK");
  EXPECT_EQ(client.Call({"AUTH", "ada", "wrong"}), kWrongPair);
  EXPECT_EQ(client.Call({"ACL", "WHOAMI"}), "\"any\"") << "who it was";
  EXPECT_THAT(client.Call({"HELLO", "3", "AUTH", "ada", "secret"}), HasSubstr("\"proto\": (integer) 3"));
  EXPECT_EQ(client.Call({"ACL", "WHOAMI"}), "\"ada\"");
  EXPECT_EQ(client.Call({"RESET"}), "RESET");
  EXPECT_EQ(client.Call({"ACL", "WHOAMI"}), "\"default\"");
}

TEST_P(AclServerTest, DefaultMayNeedAPassword) {
  EXPECT_EQ(Admin({"CONFIG", "SET", "requirepass", "open"}), "OK");
  EXPECT_EQ(Admin({"CONFIG", "GET", "requirepass"}), R"(["requirepass", "open"])");
  EXPECT_EQ(Admin({"PING"}), "PONG") << "it has said who it is before there was a password";
  RespClient client(server_->address());
  EXPECT_EQ(client.Call({"PING"}), kNoAuth);
  EXPECT_THAT(client.Call({"HELLO", "3"}), StartsWith("(error) \"NOAUTH"));
  EXPECT_EQ(client.Call({"AUTH", "wrong"}), kWrongPair);
  EXPECT_EQ(client.Call({"AUTH", "open"}), "OK");
  EXPECT_EQ(client.Call({"PING"}), "PONG");
  EXPECT_EQ(client.Call({"RESET"}), "RESET");
  EXPECT_EQ(client.Call({"PING"}), kNoAuth);
  EXPECT_EQ(Admin({"CONFIG", "SET", "requirepass", ""}), "OK");
  EXPECT_EQ(client.Call({"PING"}), "PONG");
  EXPECT_EQ(Admin({"ACL", "LIST"}), R"(["user default on nopass ~* &* +@all"])");
  SetUser({"default", "off", "nopass"});
  EXPECT_EQ(RespClient(server_->address()).Call({"PING"}), kNoAuth);
  EXPECT_EQ(Admin({"AUTH", "default", "x"}), kWrongPair);
}

TEST_P(AclServerTest, UsersOutliveTheServer) {
  if (!GetParam().persistent) GTEST_SKIP() << "nothing does";
  SetUser({"ada", "on", ">secret", "~a*", "&news", "+@all", "-@dangerous", "+select|0", "(~b +get)"});
  SetUser({"gone", "on"});
  SetUser({"", "on"});
  EXPECT_EQ(Admin({"ACL", "DELUSER", "gone", "none"}), "(integer) 1");
  EXPECT_EQ(Admin({"CONFIG", "SET", "requirepass", "open"}), "OK");
  const std::string before = Admin({"ACL", "LIST"});
  EXPECT_THAT(before, AllOf(HasSubstr("user ada on #"), HasSubstr("-@dangerous"), Not(HasSubstr("gone"))));
  Restart();
  EXPECT_EQ(Admin({"PING"}), kNoAuth);
  EXPECT_EQ(Admin({"AUTH", "open"}), "OK");
  EXPECT_EQ(Admin({"ACL", "LIST"}), before);
  EXPECT_EQ(Admin({"CONFIG", "GET", "requirepass"}), R"(["requirepass", ""])") << "only its hash is kept";
  EXPECT_EQ(As("ada", "secret")->Call({"SET", "a", "x"}), "OK");
}

TEST_P(AclServerTest, RulesAreSetTogetherOrNotAtAll) {
  SetUser({"ada", "on", "~a*"});
  const std::string before = Admin({"ACL", "GETUSER", "ada"});
  EXPECT_THAT(Admin({"ACL", "SETUSER", "ada", "off", "+get", ">x", "+nosuch", "~b*"}),
              HasSubstr("ERR Error in ACL SETUSER modifier '+nosuch': Unknown command or category name in ACL"));
  EXPECT_EQ(Admin({"ACL", "GETUSER", "ada"}), before);
  EXPECT_THAT(Admin({"ACL", "SETUSER", "eve", "on", "foo"}), StartsWith("(error)"));
  EXPECT_EQ(Admin({"ACL", "GETUSER", "eve"}), "(nil)");
  EXPECT_THAT(Admin({"ACL", "SETUSER", "a b"}), HasSubstr("Usernames can't contain spaces"));
  EXPECT_THAT(Admin({"ACL", "SETUSER", std::string(256, 'x')}), HasSubstr("too long"));
  EXPECT_EQ(Admin({"ACL", "SETUSER", std::string(255, 'x')}), "OK");
  EXPECT_THAT(Admin({"ACL", "SETUSER", "ada", "~" + std::string(64 << 10, 'x')}), HasSubstr("too long"));
  EXPECT_THAT(Admin({"ACL", "DELUSER", "ada", "default"}), HasSubstr("cannot be removed"));
  EXPECT_EQ(Admin({"ACL", "GETUSER", "ada"}), before);
}

// Whatever they are at, once DELUSER is answered.
TEST_P(AclServerTest, ConnectionsOfAUserEndWithIt) {
  SetUser({"ada", "on", "nopass", "+@all", "~*", "&*"});
  SetUser({"bob", "on", "nopass", "+@all", "~*"});
  const auto rests = As("ada", "");
  const auto waits = As("ada", "");
  waits->Send({"BLPOP", "nothing", "0"});
  const auto listens = As("ada", "");
  listens->Call({"SUBSCRIBE", "news"});
  const auto queues = As("ada", "");
  queues->Call({"MULTI"});
  const auto bob = As("bob", "");
  ASSERT_TRUE(Eventually([&] { return Admin({"CLIENT", "LIST"}).contains("flags=b"); }));
  EXPECT_EQ(Admin({"ACL", "DELUSER", "ada"}), "(integer) 1");
  for (const auto& client : {rests.get(), waits.get(), listens.get(), queues.get()}) EXPECT_TRUE(client->AtEnd());
  EXPECT_EQ(bob->Call({"PING"}), "PONG");
  EXPECT_EQ(Admin({"PUBLISH", "news", "x"}), "(integer) 0");
  EXPECT_THAT(Admin({"CLIENT", "LIST"}), AllOf(HasSubstr("user=bob"), Not(HasSubstr("user=ada"))));
  EXPECT_THAT(Admin({"CLIENT", "KILL", "USER", "ada"}), HasSubstr("No such user 'ada'"));
  EXPECT_EQ(Admin({"CLIENT", "KILL", "USER", "bob"}), "(integer) 1");
  EXPECT_TRUE(bob->AtEnd());
}

TEST_P(AclServerTest, WhoMayNotListenAnyMoreIsEnded) {
  SetUser({"ada", "on", "nopass", "+@all", "&news*", "&other", "~*"});
  const auto listener = [&](const Words& words) {
    auto client = As("ada", "");
    EXPECT_THAT(client->Call(words), Not(HasSubstr("error")));
    return client;
  };
  const auto channel = listener({"SUBSCRIBE", "news1"});
  const auto pattern = listener({"PSUBSCRIBE", "news*"});
  const auto shard = listener({"SSUBSCRIBE", "other"});
  const auto silent = As("ada", "");
  EXPECT_THAT(silent->Call({"SUBSCRIBE", "secret"}),
              HasSubstr("NOPERM this user has no permissions to access one of the channels"));
  EXPECT_THAT(silent->Call({"PSUBSCRIBE", "news1*"}), HasSubstr("one of the channels"));
  EXPECT_THAT(silent->Call({"PUBLISH", "secret", "x"}), HasSubstr("one of the channels"));
  EXPECT_EQ(silent->Call({"PUBLISH", "news1", "x"}), "(integer) 2");
  channel->Read();
  pattern->Read();
  SetUser({"ada", "resetchannels", "&news1", "&other"});
  EXPECT_TRUE(pattern->AtEnd()) << "its pattern is none of those";
  EXPECT_EQ(silent->Call({"PUBLISH", "news1", "y"}), "(integer) 1");
  EXPECT_THAT(channel->Read(), HasSubstr("y"));
  SetUser({"ada", "resetchannels", "(&news1)"});
  EXPECT_TRUE(shard->AtEnd());
  SetUser({"ada", "clearselectors"});
  EXPECT_TRUE(channel->AtEnd());
  EXPECT_EQ(silent->Call({"PING"}), "PONG") << "it does not listen";
}

// A command that arrives after the answer goes by the new rules.
TEST_P(AclServerTest, AChangeHoldsForWhoIsConnected) {
  SetUser({"ada", "on", "nopass", "~*", "+get", "+acl|whoami"});
  const auto ada = As("ada", "");
  EXPECT_EQ(ada->Call({"GET", "a"}), "(nil)");
  SetUser({"ada", "-get"});
  EXPECT_THAT(ada->Call({"GET", "a"}), HasSubstr("'get'"));
  SetUser({"ada", "+get", "resetkeys", "~b"});
  EXPECT_THAT(ada->Call({"GET", "a"}), HasSubstr("one of the keys"));
  SetUser({"ada", "off"});
  EXPECT_EQ(ada->Call({"GET", "b"}), "(nil)") << "it only cannot come again";
  SetUser({"ada", "allkeys", "allchannels", "allcommands"});
  EXPECT_EQ(ada->Call({"SET", "a", "x"}), "OK");
  EXPECT_EQ(Admin({"ACL", "DELUSER", "ada"}), "(integer) 1");
  SetUser({"ada", "on", "nopass", "+@all", "~*"});
  EXPECT_TRUE(ada->AtEnd()) << "the new one is another";
}

TEST_P(AclServerTest, WhoRemovesItselfIsToldSoAndEnds) {
  SetUser({"ada", "on", "nopass", "+acl"});
  const auto ada = As("ada", "");
  EXPECT_EQ(ada->Call({"ACL", "DELUSER", "ada"}), "(integer) 1");
  EXPECT_TRUE(ada->AtEnd());
}

TEST_P(AclServerTest, TransactionsAreCheckedTwice) {
  SetUser({"ada", "on", "nopass", "~a*", "+@all"});
  const auto ada = As("ada", "");
  EXPECT_EQ(ada->Call({"MULTI"}), "OK");
  EXPECT_THAT(ada->Call({"GET", "b"}), HasSubstr("NOPERM"));
  EXPECT_EQ(ada->Call({"SET", "a", "x"}), "QUEUED");
  EXPECT_THAT(ada->Call({"EXEC"}), HasSubstr("EXECABORT Transaction discarded because of previous errors."));
  EXPECT_EQ(ada->Call({"MULTI"}), "OK");
  for (const char* key : {"a1", "ab", "a3"}) EXPECT_EQ(ada->Call({"SET", key, "x"}), "QUEUED");
  EXPECT_EQ(ada->Call({"SORT", "a9", "BY", "w*"}), "QUEUED");
  EXPECT_EQ(ada->Call({"ECHO", "hi"}), "QUEUED");
  SetUser({"ada", "resetkeys", "~a?", "-echo", "%R~ab", "~a1"});
  SetUser({"ada", "resetkeys", "~a1", "~a3", "~a9"});
  const auto answers = ElementsOf(ada->Call({"EXEC"}));
  ASSERT_EQ(answers.size(), 5U);
  EXPECT_EQ(answers[0], "OK");
  EXPECT_THAT(answers[1], HasSubstr("NOPERM ACLs rules changed between the moment the transaction was accumulated and "
                                    "the EXEC call. This command is no longer allowed for the following reason: no "
                                    "permission to touch the specified keys"));
  EXPECT_EQ(answers[2], "OK");
  EXPECT_THAT(answers[3], HasSubstr("BY option of SORT denied"));
  EXPECT_THAT(answers[4], HasSubstr("no permission to execute the command or subcommand"));
  EXPECT_EQ(Admin({"MGET", "a1", "ab", "a3"}), R"(["x", (nil), "x"])");
  SetUser({"ada", "-exec"});
  EXPECT_EQ(ada->Call({"MULTI"}), "OK");
  EXPECT_THAT(ada->Call({"EXEC"}),
              HasSubstr("EXECABORT Transaction discarded because of: NOPERM this user has no permissions to run the "
                        "'exec' command"));
  EXPECT_EQ(ada->Call({"PING"}), "PONG");
}

TEST_P(AclServerTest, WhatIsRefusedIsLogged) {
  SetUser({"ada", "on", "nopass", "~a*", "+get", "+multi", "+auth"});
  const auto ada = As("ada", "");
  for (int i = 0; i < 3; ++i) ada->Call({"GET", "b"});
  ada->Call({"SET", "a", "x"});
  ada->Call({"AUTH", "eve", "guess"});
  ada->Call({"MULTI"});
  ada->Call({"GET", "b"});
  const auto entries = ElementsOf(Admin({"ACL", "LOG"}));
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_THAT(entries[0], HasSubstr(R"("count", (integer) 1, "reason", "key", "context", "multi", "object", "b")"));
  EXPECT_THAT(entries[1], HasSubstr(R"("reason", "auth", "context", "toplevel", "object", "AUTH", "username", "eve")"));
  EXPECT_THAT(entries[2],
              HasSubstr(R"("reason", "command", "context", "toplevel", "object", "set", "username", "ada")"));
  EXPECT_THAT(entries[3], AllOf(HasSubstr(R"("count", (integer) 3, "reason", "key")"), ContainsRegex("user=ada")));
  EXPECT_EQ(ElementsOf(Admin({"ACL", "LOG", "2"})).size(), 2U);
  EXPECT_EQ(Admin({"CONFIG", "SET", "acllog-max-len", "1"}), "OK");
  ada->Call({"GET", "c"});
  EXPECT_EQ(ElementsOf(Admin({"ACL", "LOG"})).size(), 1U);
  EXPECT_EQ(Admin({"ACL", "LOG", "RESET"}), "OK");
  EXPECT_EQ(Admin({"ACL", "LOG"}), "[]");
}

TEST_P(AclServerTest, LogsOfSlowCommandsHaveNoPasswords) {
  EXPECT_EQ(Admin({"CONFIG", "SET", "slowlog-log-slower-than", "0"}), "OK");
  SetUser({"ada", ">hidden1"});
  EXPECT_EQ(Admin({"CONFIG", "SET", "requirepass", "hidden2"}), "OK");
  EXPECT_EQ(Admin({"AUTH", "hidden2"}), "OK");
  Admin({"HELLO", "2", "AUTH", "ada", "hidden1"});
  const std::string log = Admin({"SLOWLOG", "GET", "-1"});
  EXPECT_THAT(log, AllOf(HasSubstr("(redacted)"), HasSubstr("\"SETUSER\""), Not(HasSubstr("hidden"))));
}

// Whoever adds to a counter is stopped while it has no right to, and not a moment longer: once the answer is there, the
// counter stands still.
TEST_P(AclServerTest, NothingSlipsByWhileRulesChange) {
  SetUser({"ada", "on", "nopass", "~n", "+incr"});
  constexpr size_t kWriters = 3;
  using Counts = std::array<std::atomic<uint64_t>, kWriters>;
  std::atomic<bool> stop = false;
  Counts allowed{};
  Counts denied{};
  std::vector<std::jthread> writers;
  for (size_t i = 0; i < kWriters; ++i) {
    writers.emplace_back([&, i] {
      const auto ada = As("ada", "");
      while (!stop) {
        const std::string answer = ada->Call({"INCR", "n"});
        ++(answer.starts_with("(integer)") ? allowed : denied)[i];
      }
    });
  }
  // Of each of them.
  const auto more = [](const Counts& than) {
    std::array<uint64_t, kWriters> before{};
    for (size_t i = 0; i < kWriters; ++i) before[i] = than[i];
    return Eventually([&] {
      for (size_t i = 0; i < kWriters; ++i) {
        if (than[i] < before[i] + 5) return false;
      }
      return true;
    });
  };
  const Words rules[] = {{"-incr", "+incr"}, {"resetkeys", "~n"}, {"nocommands", "+incr"}};
  for (int round = 0; round < 9; ++round) {
    ASSERT_TRUE(more(allowed));
    SetUser({"ada", rules[round % 3][0]});
    // What was under way when the rules changed has its answer by then.
    ASSERT_TRUE(more(denied));
    const std::string before = Admin({"GET", "n"});
    ASSERT_TRUE(more(denied));
    EXPECT_EQ(Admin({"GET", "n"}), before);
    SetUser({"ada", rules[round % 3][1]});
  }
  stop = true;
  writers.clear();
  EXPECT_EQ(Admin({"GET", "n"}), '"' + std::to_string(allowed[0] + allowed[1] + allowed[2]) + '"');
}

TEST_P(AclServerTest, ManyMayChangeAUserAtOnce) {
  constexpr int kClients = 4;
  constexpr int kRules = 25;
  SetUser({"ada", "on"});
  std::vector<std::jthread> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.emplace_back([&, i] {
      RespClient client(server_->address());
      for (int j = 0; j < kRules; ++j) {
        const std::string pattern = "~" + std::to_string(i) + "." + std::to_string(j);
        std::string answer;
        do {
          answer = client.Call({"ACL", "SETUSER", "ada", pattern});
        } while (answer.contains("TRYAGAIN"));  // nothing was written
        EXPECT_EQ(answer, "OK");
      }
    });
  }
  clients.clear();
  const std::string list = Admin({"ACL", "LIST"});
  EXPECT_EQ(std::ranges::count(list, '~') - 1, kClients * kRules) << "none has written over another's";
}

// Tokens stand above users: whoever has one that may do everything is not locked out.
TEST_P(AclServerTest, ATokenIsAPasswordOfDefault) {
  HttpClient http(server_->address());
  const HttpAnswer made = http.Call("POST", "/tokens", {}, R"({"name":"operator","scopes":["admin"]})");
  ASSERT_EQ(made.status, 201) << made.body;
  const auto text_of = [](const std::string& body) { return body.substr(body.find("kv_"), 59); };
  const std::string token = text_of(made.body);
  RespClient client(server_->address());
  EXPECT_EQ(client.Call({"PING"}), kNoAuth) << "nopass is nothing where tokens are wanted";
  const HttpHeaders bearer = {{"Authorization", "Bearer " + token}};
  const HttpAnswer less =
      http.Call("POST", "/tokens", bearer, R"({"name":"app","scopes":["read,write","admin:namespace=x"]})");
  ASSERT_EQ(less.status, 201) << less.body;
  EXPECT_EQ(client.Call({"AUTH", "default", "x"}), kWrongPair);
  EXPECT_EQ(client.Call({"AUTH", text_of(less.body)}), kWrongPair);
  EXPECT_EQ(client.Call({"AUTH", token}), "OK");
  EXPECT_EQ(client.Call({"ACL", "LIST"}), R"(["user default on ~* &* +@all"])");
  EXPECT_EQ(client.Call({"ACL", "SETUSER", "ada", "on", ">secret", "+ping"}), "OK");
  EXPECT_EQ(client.Call({"AUTH", "ada", token}), kWrongPair) << "of nobody else";
  EXPECT_EQ(client.Call({"ACL", "SETUSER", "default", "reset"}), "OK");
  EXPECT_EQ(client.Call({"SET", "a", "x"}), "OK");
  EXPECT_EQ(client.Call({"AUTH", token}), "OK") << "nobody else may do anything any more";
  EXPECT_EQ(client.Call({"ACL", "SETUSER", "default", "on", ">pw", "+get", "~*"}), "OK");
  RespClient other(server_->address());
  EXPECT_EQ(other.Call({"AUTH", "pw"}), "OK");
  EXPECT_THAT(other.Call({"SET", "a", "y"}), HasSubstr("NOPERM"));
  // By HTTP only tokens count.
  const std::string commit = R"({"mutations":[{"op":"redis","command":["SET","a","z"]}]})";
  EXPECT_EQ(http.Call("POST", "/commit", {}, commit).status, 401);
  EXPECT_EQ(http.Call("POST", "/commit", {{"Authorization", "Bearer " + text_of(less.body)}}, commit).status, 403);
  EXPECT_EQ(http.Call("POST", "/commit", {{"Authorization", "Bearer pw"}}, commit).status, 401);
  EXPECT_EQ(client.Call({"GET", "a"}), "\"x\"");
}

TEST_P(AclServerTest, APasswordOfDefaultIsNoTokenForTheNetwork) {
  if (!GetParam().persistent || GetParam().shared) GTEST_SKIP() << "asked of one engine";
  EXPECT_EQ(Admin({"CONFIG", "SET", "requirepass", "open"}), "OK");
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait(), 0);
  const Words words = ServeCommand({"--engine", GetParam().name, "--redis-listen", "0.0.0.0:0"}, files_ / "data");
  const ProgramRun refused = RunProgram(words);
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("without tokens only loopback can be served"));
}

// Of servers on the same data each goes by what another has changed.
TEST_P(AclServerTest, ServersShareTheirUsers) {
  if (!GetParam().shared) GTEST_SKIP() << "there is one server on this engine";
  const auto second = MakeServer();
  RespClient there(second->address());
  SetUser({"ada", "on", ">secret", "~*", "+get"});
  EXPECT_TRUE(Eventually([&] { return there.Call({"AUTH", "ada", "secret"}) == "OK"; }));
  EXPECT_EQ(there.Call({"GET", "a"}), "(nil)");
  SetUser({"ada", "-get"});
  EXPECT_TRUE(Eventually([&] { return there.Call({"GET", "a"}).starts_with("(error)"); }));
  RespClient other(second->address());
  EXPECT_EQ(other.Call({"ACL", "SETUSER", "bob", "on", ">secret"}), "OK");
  EXPECT_TRUE(Eventually([&] { return RespClient(server_->address()).Call({"AUTH", "bob", "secret"}) == "OK"; }));
  EXPECT_EQ(Admin({"ACL", "DELUSER", "ada"}), "(integer) 1");
  EXPECT_TRUE(there.AtEnd()) << "soon, without asking for anything";
}

}  // namespace
}  // namespace kvarts::test
