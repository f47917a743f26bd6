// The shell, fed with scripts and used on a terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "commands/kvarts_process.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class ShellScript : public testing::Test {
 protected:
  std::string dir() const { return temp_ / "data"; }
  Ran Run(const std::string& script, const std::vector<std::string>& options = {}) {
    return RunScript(dir(), script, options);
  }
  // The lines of a script that must succeed, without versions and the lines about them.
  std::vector<std::string> Answers(const std::string& script) {
    const Ran ran = Run(script);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.err, IsEmpty());
    std::vector<std::string> answers;
    for (const std::string& line : LinesOf(ran.out)) {
      if (!line.starts_with("  version ")) answers.push_back(std::regex_replace(line, kVersion, ""));
    }
    return answers;
  }
  std::string VersionOf(const std::string& key) {
    std::smatch match;
    const Ran ran = Run("get " + key + "\n");
    EXPECT_TRUE(std::regex_search(ran.out, match, std::regex("version ([0-9]+)"))) << ran.out << ran.err;
    return match[1];
  }

  const std::regex kVersion{", version [0-9]+"};
  TempDir temp_;
};

TEST_F(ShellScript, PutsGetsAndDeletes) {
  EXPECT_THAT(Answers("put user:1 Ada\nget user:1\ndelete user:1\nget user:1\ndelete user:1\n"),
              ElementsAre("stored", "Ada", "deleted", "(nothing)", "there was nothing"));
}

TEST_F(ShellScript, KeepsWhatItStoredForTheNextOne) {
  Answers("put a 1\n");
  EXPECT_THAT(Answers("get a"), ElementsAre("1"));
}

TEST_F(ShellScript, ShowsVersionAndExpiry) {
  const Ran ran = Run("put s token ttl 2h\nget s\n");
  EXPECT_THAT(LinesOf(ran.out), ElementsAre(MatchesRegex("stored, version [0-9]+"), "token",
                                            MatchesRegex("  version [0-9]+, written [-0-9]+ [:0-9]+ UTC"),
                                            MatchesRegex("  expires [-0-9]+ [:0-9]+ UTC, in (2 h 0|1 h 59) min")));
}

TEST_F(ShellScript, ChangesExpiry) {
  const std::vector<std::string> answers = Answers("put s token\nttl s\nttl s 90\nttl s\nttl s never\nttl s\nttl t\n");
  EXPECT_THAT(answers, ElementsAre("stored", "never expires", MatchesRegex("expires .* UTC, in (90.0|89..) s"),
                                   MatchesRegex("expires .* UTC, in (90.0|89..) s"), "never expires", "never expires",
                                   "(nothing)"));
}

TEST_F(ShellScript, TakesQuotedWordsAndAnyBytes) {
  EXPECT_THAT(Answers("put \"two words\" \"say \\\"hi\\\"\"\n"
                      "put json {\"name\":\"Ada\"}\n"
                      "put single 'as \\x41 it is'\n"
                      "put \\x00\\xff bytes\\x41\n"
                      "put text Åsa\n"
                      "# a comment, and an empty line\n\n"
                      "scan\n"),
              ElementsAre("stored", "stored", "stored", "stored", "stored",  //
                          "\\x00\\xff     bytesA", "json         {\"name\":\"Ada\"}", "single       as \\\\x41 it is",
                          "text         Åsa", "\"two words\"  say \"hi\"", "5 keys"));
}

TEST_F(ShellScript, CreatesAndReplacesUnderConditions) {
  Answers("create a 1\n");
  const std::string version = VersionOf("a");
  const Ran again = Run("create a 2\n");
  EXPECT_EQ(again.code, 1);
  EXPECT_EQ(again.err, "kvarts: line 1: there is a value under the key: a (version " + version + ")\n");
  EXPECT_THAT(Answers("cas a " + version + " 2\nget a\n"), ElementsAre("replaced", "2"));
  const Ran stale = Run("cas a " + version + " 3\n");
  EXPECT_EQ(stale.code, 1);
  EXPECT_THAT(stale.err, HasSubstr("line 1: the value has another version: a (version " + VersionOf("a") + ")"));
  EXPECT_EQ(Run("deleteif a " + version + "\n").code, 1);
  EXPECT_THAT(Answers("deleteif a " + VersionOf("a") + "\nget a\n"), ElementsAre("deleted", "(nothing)"));
}

TEST_F(ShellScript, ScansRangesInPages) {
  Answers("put a 1\nput b 2\nput c 3\nput cc 4\nput d 5\n");
  EXPECT_THAT(Answers("scan c\n"), ElementsAre("c   3", "cc  4", "2 keys"));
  EXPECT_THAT(Answers("scan from b to cc\n"), ElementsAre("b  2", "c  3", "2 keys"));
  EXPECT_THAT(Answers("scan to c reverse keys\n"), ElementsAre("b", "a", "2 keys"));
  EXPECT_THAT(Answers("scan keys limit 2\nmore\nmore\n"),
              ElementsAre("a", "b", "2 keys; more follow, `more` shows them",   //
                          "c", "cc", "2 keys; more follow, `more` shows them",  //
                          "d", "1 key"));
  EXPECT_THAT(Run("scan\nmore\n").err, HasSubstr("line 2: the last scan is at its end"));
  EXPECT_THAT(Answers("count\ncount c\ncount from b\n"), ElementsAre("5", "2", "4"));
  // A word in quotes is a prefix, whatever it says.
  EXPECT_THAT(Answers("scan \"limit\"\n"), ElementsAre("0 keys"));
}

TEST_F(ShellScript, Counts) {
  EXPECT_THAT(Answers("incr n\nincr n 5\nadd n -2\ncounter n\nget n\ncounter m\nttl n 1h\ncounter n\n"),
              ElementsAre("1", "6", "added", "4", "4", "0", StartsWith("expires "), "4"));
  EXPECT_THAT(Run("put t text\nincr t\n").err, HasSubstr("line 2: the value under the key is not a counter"));
  EXPECT_THAT(Answers("get t\n"), ElementsAre("text"));
}

TEST_F(ShellScript, TransactionBlockSeesItsOwnWritesAndCommitsThemTogether) {
  EXPECT_THAT(Answers("put a 1\n"
                      "begin\nput b 2\nget b\ncount\nincr n\ndelete a\nscan\ncommit\n"
                      "scan\n"),
              ElementsAre("stored",                                                                          //
                          "a block is open: nothing is written before commit", "stored, not committed yet",  //
                          "2", "  not committed yet", "2", "1, not committed yet", "deleted, not committed yet", "b  2",
                          "n  1", "2 keys", "committed 6 steps",  //
                          "b  2", "n  1", "2 keys"));
  // All of it has one version.
  EXPECT_EQ(VersionOf("b"), VersionOf("n"));
}

TEST_F(ShellScript, TransactionBlockCanBeThrownAway) {
  EXPECT_THAT(Answers("begin\nput a 1\nrollback\nget a\n"),
              ElementsAre(StartsWith("a block"), "stored, not committed yet", "threw 1 step away", "(nothing)"));
}

TEST_F(ShellScript, NothingOfABlockThatFailsIsWritten) {
  const Ran failed = Run("put a 1\nbegin\nput b 2\ncreate a 3\ncommit\n");
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.err, HasSubstr("line 4: there is a value under the key: a"));
  EXPECT_THAT(failed.err, HasSubstr("a transaction block was left open; nothing of it was written"));
  const Ran went_on = Run("begin\nput b 2\ncreate a 3\ncommit\nrollback\nput c 3\n", {"--keep-going"});
  EXPECT_THAT(went_on.err, HasSubstr("line 4: something in the block failed; rollback throws the block away"));
  EXPECT_THAT(Answers("get b\nget c\n"), ElementsAre("(nothing)", "3"));
  const Ran open = Run("begin\nput b 2\n");
  EXPECT_EQ(open.code, 1);
  EXPECT_THAT(Answers("get b\n"), ElementsAre("(nothing)"));
}

TEST_F(ShellScript, WatchShowsChangesInCommitOrder) {
  EXPECT_THAT(Answers("watch user: 3\nput user:1 Ada\nput other x\nbegin\nput user:2 B\ndelete user:1\ncommit\n"
                      "put user:3 C\n"),
              ElementsAre(StartsWith("watching"), "stored", "  changed: put user:1 = Ada", "stored",
                          StartsWith("a block"), "stored, not committed yet", "deleted, not committed yet",
                          "committed 2 steps", "  changed: put user:2 = B", "  changed: deleted user:1", "stored"));
}

TEST_F(ShellScript, StopsAtTheFirstErrorUnlessToldToKeepGoing) {
  const Ran stops = Run("put a 1\nnonsense\nput b 2\n");
  EXPECT_EQ(stops.code, 1);
  EXPECT_EQ(stops.err, "kvarts: line 2: there is no such command, and help lists them: nonsense\n");
  EXPECT_THAT(Answers("get b\n"), ElementsAre("(nothing)"));
  const Ran goes_on = Run("gett a\nput b 2\n", {"--keep-going"});
  EXPECT_EQ(goes_on.code, 1);
  EXPECT_THAT(goes_on.err, HasSubstr("gett; did you mean get?"));
  EXPECT_THAT(Answers("get b\nexit\nnonsense\n"), ElementsAre("2"));
}

TEST_F(ShellScript, RefusesBadWordsPrecisely) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"put a", "a word is missing: VALUE; usage: put KEY VALUE [ttl DURATION]"},
      {"put a b c", "there is a word too many, and what has blanks is quoted: c"},
      {"put \"a", "a quote is not closed (column 5)"},
      {"put \"a\"b c", "a blank must follow a closing quote (column 8)"},
      {"put \\q b", "after a backslash comes a backslash, a quote or xNN (column 5)"},
      {"put a b ttl 5x", "not a duration; write 60, 500ms, 5m, 2h or 7d: 5x"},
      {"put a b ttl 0", "a time to live must be positive"},
      {"put a b ttl -7", "a time to live must be positive"},
      {"put a b ttl 99999d", "a time to live must end before the year 2255"},
      {"put a b ttl 99999999999999999", "the number is too large: 99999999999999999"},
      {"cas a x b", "not a version; get shows the version of a value: x"},
      {"incr a 1.5", "not a number: 1.5"},
      {"scan limit 0", "a page must have room for an entry"},
      {"scan limit 1000000", "the page has too many entries (limit max_page_entries, at most 10000, is 1000000)"},
      {"scan from b to a", "a range must start before it ends"},
      {"ttl nobody 5", "there is nothing under the key: nobody"},
      {"commit", "there is no transaction block; begin opens one"},
      {"help nonsense", "there is no such command"},
      {"put " + std::string(8193, 'k') + " v", "the key is too long (limit max_key_bytes, at most 8192, is 8193)"},
  };
  std::string script;
  for (const auto& [line, message] : bad) script += line + "\n";
  const Ran ran = Run(script, {"--keep-going"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, IsEmpty());
  const std::vector<std::string> errors = LinesOf(ran.err);
  ASSERT_EQ(errors.size(), bad.size()) << ran.err;
  for (size_t i = 0; i < bad.size(); ++i) {
    EXPECT_THAT(errors[i], StartsWith("kvarts: line " + std::to_string(i + 1) + ": " + bad[i].second));
  }
  EXPECT_THAT(Answers("count\n"), ElementsAre("0"));
}

TEST_F(ShellScript, HelpsWithEachOfItsCommands) {
  const std::vector<std::string> commands = {
      "get",     "put", "create", "cas",    "delete",   "deleteif", "scan",    "more",  "count", "incr", "add",
      "counter", "ttl", "begin",  "commit", "rollback", "watch",    "unwatch", "stats", "sync",  "help", "exit"};
  std::string script = "help\n";
  for (const std::string& command : commands) script += "help " + command + "\n";
  const Ran ran = Run(script);
  EXPECT_EQ(ran.code, 0) << ran.err;
  for (const std::string& command : commands) {
    EXPECT_THAT("\n" + ran.out, HasSubstr("\n  " + command + " ")) << "not in the list: " << command;
    EXPECT_THAT(ran.out, ContainsRegex("\n" + command + "[^\n]*: ")) << "not explained: " << command;
  }
  EXPECT_THAT(Answers("sync\n"), ElementsAre("everything is on disk"));
  EXPECT_THAT(Run("stats\n").out, HasSubstr("Amplification"));
}

TEST(ShellOnTerminal, GreetsCompletesCancelsAndLeaves) {
  const TempDir temp;
  OnTerminal shell({"shell", temp / "data"});
  EXPECT_THAT(shell.Await("kvarts> "), HasSubstr("Try put greeting hello, then get greeting"));
  shell.Type("put greeting hello\n");
  EXPECT_THAT(shell.Await("kvarts> "), HasSubstr("stored, version"));
  shell.Type("coun\t");
  shell.Await("count");
  shell.Type("\t");
  EXPECT_THAT(shell.Await("counter\n"), HasSubstr("count  counter"));
  shell.Type("\x03");
  EXPECT_THAT(shell.Await("^C\nkvarts> "), Not(HasSubstr("error")));
  shell.Type("nonsense\n");
  EXPECT_THAT(shell.Await("kvarts> "), HasSubstr("error: there is no such command"));
  shell.Type("beg\t\n");
  EXPECT_THAT(shell.Await("kvarts*> "), HasSubstr("a block is open"));
  shell.Type("rollback\n");
  shell.Await("kvarts> ");
  shell.Type("\x04");
  EXPECT_EQ(shell.Wait(), 0);
  EXPECT_THAT(RunScript(temp / "data", "get greeting\n").out, StartsWith("hello\n"));
}

TEST(ShellOnTerminal, KeepsItsHistoryInAFile) {
  const TempDir temp;
  for (const std::string keys : {"put a remembered\n", "\x10\x10\n"}) {  // Ctrl-P: the line before
    OnTerminal shell({"shell", temp / "data", "--history", temp / "history"});
    shell.Await("kvarts> ");
    shell.Type(keys);
    EXPECT_THAT(shell.Await("kvarts> "), HasSubstr("stored"));
    shell.Type("exit\n");
    EXPECT_EQ(shell.Wait(), 0);
  }
}

}  // namespace
}  // namespace kvarts::test
