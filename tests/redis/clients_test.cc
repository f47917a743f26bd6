// Clients that others wrote: redis-cli, redis-py, ioredis and node-redis. Each runs a script of everyday use against
// redis-server and against Kvarts, and what it prints is the same.
//
// The clients of Node.js lie in the build's folder (tools/clients). Scripts are in parts, one for each family of
// commands, and those are run that Kvarts knows.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "redis/redis_server.h"
#include "support/files.h"
#include "support/on_every_engine.h"
#include "support/programs.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

constexpr const char* kScripts = KVARTS_SOURCE_DIR "/tests/redis/clients/";
constexpr const char* kPackages = KVARTS_SOURCE_DIR "/build/clients/node_modules";

// A family of commands, and one of them that shows whether it is there.
struct Family {
  const char* name;
  std::vector<std::string> command;
};
const std::vector<Family>& Families() {
  static const std::vector<Family> families = {
      {"strings", {"GET", "x"}},         {"hashes", {"HGET", "x", "x"}},           {"sets", {"SCARD", "x"}},
      {"lists", {"LLEN", "x"}},          {"sorted-sets", {"ZCARD", "x"}},          {"blocking", {"BLPOP", "x", "0.01"}},
      {"pubsub", {"PUBLISH", "x", "x"}}, {"tracking", {"CLIENT", "TRACKINGINFO"}}, {"acl", {"ACL", "WHOAMI"}},
  };
  return families;
}

class ClientsTest : public OnEngineTest {
 protected:
  void SetUp() override {
    ours_ =
        std::make_unique<ServerProcess>(std::vector<std::string>{"--engine", GetParam().name, "--durability", "none"});
    theirs_ = std::make_unique<RedisServer>();
    RespClient us(ours_->address());
    for (const Family& family : Families()) {
      // Where other processes write, more is invalidated than has changed.
      if (GetParam().shared && std::string_view(family.name) == "tracking") continue;
      if (us.Call(family.command).find("nknown") == std::string::npos) families_.emplace_back(family.name);
    }
  }

  // What is printed by a program of these words, which are followed by where the server is and the families.
  static std::string Output(std::vector<std::string> words, const std::string& address,
                            const std::vector<std::string>& families) {
    const size_t colon = address.rfind(':');
    words.insert(words.end(), {address.substr(0, colon), address.substr(colon + 1)});
    words.insert(words.end(), families.begin(), families.end());
    const ProgramRun run = RunProgram(words);
    EXPECT_EQ(run.code, 0) << words[0] << ": " << run.err;
    return run.out;
  }
  void Compare(const std::vector<std::string>& words) {
    const std::string theirs = Output(words, theirs_->address(), families_);
    EXPECT_GT(theirs.size(), 500U) << theirs;
    EXPECT_EQ(Output(words, ours_->address(), families_), theirs);
  }
  void CompareNode(const std::string& script, const char* version) {
    ASSERT_TRUE(Installed("node")) << "tools/install test";
    ASSERT_EQ(RunProgram({"test", "-d", kPackages}).code, 0) << "tools/clients";
    Compare({"env", std::string("NODE_PATH=") + kPackages, std::string("KVARTS_RESP=") + version, "node",
             kScripts + script});
  }

  // The commands of redis-cli that belong to these families.
  std::string Commands() const {
    std::istringstream all(ReadBytes(std::string(kScripts) + "commands.txt"));
    std::string commands;
    bool wanted = false;
    for (std::string line; std::getline(all, line);) {
      if (line.starts_with('#')) continue;
      if (line.starts_with('@')) {
        wanted = std::ranges::find(families_, line.substr(1)) != families_.end();
      } else if (wanted) {
        commands += line + "\n";
      }
    }
    return commands;
  }
  static std::string CliOutput(const std::string& address, const std::string& version, const std::string& commands) {
    const std::string port = address.substr(address.rfind(':') + 1);
    return RunProgram({"redis-cli", "-p", port, version}, commands).out;
  }

  std::unique_ptr<ServerProcess> ours_;
  std::unique_ptr<RedisServer> theirs_;
  std::vector<std::string> families_;
};
KVARTS_ON_EVERY_ENGINE(ClientsTest);

TEST_P(ClientsTest, RedisCliPrintsTheSame) {
  const std::string commands = Commands();
  for (const char* version : {"-2", "-3"}) {
    const std::string theirs = CliOutput(theirs_->address(), version, commands);
    EXPECT_GT(theirs.size(), 500U);
    EXPECT_EQ(CliOutput(ours_->address(), version, commands), theirs) << version;
  }
}

// Debian's own python has the package.
TEST_P(ClientsTest, RedisPyPrintsTheSame) { Compare({"/usr/bin/python3", std::string(kScripts) + "redis_py.py"}); }

TEST_P(ClientsTest, IoredisPrintsTheSame) { CompareNode("ioredis.js", "2"); }

TEST_P(ClientsTest, NodeRedisPrintsTheSame) {
  CompareNode("node_redis.js", "2");
  CompareNode("node_redis.js", "3");
}

}  // namespace
}  // namespace kvarts::test
