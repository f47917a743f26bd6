// get, put, delete, incr, append, touch, scan and commit, through a server and on a directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "commands/served_store.h"

namespace kvarts::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;
using testing::StartsWith;

class Keys : public CommandsOnEveryWay {};
INSTANTIATE_TEST_SUITE_P(Ways, Keys, kEveryWay, &WayName);

// The version in what put and delete print.
std::string VersionIn(const std::string& line) {
  const size_t at = line.find("version ");
  return line.substr(at + 8, line.find('\n') - at - 8);
}

TEST_P(Keys, WhatIsPutIsThere) {
  EXPECT_THAT(Done({"put", "user:1", "Ada"}), MatchesRegex("put user:1, version [0-9]{19}\n"));
  EXPECT_EQ(Done({"get", "user:1"}), "Ada");
  EXPECT_THAT(Done({"get", "user:1", "--json"}),
              MatchesRegex(R"(\{"key":"user:1","value":"Ada","version":"[0-9]{19}","expiry":null\})"
                           "\n"));
  EXPECT_THAT(Done({"put", "user:1", "Grace", "--json"}), MatchesRegex(R"(\{"key":"user:1","version":"[0-9]{19}"\})"
                                                                       "\n"));
  EXPECT_EQ(Done({"get", "user:1", "--raw"}), "Grace");
}

TEST_P(Keys, AnyBytesAreAKeyAndAValue) {
  const std::string bytes("\x00\xff\r\n\x1b[2J", 8);
  Done({"put", "--hex", "00ff2e2e2f", "-"}, bytes);
  EXPECT_EQ(Done({"get", "\\x00\\xff../"}), bytes);
  const std::string json = Done({"get", "--base64", "AP8uLi8=", "--json"});
  EXPECT_TRUE(IsJson(json)) << json;
  EXPECT_THAT(json, AllOf(HasSubstr("\"key_base64\":\"AP8uLi8=\""), HasSubstr("\"value_base64\":")));
  for (const std::string key : {"..", ".", "a/../b", "/", "?", "#", "%41", "a b+c", "ünïcode", "\\x5c"}) {
    Done({"put", key, key + "!"});
    EXPECT_EQ(Done({"get", key}), key == "\\x5c" ? "\\!" : key + "!") << key;
  }
  EXPECT_EQ(Done({"scan", "\\x00"}), "\\x00\\xff../\t\\x00\\xff\\x0d\\x0a\\x1b[2J\n");
}

TEST_P(Keys, ValuesComeFromFilesAndMayBeLargeOrEmpty) {
  std::string large(3 << 20, 'x');
  large[5] = '\0';
  std::ofstream(temp_ / "value", std::ios::binary) << large;
  Done({"put", "large", "--file", temp_ / "value"});
  EXPECT_TRUE(Done({"get", "large"}) == large);
  Done({"put", "empty", ""});
  EXPECT_EQ(Done({"get", "empty"}), "");
  const Ran ran = Run({"put", "k", "--file", temp_ / "none"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, StartsWith("kvarts: the file cannot be read: "));
}

TEST_P(Keys, JsonAndTypedValuesKeepTheirKind) {
  Done({"put", "j", "--json-value", "{\"a\": [1, null]}"});
  EXPECT_THAT(Done({"get", "j", "--json"}), HasSubstr("\"value\":{\"a\":[1,null]}"));
  EXPECT_EQ(Done({"get", "j"}), "{\"a\":[1,null]}");
  Done({"put", "t", "png", "--type", "image/png", "--ttl", "1h"});
  EXPECT_THAT(Done({"get", "t", "--json"}), AllOf(HasSubstr("\"type\":\"image/png\""), HasSubstr("\"expiry\":\"2")));
}

TEST_P(Keys, WhatIsNotThereEndsWithFour) {
  Done({"put", "other", "x"});
  for (const std::vector<std::string>& words : {std::vector<std::string>{"get", "none"}, {"delete", "none"}}) {
    const Ran ran = Run(words);
    EXPECT_EQ(ran.code, 4);
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.err, StartsWith("kvarts: there is nothing under the key: none"));
  }
}

TEST_P(Keys, ErrorsAreToldToProgramsAsTheServerSentThem) {
  Done({"put", "a", "1"});
  const Ran missing = Run({"get", "none", "--json"});
  EXPECT_EQ(missing.code, 4);
  EXPECT_THAT(missing.out, IsEmpty());
  EXPECT_EQ(missing.err, R"({"type":"urn:kvarts:not_found","title":"Not Found","status":404,)"
                         R"("detail":"there is nothing under the key","key":"none"})"
                         "\n");
  const Ran held = Run({"put", "a", "2", "--if-absent", "--json"});
  EXPECT_EQ(held.code, 5);
  EXPECT_TRUE(IsJson(held.err)) << held.err;
  EXPECT_THAT(held.err, HasSubstr("urn:kvarts:precondition_failed"));
  const Ran local = RunKvarts({"get", "a", "--json", "--data", temp_ / "none"});
  EXPECT_EQ(local.code, 1);
  EXPECT_EQ(local.err, R"({"type":"urn:kvarts:unavailable","detail":"there is no data directory","path":")" +
                           temp_ / "none" + "\"}\n");
}

TEST_P(Keys, ConditionsThatDoNotHoldEndWithFive) {
  const std::string version = VersionIn(Done({"put", "k", "1", "--if-absent"}));
  EXPECT_EQ(Run({"put", "k", "2", "--if-absent"}).code, 5);
  const Ran refused = Run({"put", "k", "2", "--if-version", "17"});
  EXPECT_EQ(refused.code, 5);
  EXPECT_THAT(refused.err, HasSubstr(version));
  EXPECT_EQ(Done({"get", "k"}), "1");
  Done({"put", "k", "2", "--if-version", version});
  EXPECT_EQ(Run({"delete", "k", "--if-version", version}).code, 5);
  EXPECT_THAT(Done({"delete", "k"}), StartsWith("deleted k, version "));
}

TEST_P(Keys, ValuesLiveAsLongAsTheyWereGiven) {
  Done({"put", "k", "x", "--ttl", "1ms", "--durability", "none"});
  EXPECT_EQ(Run({"get", "k"}).code, 4);
  Done({"put", "k", "--json-value", "1", "--ttl", "2h"});
  EXPECT_THAT(Done({"get", "k", "--json"}), HasSubstr("\"expiry\":\"2"));
}

TEST_P(Keys, ScanGoesThroughAllPages) {
  std::string lines;
  for (int i = 0; i < 2500; ++i) {
    lines += "{\"key\":\"k:" + std::to_string(10'000 + i) + "\",\"value\":\"" + std::to_string(i) + "\"}\n";
  }
  Done({"import", "--durability", "none"}, lines);
  Done({"put", "other", "x"});
  for (const std::vector<std::string>& words : {std::vector<std::string>{"scan"}, {"scan", "--json"}}) {
    const Ran cut = Run(words);
    EXPECT_THAT(LinesOf(cut.out), SizeIs(100));
    EXPECT_EQ(cut.err, "kvarts: these are the first 100 keys, and there are more: --limit N or --all\n");
  }
  EXPECT_THAT(Run({"scan", "--limit", "7"}).err, IsEmpty());
  EXPECT_THAT(Run({"scan", "--all"}).err, IsEmpty());
  EXPECT_THAT(Run({"scan", "k:1000"}).err, IsEmpty());
  EXPECT_THAT(LinesOf(Done({"scan", "k:", "--all"})), SizeIs(2500));
  EXPECT_THAT(LinesOf(Done({"scan", "--all"})), SizeIs(2501));
  EXPECT_THAT(LinesOf(Done({"scan", "k:", "--limit", "1001"})), SizeIs(1001));
  EXPECT_THAT(LinesOf(Done({"scan", "k:", "--limit", "2", "--reverse"})),
              ElementsAre("k:12499\t2499", "k:12498\t2498"));
  EXPECT_THAT(LinesOf(Done({"scan", "--start", "k:11000", "--end", "k:11002", "--keys-only"})),
              ElementsAre("k:11000", "k:11001"));
  EXPECT_THAT(Done({"scan", "none"}), IsEmpty());
  const std::vector<std::string> json = LinesOf(Done({"scan", "k:1000", "--json", "--limit", "3"}));
  ASSERT_THAT(json, SizeIs(3));
  for (const std::string& line : json) EXPECT_TRUE(IsJson(line)) << line;
}

TEST_P(Keys, ScanCounts) {
  std::string lines;
  for (int i = 0; i < 250; ++i) lines += "{\"key\":\"k:" + std::to_string(1000 + i) + "\",\"value\":\"x\"}\n";
  Done({"import", "--durability", "none"}, lines);
  Done({"put", "other", "x"});
  EXPECT_EQ(Done({"scan", "--count", "exact"}), "251\n");
  EXPECT_EQ(Done({"scan", "k:", "--count", "exact"}), "250\n");
  EXPECT_EQ(Done({"scan", "--start", "k:1010", "--end", "k:1020", "--count", "exact", "--json"}),
            "{\"count\":10,\"exact\":true}\n");
  EXPECT_THAT(Done({"scan", "--count", "estimate"}), MatchesRegex("[0-9]+\n"));
  EXPECT_EQ(Run({"scan", "--count", "exact", "--all"}).code, 2);
  EXPECT_EQ(Run({"scan", "--count", "about"}).code, 2);
}

TEST_P(Keys, NumbersAreAddedTo) {
  EXPECT_EQ(Done({"incr", "n"}), "1\n");
  EXPECT_EQ(Done({"incr", "n", "41"}), "42\n");
  EXPECT_EQ(Done({"incr", "n", "-50"}), "-8\n");
  EXPECT_THAT(Done({"incr", "n", "8", "--ttl", "1h", "--json"}),
              AllOf(HasSubstr("\"value\":0"), HasSubstr("\"expiry\":\"2")));
  Done({"put", "digits", "7"});
  EXPECT_EQ(Done({"incr", "--hex", "646967697473", "3"}), "10\n") << "the number is no hex";
  Done({"put", "text", "x"});
  EXPECT_EQ(Run({"incr", "text"}).code, 1);
}

TEST_P(Keys, BytesAreAppended) {
  EXPECT_THAT(Done({"append", "k", "one "}), MatchesRegex("appended to k, version [0-9]{19}\n"));
  Done({"append", "k", "-"}, std::string("\x00\xff", 2));
  EXPECT_TRUE(IsJson(Done({"append", "k", "two", "--json"})));
  EXPECT_EQ(Done({"get", "k"}), std::string("one \x00\xfftwo", 9));
}

TEST_P(Keys, TouchingChangesTheLifetimeAlone) {
  Done({"put", "k", "x"});
  EXPECT_THAT(Done({"touch", "k", "2h"}), MatchesRegex("touched k, version [0-9]{19}\n"));
  EXPECT_THAT(Done({"get", "k", "--json"}), AllOf(HasSubstr("\"value\":\"x\""), HasSubstr("\"expiry\":\"2")));
  EXPECT_TRUE(IsJson(Done({"touch", "k", "never", "--json"})));
  EXPECT_THAT(Done({"get", "k", "--json"}), HasSubstr("\"expiry\":null"));
  EXPECT_EQ(Run({"touch", "none", "1h"}).code, 4);
}

TEST_P(Keys, DeletesRangesThatAreNamed) {
  for (const std::string key : {"a:1", "a:2", "b:1", "b:2", "c"}) Done({"put", key, "x"});
  EXPECT_THAT(Done({"delete", "--prefix", "a:"}), StartsWith("deleted what begins with a:, version "));
  EXPECT_TRUE(IsJson(Done({"delete", "--start", "b:2", "--end", "c", "--json"})));
  EXPECT_EQ(Done({"scan", "--keys-only"}), "b:1\nc\n");
}

TEST_P(Keys, CommitIsAllOrNothing) {
  EXPECT_THAT(
      Done({"commit"}, R"({"mutations":[{"op":"put","key":"a","value":"1"},{"op":"increment","key":"n","by":5}]})"),
      MatchesRegex("committed 2 changes, version [0-9]{19}\n  2: 5\n"));
  const std::string body = R"({"preconditions":[{"key":"a","absent":true}],"mutations":[{"op":"delete","key":"n"}]})";
  std::ofstream(temp_ / "body") << body;
  const Ran refused = Run({"commit", temp_ / "body"});
  EXPECT_EQ(refused.code, 5);
  EXPECT_EQ(Done({"get", "n"}), "5");
  EXPECT_TRUE(IsJson(Done({"commit", "--json"}, R"({"mutations":[{"op":"delete","key":"n"}]})")));
  const Ran broken = Run({"commit"}, R"({"mutations":[{"op":"put","kye":"a"}]})");
  EXPECT_EQ(broken.code, 1);
  EXPECT_THAT(broken.err, HasSubstr("mutations[0].kye"));
}

TEST_P(Keys, OnATerminalValuesComeWithWhatIsKnownAboutThem) {
  Done({"put", "k", "one\\x0atwo \\x1b[31m"});
  OnTerminal get(Words({"get", "k"}));
  EXPECT_THAT(get.Await("version "), HasSubstr("one\ntwo \\x1b[31m\nversion "));
  EXPECT_EQ(get.Wait(), 0);
  OnTerminal scan(Words({"scan"}));
  EXPECT_THAT(scan.Await("1 key"), HasSubstr("k  one\\x0atwo \\x1b[31m  version "));
  EXPECT_EQ(scan.Wait(), 0);
}

TEST_P(Keys, LeavesAStoreThatIsWhole) {
  Done({"put", "k", "x"});
  server_.reset();
  const Ran check = GetParam() == Way::kShards ? Run({"check"}) : RunKvarts({"check", data_});
  EXPECT_EQ(check.code, 0) << check.out << check.err;
  EXPECT_EQ(Run({"get", "k"}).out, "x");
}

TEST(KeysUsage, RefusesWhatMakesNoSense) {
  const std::vector<std::vector<std::string>> nonsense = {
      {"get"},
      {"get", "a", "b"},
      {"get", "\\xz"},
      {"get", "a", "--raw", "--json"},
      {"put", "k"},
      {"put", "k", "v", "--file", "f"},
      {"put", "k", "--json-value", "{"},
      {"put", "k", "v", "--ttl", "0"},
      {"put", "k", "v", "--if-absent", "--if-version", "1"},
      {"put", "k", "v", "--if-version", "x"},
      {"put", "k", "v", "--type", "application/json"},
      {"delete"},
      {"delete", "k", "--prefix", "k"},
      {"delete", "--prefix", ""},
      {"delete", "--start", "a"},
      {"delete", "--prefix", "a", "--if-version", "1"},
      {"incr", "k", "many"},
      {"incr", "k", "9223372036854775808"},
      {"append", "k"},
      {"touch", "k"},
      {"touch", "k", "soon"},
      {"touch", "k", "0"},
      {"scan", "a", "--start", "b"},
      {"scan", "--all", "--limit", "3"},
      {"compact"},
      {"compact", "a", "--all"},
      {"token"},
      {"token", "craete"},
      {"token", "create", "x"},
      {"token", "create", "x", "--scope", "rread"},
      {"namespace", "declare", "x"},
      {"namespace", "declare", "x", "g", "--keep", "1d"},
      {"namespace", "move", "x"},
      {"job", "wait"},
  };
  for (const auto& words : nonsense) {
    const Ran ran = RunKvarts(words);
    EXPECT_EQ(ran.code, 2) << testing::PrintToString(words) << ran.err;
    EXPECT_THAT(ran.out, IsEmpty());
  }
  EXPECT_THAT(
      RunKvarts({"token", "craete"}).err,
      AllOf(HasSubstr("there is no such command: craete; did you mean create?"), HasSubstr("`kvarts help token`")));
  EXPECT_THAT(RunKvarts({"token", "create"}).err, HasSubstr("`kvarts help token create`"));
}

TEST(KeysUsage, SaysWhatToDoWhenThereIsNoServer) {
  const TempDir dir;
  const Ran ran = RunKvarts({"get", "k", "--server", "unix:" + dir / "none"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err,
              AllOf(StartsWith("kvarts: the server cannot be reached; is it running? `kvarts serve` starts one"),
                    HasSubstr(dir / "none")));
  const Ran wrong = RunKvarts({"get", "k", "--server", "localhost:7700"});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("a server is named by http://HOST:PORT"));
}

TEST(KeysUsage, FindsAServerByItsAddress) {
  const ServerProcess server({"--engine", "memory"});
  const std::string url = "http://" + server.address();
  EXPECT_EQ(RunKvarts({"put", "k", "v", "--server", url + "/"}).code, 0);
  EXPECT_EQ(RunKvarts({"get", "k", "--server", url}).out, "v");
  EXPECT_THAT(RunKvarts({"get", "k", "--server", "https://" + server.address()}).err, HasSubstr("TLS"));
}

TEST(KeysUsage, CountsGoOnWhereTheServerStopped) {
  const ServerProcess server({"--engine", "memory", "--scan-max-count", "100"});
  const std::string url = "http://" + server.address();
  std::string lines;
  for (int i = 0; i < 250; ++i) lines += "{\"key\":\"k:" + std::to_string(1000 + i) + "\",\"value\":\"x\"}\n";
  ASSERT_EQ(RunKvarts({"import", "--server", url}, lines).code, 0);
  EXPECT_EQ(RunKvarts({"scan", "k:", "--count", "exact", "--server", url}).out, "250\n");
}

TEST(KeysUsage, OnlyWhatWritesMakesADirectory) {
  const TempDir dir;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"get", "k"}, {"scan"}, {"export"}, {"delete", "k"}}) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--data", dir / "none"});
    const Ran ran = RunKvarts(all);
    EXPECT_EQ(ran.code, 1);
    EXPECT_EQ(ran.err, "kvarts: there is no data directory: " + dir / "none" + "\n");
  }
  EXPECT_FALSE(std::filesystem::exists(dir / "none"));
  EXPECT_EQ(RunKvarts({"put", "k", "v", "--data", dir / "none"}).code, 0);
  const ServerProcess server({"--data", dir / "none"});
  const Ran busy = RunKvarts({"get", "k", "--data", dir / "none"});
  EXPECT_EQ(busy.code, 1) << "a directory that is served was opened a second time";
}

}  // namespace
}  // namespace kvarts::test
