// Connections that are broken off, by the client or by the server: nothing is carried out behind what was left out.
#include <gtest/gtest.h>

#include <string>

#include "redis/commands.h"
#include "support/eventually.h"
#include "support/resp_client.h"
#include "support/server_process.h"

namespace kvarts::test {
namespace {

std::string Words(const std::vector<std::string>& words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return bytes;
}

// Of a pipeline whose answers are too large to be gathered each command is run by itself, and meanwhile the client
// goes.
TEST(BrokenOffTest, APipelineIsCarriedOutUpToSomewhere) {
  constexpr int kCommands = 600;
  const ServerProcess server({"--engine", "memory"});
  RespClient client(server.address());
  ASSERT_EQ(client.Call({"SET", "large", std::string(1 << 20, 'x')}), "OK");
  {
    RespClient goes(server.address());
    std::string pipeline;
    for (int i = 0; i < kCommands; ++i)
      pipeline += Words({"GET", "large"}) + Words({"RPUSH", "list", std::to_string(i)});
    goes.SendRaw(pipeline);
    ASSERT_TRUE(Eventually([&] { return client.Call({"LLEN", "list"}) != "(integer) 0"; }));
  }
  // It is noticed when the server sends the next time.
  ASSERT_TRUE(Eventually([&] { return client.Call({"INFO", "clients"}).contains("connected_clients:1\\x0d"); }));
  const std::vector<std::string> items = ElementsOf(client.Call({"LRANGE", "list", "0", "-1"}));
  EXPECT_GT(items.size(), 0u);
  EXPECT_LT(items.size(), static_cast<size_t>(kCommands));
  for (size_t i = 0; i < items.size(); ++i) ASSERT_EQ(items[i], '"' + std::to_string(i) + '"');
}

TEST(BrokenOffTest, WhoAsksForTooMuchInATransactionLosesTheConnection) {
  constexpr int kCommands = 500;
  const ServerProcess server({"--engine", "memory", "--redis-max-held-bytes", "4MiB"});
  RespClient client(server.address());
  RespClient asks(server.address());
  std::string transaction = Words({"MULTI"});
  for (int i = 0; i < kCommands; ++i) transaction += Words({"COMMAND"});
  asks.SendRaw(transaction + Words({"EXEC"}));
  const auto read_all = [&] {
    for (int i = 0; i < kCommands + 2; ++i) asks.Read();
  };
  EXPECT_THROW(read_all(), std::runtime_error);
  EXPECT_EQ(client.Call({"PING"}), "PONG");
  // What it held is free again, once the server has done with it.
  EXPECT_TRUE(Eventually([&] { return client.Call({"SET", "a", std::string(2 << 20, 'x')}) == "OK"; }));
}

}  // namespace
}  // namespace kvarts::test
