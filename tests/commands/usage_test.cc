// What the binary says about itself, and about command lines that make no sense.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/command.h"
#include "commands/kvarts_process.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::vector<std::string>& Commands() {
  static const std::vector<std::string> kCommands = [] {
    std::vector<std::string> names;
    for (const cli::Command& command : cli::AllCommands()) names.emplace_back(command.name);
    return names;
  }();
  return kCommands;
}

TEST(Usage, ListsEveryCommandWithoutArguments) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{}, {"--help"}, {"help"}}) {
    const Ran ran = RunKvarts(words);
    EXPECT_EQ(ran.code, 0);
    for (const std::string& command : Commands()) EXPECT_THAT(ran.out, HasSubstr("\n  " + command + " "));
    EXPECT_THAT(ran.err, IsEmpty());
  }
}

TEST(Usage, ExplainsEachCommandInTheSameWords) {
  for (const std::string& command : Commands()) {
    const Ran help = RunKvarts({"help", command});
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.out, AllOf(StartsWith("kvarts " + command + ": "), HasSubstr("\nUsage: kvarts " + command)));
    EXPECT_EQ(RunKvarts({command, "--help"}).out, help.out);
  }
}

TEST(Usage, ExplainsTheCommandsOfAGroup) {
  for (const cli::Command& group : cli::AllCommands()) {
    for (const cli::Command& command : cli::SubcommandsOf(group)) {
      const std::string path = std::string(group.name) + " " + std::string(command.name);
      const Ran help = RunKvarts({"help", std::string(group.name), std::string(command.name)});
      EXPECT_EQ(help.code, 0);
      EXPECT_THAT(help.out, AllOf(StartsWith("kvarts " + path + ": "), HasSubstr("\nUsage: kvarts " + path)));
      EXPECT_EQ(RunKvarts({std::string(group.name), std::string(command.name), "--help"}).out, help.out);
      EXPECT_THAT(RunKvarts({"help", std::string(group.name)}).out, HasSubstr("\n  " + std::string(command.name)));
    }
  }
}

TEST(Usage, HelpMayStandAnywhere) {
  const std::string overview = RunKvarts({"help"}).out;
  const std::string token = RunKvarts({"help", "token"}).out;
  const std::string create = RunKvarts({"help", "token", "create"}).out;
  using Words = std::vector<std::string>;
  const std::vector<std::pair<Words, std::string>> all = {
      {{"help", "help"}, overview},
      {{"help", "--help"}, overview},
      {{"token", "help"}, token},
      {{"token", "-h"}, token},
      {{"help", "token", "help"}, token},
      {{"token", "help", "create"}, create},
      {{"token", "--help", "create"}, create},
  };
  for (const auto& [words, expected] : all) {
    const Ran ran = RunKvarts(words);
    EXPECT_EQ(ran.code, 0) << testing::PrintToString(words) << ran.err;
    EXPECT_EQ(ran.out, expected) << testing::PrintToString(words);
  }
  EXPECT_EQ(RunKvarts({"token", "help", "craete"}).code, 2);
}

TEST(Usage, VersionSaysWhatTheBinaryIsMadeOf) {
  const Ran ran = RunKvarts({"version"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, AllOf(StartsWith("kvarts "), HasSubstr("\nformat "), HasSubstr("\nRocksDB "),
                             HasSubstr("\ncompiler  GCC ")));
  EXPECT_EQ(RunKvarts({"--version"}).out, ran.out);
  const Ran json = RunKvarts({"version", "--json"});
  EXPECT_TRUE(IsJson(json.out)) << json.out;
  EXPECT_THAT(json.out, AllOf(StartsWith("{\"kvarts\":\""), HasSubstr("\"format\":"), HasSubstr("\"rocksdb\":\"")));
}

struct Nonsense {
  std::vector<std::string> words;
  std::string message;
};

TEST(Usage, RefusesNonsenseWithThePreciseWordAndCodeTwo) {
  const std::vector<Nonsense> nonsense = {
      {{"dmup", "x"}, "kvarts: there is no such command: dmup; did you mean dump?\n"},
      {{"frobnicate"}, "kvarts: there is no such command: frobnicate\n"},
      {{"help", "stat"}, "kvarts: there is no such command: stat; did you mean stats?\n"},
      {{"--versoin"}, "kvarts: there is no such option: --versoin\n"},
      {{"dump", "x", "--valeus"}, "kvarts: there is no such option: --valeus; did you mean --values?\n"},
      {{"dump", "x", "-v"}, "kvarts: options begin with two dashes: -v\n"},
      {{"upgrade"}, "kvarts: an argument is missing: DIR\n"},
      {{"dump"}, "kvarts: an argument is missing: DIR, or --shards FILE\n"},
      {{"check", "x", "--shards", "f"}, "kvarts: DIR and --shards exclude each other\n"},
      {{"check", "--shards", ""}, "kvarts: --shards needs a file\n"},
      {{"stats", "x", "--shards", "f"}, "kvarts: figures are of one directory or of one server\n"},
      {{"upgrade", "--shards", "f"},
       "kvarts: upgrade is about the files of a data directory; on PostgreSQL there are none: --shards\n"},
      {{"shell", "--shards=f"},
       "kvarts: the shell is for data directories; get, put, scan, commit and the like take --shards: --shards\n"},
      {{"dump", "x", "y"}, "kvarts: there is a word too many: y\n"},
      {{"dump", "x", "--limit"}, "kvarts: an option needs a value: --limit\n"},
      {{"dump", "x", "--limit", "ten"},
       "kvarts: an option has a value that it cannot take: --limit; ten: not a number\n"},
      {{"dump", "x", "--limit=-1"}, "kvarts: an option has a value that it cannot take: --limit; -1: not a number\n"},
      {{"dump", "x", "--json=1"}, "kvarts: an option takes no value: --json\n"},
      {{"dump", "x", "--values", "--values"}, "kvarts: an option is given twice: --values\n"},
      {{"dump", "x", "--space", "key"},
       "kvarts: an option has a value that it cannot take: --space; key: must be one of "},
      {{"dump", "x", "--prefix", "\\xzz"}, "kvarts: an option has a value with a broken escape"},
      {{"dump", "x", "--prefix", "a", "--space", "feed"}, "kvarts: --prefix is about users' keys"},
      {{"shell", "x", "--durability", "snyc"}, "did you mean sync?"},
      {{"shell", "x", "--memory-budget", "1KiB"},
       "kvarts: an option has a value that is too small: --memory-budget (at least 8.0 MiB)\n"},
      {{"shell", "x", "--memory-budget", "much"}, "kvarts: an option has a value that it cannot take"},
  };
  for (const Nonsense& it : nonsense) {
    const Ran ran = RunKvarts(it.words);
    EXPECT_EQ(ran.code, 2) << it.message;
    EXPECT_THAT(ran.err, HasSubstr(it.message));
    EXPECT_THAT(ran.out, IsEmpty());
  }
  EXPECT_FALSE(std::filesystem::exists("x")) << "a command that was refused made a directory";
}

TEST(Usage, NonsenseIsToldToProgramsAsAnObject) {
  const std::vector<Nonsense> nonsense = {
      {{"get", "--json"},
       R"({"type":"urn:kvarts:invalid_argument","detail":"an argument is missing","argument":"KEY"})"},
      {{"dmup", "--json"},
       R"({"type":"urn:kvarts:invalid_argument","detail":"there is no such command","command":"dmup","nearest":"dump"})"},
      {{"token", "--json"},
       R"({"type":"urn:kvarts:invalid_argument","detail":"there is no such option","command":"--json"})"},
  };
  for (const Nonsense& it : nonsense) {
    const Ran ran = RunKvarts(it.words);
    EXPECT_EQ(ran.code, 2);
    EXPECT_EQ(ran.err, it.message + "\n");
  }
  EXPECT_THAT(RunKvarts({"get", "--", "--json", "b"}).err, StartsWith("kvarts: ")) << "behind -- it is a key";
}

TEST(Usage, SaysWhenItsOutputIsLost) {
  // The shell's redirection is the simplest way to a full device.
  const std::string line = std::string(KVARTS_BINARY_DIR) + "/kvarts help > /dev/full 2> /dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(line.c_str())), 1);
}

}  // namespace
}  // namespace kvarts::test
