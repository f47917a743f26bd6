// CLIENT REPLY: which answers are left out, byte by byte as beside redis-server.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redis/redis_server.h"
#include "support/resp_client.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

// All that is answered to lines of words, up to the answer of a last one that is not left out.
std::vector<std::string> Answers(const std::string& address, const std::vector<std::string>& lines) {
  RespClient client(address);
  std::string bytes;
  for (const std::string& line : lines) bytes += line + "\r\n";
  client.SendRaw(bytes + "RESET\r\nPING end\r\n");
  std::vector<std::string> answers;
  do {
    answers.push_back(client.Read());
  } while (answers.back() != "\"end\"");
  return answers;
}

TEST(SilenceTest, IsThatOfRedis) {
  const ServerProcess ours({"--engine", "memory"});
  const RedisServer theirs;
  const std::vector<std::vector<std::string>> stories = {
      {"CLIENT REPLY OFF", "SET a 1", "GET a", "NONE", "CLIENT REPLY ON", "GET a"},
      {"CLIENT REPLY OFF", "MULTI", "SET a 2", "GET a", "EXEC", "CLIENT REPLY ON", "GET a"},
      {"CLIENT REPLY SKIP", "SET a 3", "GET a"},
      {"CLIENT REPLY SKIP", "CLIENT REPLY ON", "GET a"},
      {"CLIENT REPLY SKIP", "", "GET a"},
      {"CLIENT REPLY SKIP", "NONE", "GET a"},
      {"CLIENT REPLY SKIP", "CLIENT REPLY SKIP", "GET a", "GET a"},
      {"CLIENT REPLY OFF", "CLIENT REPLY SKIP", "GET a", "RESET", "GET a"},
      {"CLIENT REPLY OFF", "BLPOP none 0.01", "LPUSH l 1", "BLPOP l 1"},
      {"CLIENT REPLY OFF", "MULTI", "NONE", "EXEC", "CLIENT REPLY ON", "GET a"},
  };
  for (const auto& story : stories) {
    std::string told;
    for (const std::string& line : story) told += line + "; ";
    EXPECT_EQ(Answers(ours.address(), story), Answers(theirs.address(), story)) << told;
  }
}

}  // namespace
}  // namespace kvarts::test
