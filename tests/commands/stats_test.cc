// kvarts stats of a running server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "commands/kvarts_process.h"
#include "support/observed_server.h"

namespace kvarts::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class ServerStats : public testing::Test {
 protected:
  ServerStats() {
    for (int i = 0; i < 20; ++i) server_.Put("user:hot");
    server_.Put("user:cold");
  }
  std::string url() { return "http://" + server_.server().addresses().at(0); }
  Ran Stats(std::vector<std::string> options) {
    options.insert(options.begin(), {"stats", "--server", url()});
    return RunKvarts(options);
  }

  ObservedServer server_;
};

TEST_F(ServerStats, AreShownAsTables) {
  const Ran ran = Stats({});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(StartsWith("Kvarts " KVARTS_VERSION " on memory, up "), HasSubstr("commit"),
                             HasSubstr("amplified"), HasSubstr("user:hot")));
}

TEST_F(ServerStats, AreOneJsonObject) {
  const Ran ran = Stats({"--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(IsJson(ran.out)) << ran.out;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("\"write_amplification\":"), HasSubstr("\"server\":{\"version\":")));
}

TEST_F(ServerStats, HotKeysAreNamed) {
  const Ran ran = Stats({"--hot"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, testing::ContainsRegex("keys +reads +writes +bytes\nuser:hot "));
  const Ran json = Stats({"--hot", "--by", "writes", "--json"});
  EXPECT_THAT(json.out, StartsWith("{\"keys\":[{\"key\":\"user:hot\""));
}

TEST_F(ServerStats, AreWatchedOnATerminalUntilCtrlC) {
  OnTerminal terminal({"stats", "--server", url(), "--watch", "--interval", "100ms"});
  terminal.Await("Ctrl-C ends");
  server_.Put("user:new");
  terminal.Await("user:new");
  terminal.Type("\x03");
  EXPECT_EQ(terminal.Wait(), 0);
}

TEST_F(ServerStats, CommandLinesThatMakeNoSense) {
  EXPECT_EQ(RunKvarts({"stats", "dir", "--watch"}).code, 2);
  EXPECT_EQ(RunKvarts({"stats", "dir", "--hot"}).code, 2);
  EXPECT_EQ(RunKvarts({"stats", "dir", "--server", "http://127.0.0.1:1"}).code, 2);
  EXPECT_EQ(RunKvarts({"stats", "--interval", "1s"}).code, 2);
  EXPECT_EQ(RunKvarts({"stats", "--hot", "--by", "size"}).code, 2);
  EXPECT_EQ(RunKvarts({"stats", "--watch", "--hot"}).code, 2);
}

TEST_F(ServerStats, AServerThatIsNotThere) {
  const Ran gone = RunKvarts({"stats", "--server", "http://127.0.0.1:1"});
  EXPECT_EQ(gone.code, 1);
  EXPECT_THAT(gone.err, HasSubstr("the server cannot be reached"));
  EXPECT_EQ(RunKvarts({"stats", "--server", "7700"}).code, 1);
}

}  // namespace
}  // namespace kvarts::test
