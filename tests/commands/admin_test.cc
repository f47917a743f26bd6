// watch, compact, explain, namespace, token and job, through a server, on a directory and on PostgreSQL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <thread>

#include "commands/served_store.h"

namespace kvarts::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

class Admin : public CommandsOnEveryWay {
 protected:
  // The first word of the last line.
  static std::string FirstWord(const std::string& text) {
    const std::vector<std::string> lines = LinesOf(text);
    return lines.empty() ? "" : lines.back().substr(0, lines.back().find(' '));
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, Admin, kEveryWay, &WayName);

TEST_P(Admin, NamespacesAreDeclaredShownAndDropped) {
  EXPECT_EQ(Done({"namespace", "declare", "cases", "t/<tenant>/case/<id:int(2)>", "--max-value-bytes", "1KiB",
                  "--default-ttl", "1h", "--envelope-type", "case", "--min-schema", "2", "--feed"}),
            "declared cases\n");
  EXPECT_THAT(LinesOf(Done({"namespace", "list"})),
              ElementsAre(MatchesRegex("name +grammar +profile +feed"),
                          MatchesRegex("cases +t/<tenant>/case/<id:int.2.> .*true")));
  EXPECT_THAT(Done({"namespace", "show", "cases"}),
              AllOf(ContainsRegex("max_value_bytes +1024\n"), ContainsRegex("default_ttl +3600\n"),
                    HasSubstr("\"types\":[\"case\"],\"min_schema\":2")));
  const std::string json = Done({"namespace", "show", "cases", "--json"});
  EXPECT_TRUE(IsJson(json)) << json;
  EXPECT_EQ(Run({"namespace", "show", "none"}).code, 4);
  EXPECT_THAT(Done({"explain", "t/acme/case/17"}), HasSubstr("cases"));
  EXPECT_THAT(Done({"explain", "t/acme/nonsense", "--json"}), HasSubstr("\"verdict\":\"refused\""));
  const Ran refused = Run({"put", "t/acme/nonsense", "x"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(Done({"namespace", "drop", "cases"}), "done\n");
  EXPECT_EQ(Run({"namespace", "drop", "cases"}).code, 4);
}

TEST_P(Admin, NamespacesComeFromAFile) {
  std::ofstream(temp_ / "ns.json") << R"({"grammar":"e/<day:date>/<id>","retention":{"field":"day","keep":86400}})";
  Done({"namespace", "declare", "events", "--file", temp_ / "ns.json"});
  EXPECT_THAT(Done({"namespace", "show", "events"}), ContainsRegex("retention +\\{\"field\":\"day\",\"keep\":86400"));
}

TEST_P(Admin, KeysAreMovedByAJobThatIsWaitedFor) {
  for (int i = 0; i < 5; ++i) Done({"put", "old/" + std::to_string(i), "x"});
  Done({"namespace", "declare", "fresh", "new/<id:int(1)>"});
  EXPECT_THAT(Done({"namespace", "move", "fresh", "--from", "old/", "--to", "new/", "--wait"}),
              MatchesRegex("job [-0-9a-f]{36} is done\n"));
  EXPECT_THAT(LinesOf(Done({"scan", "new/"})), SizeIs(5));
  EXPECT_THAT(Done({"scan", "old/"}), IsEmpty());
  const std::string jobs = Done({"job", "list"});
  const std::string id = FirstWord(jobs);
  EXPECT_THAT(Done({"job", "show", id}), ContainsRegex("state +done\n"));
  EXPECT_TRUE(IsJson(Done({"job", "list", "--json"})));
  EXPECT_THAT(Done({"job", "wait", id, "--json"}), HasSubstr("\"state\":\"done\""));
  EXPECT_EQ(Run({"job", "show", "00000000-0000-7000-8000-000000000000"}).code, 4);
  EXPECT_EQ(Run({"job", "pause", id}).code != 0, true) << "a job that is done was paused";
}

TEST_P(Admin, ErasingANamespaceIsAJobToo) {
  Done({"namespace", "declare", "gone", "g/<id>"});
  Done({"put", "g/1", "x"});
  EXPECT_NE(Run({"namespace", "drop", "gone"}).code, 0);
  Done({"namespace", "drop", "gone", "--erase", "--wait"});
  EXPECT_THAT(Done({"scan", "--keys-only"}), IsEmpty());
  EXPECT_EQ(Run({"namespace", "show", "gone"}).code, 4);
}

TEST_P(Admin, CompactsWhatItIsTold) {
  Done({"put", "a", "x"});
  EXPECT_THAT(Done({"compact", "a"}), StartsWith("compacted in "));
  EXPECT_THAT(Done({"compact", "--start", "a", "--end", "b"}), StartsWith("compacted in "));
  EXPECT_TRUE(IsJson(Done({"compact", "--all", "--json"})));
}

TEST_P(Admin, TokensAreMadeListedAndTakenBack) {
  const Ran created = Run({"token", "create", "root", "--scope", "admin"});
  EXPECT_THAT(created.out, MatchesRegex("kv_[0-9a-z]{12}_.{43}\n")) << "the secret and nothing else";
  const std::string root = LinesOf(created.out).front();
  EXPECT_EQ(created.err, "kvarts: the token has the id " + root.substr(3, 12) + " and is not shown again\n");
  if (server_) {
    const Ran refused = Run({"scan"});
    EXPECT_EQ(refused.code, 1) << "without a token, though there is one";
    EXPECT_EQ(refused.err, "kvarts: a token is needed: --token, --token-file or KVARTS_TOKEN\n");
    EXPECT_EQ(Run({"scan", "--token", "kv_x"}).err, "kvarts: the token is not valid\n");
  }
  const auto as_root = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--token", root});
    return Done(words);
  };
  std::ofstream(temp_ / "token") << Run({"token", "create", "web", "--scope", "read:prefix=user:", "--ttl", "1d",
                                         "--rate", "1000", "--token", root})
                                        .out;
  const std::string list = as_root({"token", "list"});
  EXPECT_THAT(LinesOf(list), SizeIs(3));
  EXPECT_THAT(list, Not(HasSubstr("kv_")));
  const std::string json = as_root({"token", "list", "--json"});
  EXPECT_TRUE(IsJson(json)) << json;
  std::string id;
  for (const std::string& line : LinesOf(list)) {
    if (line.find("web") != std::string::npos) id = line.substr(0, line.find(' '));
  }
  EXPECT_EQ(as_root({"token", "disable", id}), "disabled token " + id + "\n");
  if (server_) {
    EXPECT_EQ(Run({"scan", "user:", "--token-file", temp_ / "token"}).code, 1);
  }
  EXPECT_EQ(as_root({"token", "enable", id}), "enabled token " + id + "\n");
  EXPECT_EQ(Run({"scan", "user:", "--token-file", temp_ / "token"}).code, 0);
  if (server_) {
    EXPECT_THAT(Run({"put", "user:1", "x", "--token-file", temp_ / "token"}).err, HasSubstr("may not write"));
  }
  EXPECT_EQ(as_root({"token", "revoke", id}), "revoked token " + id + "\n");
  for (const std::string& word : {id, std::string("web")}) {
    const Ran again = Run({"token", "revoke", word, "--token", root});
    EXPECT_EQ(again.code, 4);
    EXPECT_EQ(again.err, "kvarts: there is no token with this id; `kvarts token list` has the ids: " + word + "\n");
  }
  const std::string made = Done({"token", "create", "both", "--scope", "read", "--json", "--token", root});
  EXPECT_THAT(made, AllOf(HasSubstr("\"token\":\"kv_"), HasSubstr("\"id\":\"")));
}

TEST_P(Admin, RangesMayBeAnyBytes) {
  const auto keys = [this] { return Done({"scan", "--keys-only"}); };
  Done({"put", R"(\xff\xfe/1)", "x"});
  Done({"put", R"(\xff\xff/2)", "x"});
  EXPECT_EQ(Run({"compact", R"(\xff)"}).code, 0);
  EXPECT_EQ(Run({"compact", "--hex", "--start", "00ff", "--end", "ffff"}).code, 0);
  // A move from and to keys that are no text.
  Done({"namespace", "declare", "moved", "m/<tenant>/<id>"});
  Done({"namespace", "move", "moved", "--from", R"(\xff\xfe/)", "--to", R"(m/\xfd/)", "--wait"});
  EXPECT_THAT(keys(), HasSubstr(R"(m/\xfd/1)"));
  // A bucket behind such keys.
  Done({"namespace", "declare", "log", "l/<tenant>/<day:date>/<id>", "--retention", "day", "--keep", "36500d"});
  Done({"put", R"(l/\xfe/2026-07-05/1)", "x"});
  Done({"namespace", "drop-bucket", "log", "2026-07", "--leading", R"(l/\xfe/)", "--wait"});
  EXPECT_THAT(keys(), Not(HasSubstr("2026-07-05")));
  // A commit's ranges, and the condition that one is unchanged.
  Done({"put", R"(\xff\xff/3)", "x"});
  const std::string condition = R"({"preconditions":[{"prefix_base64":"//8=","unchanged_since":"1"}]})";
  EXPECT_EQ(Run({"commit"}, condition).code, 5) << "it has changed since";
  Done({"commit"}, R"({"mutations":[{"op":"delete_range","start_base64":"//8v","end_base64":"//8vMw=="}]})");
  EXPECT_THAT(keys(), AllOf(HasSubstr(R"(\xff\xff/3)"), Not(HasSubstr(R"(\xff\xff/2)"))));
  Done({"commit"}, R"({"mutations":[{"op":"delete_range","prefix_base64":"//8="}]})");
  EXPECT_THAT(keys(), Not(HasSubstr(R"(\xff\xff)")));
  // What has two names is given by one.
  EXPECT_EQ(Run({"commit"}, R"({"mutations":[{"op":"delete_range","prefix":"a","prefix_base64":"YQ=="}]})").code, 1);
}

TEST_P(Admin, AWatchTellsWhatAnAddCameTo) {
  Done({"namespace", "declare", "hits", "h/<id>", "--feed"});
  Done({"commit"}, R"({"mutations":[{"op":"add","key":"h/1","by":5}]})");
  Done({"commit"}, R"({"mutations":[{"op":"add","key":"h/1","by":2}]})");
  EXPECT_THAT(
      LinesOf(Done({"watch", "h/", "--since", "0", "--count", "2"})),
      ElementsAre(MatchesRegex("added to h/1 = 5  version [0-9]+"), MatchesRegex("added to h/1 = 7  version [0-9]+")));
  const std::vector<std::string> json = LinesOf(Done({"watch", "h/", "--since", "0", "--count", "2", "--json"}));
  EXPECT_THAT(json.at(1), AllOf(HasSubstr(R"("op":"add")"), HasSubstr(R"("value":7)"), Not(HasSubstr(R"("by")"))));
}

TEST_P(Admin, AWatchGoesBackInAFeed) {
  Done({"namespace", "declare", "events", "e/<id>", "--feed"});
  Done({"put", "e/1", "one"});
  Done({"put", "e/2", "--json-value", "{\"a\":1}"});
  Done({"delete", "e/1"});
  const std::vector<std::string> lines = LinesOf(Done({"watch", "e/", "--since", "0", "--count", "3"}));
  EXPECT_THAT(lines, ElementsAre(MatchesRegex("put e/1 = one  version [0-9]+"),
                                 MatchesRegex("put e/2 = .\"a\":1.  version [0-9]+"),
                                 MatchesRegex("deleted e/1  version [0-9]+")));
  const std::vector<std::string> json = LinesOf(Done({"watch", "e/", "--since", "0", "--count", "2", "--json"}));
  ASSERT_THAT(json, SizeIs(2));
  for (const std::string& line : json) EXPECT_TRUE(IsJson(line)) << line;
  EXPECT_THAT(json[0], AllOf(HasSubstr("\"op\":\"put\""), HasSubstr("\"key\":\"e/1\""), HasSubstr("\"id\":\"")));
  const Ran refused = Run({"watch", "other", "--since", "0"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("cannot be resumed"));
}

TEST_P(Admin, CtrlCEndsAWatchInGoodOrder) {
  Done({"put", "k", "x"});
  OnTerminal watch(Words({"watch"}));
  ASSERT_TRUE(watch.AwaitCatching());
  watch.Type("\x03");
  EXPECT_EQ(watch.Wait(), 0);
}

class Watching : public CommandsOnEveryWay {};
INSTANTIATE_TEST_SUITE_P(Ways, Watching, testing::Values(Way::kServer), &WayName);

TEST_P(Watching, ShowsWhatHappensAndGoesOnAfterTheServerWasGone) {
  Done({"namespace", "declare", "events", "e/<id>", "--feed"});
  Done({"put", "e/0", "x"});
  OnTerminal watch(Words({"watch", "e/", "--since", "0"}));
  EXPECT_THAT(watch.Await("e/0"), HasSubstr("put e/0 = x"));
  Done({"put", "e/1", "x"});
  EXPECT_THAT(watch.Await("e/1"), HasSubstr("put e/1 = x"));
  server_->Signal(SIGKILL);
  server_->Wait();
  EXPECT_THAT(watch.Await("trying again"), HasSubstr("the connection broke"));
  // Nobody is told of this one while it happens.
  ASSERT_EQ(RunKvarts({"put", "e/2", "x", "--data", data_}).code, 0);
  server_ = Serve();
  EXPECT_THAT(watch.Await("e/2"), HasSubstr("put e/2 = x"));
  watch.Type("\x03");
  EXPECT_EQ(watch.Wait(), 0);
}

}  // namespace
}  // namespace kvarts::test
