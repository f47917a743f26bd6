// --shards: commands on the database of servers that may be running, and files that name no database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "commands/kvarts_process.h"
#include "support/eventually.h"
#include "support/http_client.h"
#include "support/postgres_database.h"
#include "support/server_process.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class Shards : public testing::Test {
 protected:
  void SetUp() override {
    if (!PostgresDatabase::Missing().empty()) GTEST_SKIP() << PostgresDatabase::Missing();
    database_ = std::make_unique<PostgresDatabase>(PostgresDatabase::Holding::kNothing);
    std::ofstream(file_) << "[shard.0]\nservers = [\"" << database_->target() << "\"]\n";
  }

  Ran Run(std::vector<std::string> words) const {
    words.insert(words.end(), {"--shards", file_});
    return RunKvarts(words);
  }
  std::string MakeToken(const std::string& name, const std::string& scope) const {
    const Ran made = Run({"token", "create", name, "--scope", scope});
    EXPECT_EQ(made.code, 0) << made.err;
    return made.out.substr(0, made.out.find('\n'));
  }
  static std::string IdOf(const std::string& token) { return token.substr(3, 12); }
  std::unique_ptr<ServerProcess> Serve() const {
    return std::make_unique<ServerProcess>(std::vector<std::string>{"--engine", "postgres", "--shards", file_});
  }
  // What a server answers to who shows this token, or none.
  static int StatusOf(const ServerProcess& server, const std::string& token) {
    const HttpHeaders headers = {{"Authorization", "Bearer " + token}};
    return HttpClient(server.address()).Call("GET", "/keys", token.empty() ? HttpHeaders() : headers).status;
  }
  std::string Ask(const std::string& sql) const { return database_->Ask(sql); }

  const TempDir temp_;
  const std::string file_ = temp_ / "shards.toml";
  std::unique_ptr<PostgresDatabase> database_;
};

TEST_F(Shards, TheFirstTokenIsThereBeforeTheFirstServer) {
  const std::string token = MakeToken("root", "admin");
  const auto server = Serve();
  EXPECT_EQ(StatusOf(*server, token), 200);
  EXPECT_EQ(StatusOf(*server, ""), 401);
}

TEST_F(Shards, RunningServersKnowWhatACommandDoesToTokens) {
  const auto one = Serve();
  const auto other = Serve();
  const auto both_answer = [&](const std::string& token, int status) {
    return Eventually([&] { return StatusOf(*one, token) == status && StatusOf(*other, token) == status; });
  };
  EXPECT_TRUE(both_answer("", 200)) << "there is no token yet";
  const std::string root = MakeToken("root", "admin");
  const std::string web = MakeToken("web", "read");
  EXPECT_TRUE(both_answer(root, 200));
  EXPECT_TRUE(both_answer(web, 200));
  EXPECT_TRUE(both_answer("", 401)) << "from the first token on everybody needs one";
  EXPECT_TRUE(both_answer("kv_" + IdOf(root) + "_" + std::string(43, 'x'), 401));

  EXPECT_EQ(Run({"token", "disable", IdOf(web)}).code, 0);
  EXPECT_TRUE(both_answer(web, 401));
  EXPECT_EQ(Run({"token", "enable", IdOf(web)}).code, 0);
  EXPECT_TRUE(both_answer(web, 200));
  EXPECT_EQ(Run({"token", "revoke", IdOf(web)}).code, 0);
  EXPECT_TRUE(both_answer(web, 401));
  EXPECT_EQ(StatusOf(*one, root), 200) << "the other one stays";
  EXPECT_THAT(LinesOf(Run({"token", "list"}).out), SizeIs(2));
}

TEST_F(Shards, ServersAndCommandsSeeTheSameKeys) {
  EXPECT_EQ(Run({"put", "a", "from the command"}).code, 0);
  const auto server = Serve();
  const HttpHeaders raw = {{"Accept", "application/octet-stream"}};
  EXPECT_EQ(HttpClient(server->address()).Call("GET", "/keys/a", raw).body, "from the command");
  EXPECT_EQ(HttpClient(server->address()).Call("PUT", "/keys/b", {}, "from the server").status, 200);
  EXPECT_EQ(Run({"get", "b"}).out, "from the server");
}

TEST_F(Shards, NothingIsMadeByWhatReads) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"token", "list"}, {"get", "a"}, {"export"}, {"check"}, {"dump"}, {"stats"}}) {
    const Ran ran = Run(words);
    EXPECT_EQ(ran.code, 1) << words.front();
    EXPECT_EQ(ran.err, "kvarts: there is no store in the database: " + file_ + "\n") << words.front();
  }
  EXPECT_EQ(Ask("SELECT count(*) FROM pg_namespace WHERE nspname = 'kvarts'"), "0");
  EXPECT_EQ(Run({"put", "a", "x"}).code, 0);
  EXPECT_EQ(Run({"get", "a"}).out, "x");
}

TEST_F(Shards, AreDumpedAndCheckedBesideAServer) {
  const auto server = Serve();
  std::atomic<int> rounds = 0;
  std::jthread writer([&](const std::stop_token& stop) {
    HttpClient client(server->address());
    for (; !stop.stop_requested(); ++rounds) {
      for (int i = 0; i < 20; ++i) client.Call("PUT", "/keys/k" + std::to_string(i), {}, "x");
    }
  });
  EXPECT_TRUE(Eventually([&] { return rounds > 0; }));
  for (int i = 0; i < 10; ++i) {
    const Ran beside = Run({"check"});
    EXPECT_EQ(beside.code, 0) << beside.out << beside.err;
  }
  writer = {};
  const Ran dump = Run({"dump", "--prefix", "k1", "--json", "--values"});
  EXPECT_THAT(LinesOf(dump.out), SizeIs(11)) << dump.err;
  EXPECT_THAT(dump.out, AllOf(HasSubstr(R"("key":"k11")"), HasSubstr(R"("value":"x")")));
  const Ran check = Run({"check"});
  EXPECT_THAT(check.out, AllOf(StartsWith("Checking " + file_ + "\n"), HasSubstr("  keys "), HasSubstr("20 entries"),
                               Not(HasSubstr("  files "))));
  const Ran json = Run({"check", "--json"});
  EXPECT_TRUE(IsJson(json.out)) << json.out;
  // A version that nobody was given.
  Ask("UPDATE kvarts.entry SET version = version + (1::bigint << 45) WHERE ctid IN "
      "(SELECT ctid FROM kvarts.entry WHERE value = 'x'::bytea LIMIT 1)");
  const Ran found = Run({"check"});
  EXPECT_EQ(found.code, 3);
  EXPECT_THAT(found.out, AllOf(HasSubstr("was never issued"), HasSubstr("1 finding")));
}

TEST_F(Shards, OfAForeignSchemaAreLeftAlone) {
  Ask("CREATE SCHEMA kvarts");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"token", "create", "a", "--scope", "admin"}, {"token", "list"}, {"check"}}) {
    const Ran ran = Run(words);
    EXPECT_EQ(ran.code, 1) << words.front();
    EXPECT_THAT(ran.err, HasSubstr("the schema kvarts of the database is not one of ours")) << words.front();
  }
}

// Files that need no server to be wrong.
TEST(ShardsFile, ThatNamesNoDatabaseIsRefused) {
  const TempDir temp;
  const auto refusal = [&](const std::string& text) {
    std::ofstream(temp / "shards.toml") << text;
    const Ran ran = RunKvarts({"token", "create", "a", "--scope", "admin", "--shards", temp / "shards.toml"});
    EXPECT_EQ(ran.code, 1) << text;
    EXPECT_THAT(ran.out, IsEmpty());
    return ran.err;
  };
  EXPECT_THAT(refusal(""), HasSubstr("there is no shard in the file: " + temp / "shards.toml"));
  EXPECT_THAT(refusal("[shard.0]\nservers = [\"host=a\"]\n[shard.1]\nservers = [\"host=b\"]\n"),
              HasSubstr("the postgres engine takes one shard: " + temp / "shards.toml"));
  EXPECT_THAT(refusal("engine = 1\n"), HasSubstr("a file of shards has sections"));
  EXPECT_THAT(refusal("\n[shard.0\n"),
              AllOf(HasSubstr("the file of shards is not TOML: " + temp / "shards.toml"), HasSubstr("line 2")));
  EXPECT_THAT(refusal("[shard.0]\nservers = [\"host=127.0.0.1\", \"secret\"]\n"),
              AllOf(HasSubstr("libpq cannot read how to reach a server"), HasSubstr("the 2. of the list"),
                    HasSubstr("in connection info string")));
  // Nobody listens at this port.
  EXPECT_THAT(refusal("[shard.0]\nservers = [\"host=127.0.0.1 port=1 dbname=x connect_timeout=1\"]\n"),
              HasSubstr("Connection refused"));
  const Ran none = RunKvarts({"get", "a", "--shards", temp / "none"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr(temp / "none"));
  const Ran both = RunKvarts({"token", "list", "--data", temp / "data", "--shards", temp / "shards.toml"});
  EXPECT_EQ(both.code, 1);
  EXPECT_EQ(both.err, "kvarts: --data and --shards exclude each other\n");
}

}  // namespace
}  // namespace kvarts::test
