// The completion scripts, in the shells they are for, and the manual pages, in groff. A shell that is not installed is
// skipped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "cli/command.h"
#include "cli/completion.h"
#include "cli/man.h"
#include "commands/kvarts_process.h"
#include "server/option_table.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

class Completion : public testing::Test {
 protected:
  std::string Script(const std::string& shell) {
    const Ran ran = RunKvarts({"completion", shell});
    EXPECT_EQ(ran.code, 0);
    std::ofstream(dir_ / shell) << ran.out;
    return dir_ / shell;
  }

  // What bash offers for the last word.
  std::vector<std::string> InBash(const std::vector<std::string>& words) {
    std::ofstream driver(dir_ / "driver");
    driver << "cd " << dir_.path().string() << "\nsource " << Script("bash") << "\nCOMP_WORDS=(kvarts";
    for (const std::string& word : words) driver << " '" << word << "'";
    driver << ")\nCOMP_CWORD=" << words.size() << "\n_kvarts\nfor w in \"${COMPREPLY[@]}\"; do echo \"$w\"; done\n";
    driver.close();
    const Ran ran = RunShell("bash --norc " + (dir_ / "driver"));
    EXPECT_EQ(ran.code, 0) << ran.out;
    return LinesOf(ran.out);
  }

  TempDir dir_;
};

TEST_F(Completion, BashOffersCommandsOptionsWordsAndFiles) {
  EXPECT_EQ(RunShell("bash -n " + Script("bash")).out, "");
  std::vector<std::string> names = {"help"};
  for (const cli::Command& command : cli::AllCommands()) names.emplace_back(command.name);
  EXPECT_THAT(InBash({""}), IsSupersetOf(names));
  EXPECT_THAT(InBash({"help", ""}), IsSupersetOf(names));
  EXPECT_THAT(InBash({"upg"}), ElementsAre("upgrade"));
  EXPECT_THAT(InBash({"dump", "x", "--va"}), ElementsAre("--values"));
  EXPECT_THAT(InBash({"shell", "--durability", ""}), ElementsAre("none", "interval", "sync"));
  EXPECT_THAT(InBash({"shell", "--durability", "=", "sy"}), ElementsAre("sync"));
  EXPECT_THAT(InBash({"shell", "--durability", "="}), ElementsAre("none", "interval", "sync"));
  EXPECT_THAT(InBash({"config", "--http-max-b"}), ElementsAre("--http-max-body-bytes", "--http-max-batch-keys"));
  EXPECT_THAT(InBash({"config", "--metrics-enabled", "t"}), ElementsAre("true"));
  EXPECT_THAT(InBash({"config", "--loops", ""}), IsEmpty());
  EXPECT_THAT(InBash({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
  EXPECT_THAT(InBash({"nonsense", ""}), IsEmpty());

  std::filesystem::create_directory(dir_ / "my data");
  std::ofstream(dir_ / "my.toml") << "x";
  EXPECT_THAT(InBash({"stats", "my"}), ElementsAre("my data"));
  EXPECT_THAT(InBash({"config", "--check", "my"}), testing::UnorderedElementsAre("my data", "my.toml"));
}

TEST_F(Completion, BashOffersEveryOptionOfEveryCommand) {
  for (const cli::Command& command : cli::AllCommands()) {
    std::vector<std::string> options;
    for (const cli::OptionSyntax& option : command.syntax().options) options.push_back("--" + std::string(option.name));
    EXPECT_THAT(InBash({std::string(command.name), "--"}), IsSupersetOf(options));
  }
}

TEST_F(Completion, BashOffersTheCommandsOfAGroupAndTheirOptions) {
  for (const cli::Command& group : cli::AllCommands()) {
    std::vector<std::string> names;
    for (const cli::Command& command : cli::SubcommandsOf(group)) {
      names.emplace_back(command.name);
      std::vector<std::string> options;
      for (const cli::OptionSyntax& option : command.syntax().options)
        options.push_back("--" + std::string(option.name));
      EXPECT_THAT(InBash({std::string(group.name), names.back(), "--"}), IsSupersetOf(options)) << names.back();
    }
    if (!names.empty()) {
      EXPECT_THAT(InBash({std::string(group.name), ""}), IsSupersetOf(names));
    }
  }
  EXPECT_THAT(InBash({"token", "cre"}), ElementsAre("create"));
  EXPECT_THAT(InBash({"namespace", "declare", "x", "--profile", "l"}), ElementsAre("lookup"));
}

TEST_F(Completion, ZshTakesTheScript) {
  if (!Installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  const Ran checked = RunShell("zsh -n " + Script("zsh"));
  EXPECT_EQ(checked.code, 0) << checked.out;
  // Loaded in earnest: the functions are defined and registered.
  const Ran loaded =
      RunShell("cd " + dir_.path().string() + " && zsh -f -c 'autoload -Uz compinit && compinit -u -d dump && source " +
               Script("zsh") + " && echo $_comps[kvarts]'");
  EXPECT_EQ(loaded.out, "_kvarts\n");
}

TEST_F(Completion, FishOffersCommandsOptionsAndWords) {
  if (!Installed("fish")) GTEST_SKIP() << "fish is not installed";
  EXPECT_EQ(RunShell("fish -n " + Script("fish")).out, "");
  const auto offered = [&](const std::string& line) {
    const Ran ran = RunShell("HOME=" + dir_.path().string() + " fish -N -c 'source " + Script("fish") +
                             "; complete -C \"" + line + "\"' | cut -f 1");
    return LinesOf(ran.out);
  };
  EXPECT_THAT(offered("kvarts upg"), ElementsAre("upgrade"));
  EXPECT_THAT(offered("kvarts config --http-max-bo"), ElementsAre("--http-max-body-bytes"));
  EXPECT_THAT(offered("kvarts shell --durability s"), ElementsAre("sync"));
  EXPECT_THAT(offered("kvarts completion "), IsSupersetOf({"bash", "zsh", "fish"}));
}

TEST(Completions, TextsCannotBreakOutOfTheirQuotes) {
  static const cli::Syntax kSyntax = {.arguments = {},
                                      .options = {{"it", cli::OptionKind::kText, "X", "it's [odd]: \\ $(touch pwned)"}},
                                      .description = {}};
  const cli::Command command = {"odd", "it's: odd", []() -> const cli::Syntax& { return kSyntax; }, nullptr};
  const std::array<cli::Command, 1> commands = {command};
  EXPECT_THAT(cli::ZshCompletion(commands), testing::HasSubstr(R"('--it=[it'\''s \[odd\]\: \\ $(touch pwned)]:X:')"));
  EXPECT_THAT(cli::FishCompletion(commands), testing::HasSubstr(R"(-d 'it\'s [odd]: \\ $(touch pwned)')"));
}

TEST(Man, PagesAreCleanInGroff) {
  if (!Installed("groff")) GTEST_SKIP() << "groff is not installed";
  const TempDir dir;
  std::vector<std::pair<std::string, std::string>> pages = {{"kvarts.1", cli::ManOverview(cli::AllCommands())},
                                                            {"kvarts.toml.5", cli::ManOfConfig()}};
  for (const cli::Command& command : cli::AllCommands()) {
    pages.emplace_back("kvarts-" + std::string(command.name) + ".1", cli::ManOfCommand(command));
  }
  for (const auto& [name, text] : pages) {
    std::ofstream(dir / name) << text;
    EXPECT_EQ(RunShell("groff -ww -man -Tutf8 " + (dir / name) + " 2>&1 >/dev/null").out, "") << name;
    const std::string shown = RunShell("groff -man -Tascii -P-cbou " + (dir / name)).out;
    EXPECT_THAT(LinesOf(shown), Contains("NAME")) << name;
    EXPECT_THAT(LinesOf(shown), Not(Contains(testing::HasSubstr("\\f")))) << name;
  }
}

TEST(Man, HasEveryCommandAndEveryOption) {
  const std::string overview = cli::ManOverview(cli::AllCommands());
  for (const cli::Command& command : cli::AllCommands()) {
    EXPECT_THAT(overview, testing::HasSubstr(".BR kvarts\\-" + std::string(command.name) + " (1)\n"));
  }
  const std::string config = cli::ManOfConfig();
  for (const Option& option : OptionTable())
    EXPECT_THAT(config, testing::HasSubstr(option.Environment())) << option.name;
}

TEST(Man, AGroupHasItsCommandsOnOnePage) {
  for (const cli::Command& group : cli::AllCommands()) {
    const std::string page = cli::ManOfCommand(group);
    for (const cli::Command& command : cli::SubcommandsOf(group)) {
      EXPECT_THAT(page,
                  testing::HasSubstr(command.name == "drop-bucket" ? "drop\\-bucket" : std::string(command.name)));
      for (const cli::OptionSyntax& option : command.syntax().options) {
        std::string name(option.name);
        for (size_t at = 0; (at = name.find('-', at)) != name.npos; at += 2) name.insert(at, 1, '\\');
        EXPECT_THAT(page, testing::HasSubstr("\\-\\-" + name));
      }
    }
  }
}

TEST(Man, LinesThatBeginLikeARequestAreText) {
  static const cli::Syntax kSyntax = {.arguments = {}, .options = {}, .description = ".so /etc/passwd\n'quoted' \\x\n"};
  const cli::Command command = {"odd", "Odd", []() -> const cli::Syntax& { return kSyntax; }, nullptr};
  EXPECT_THAT(cli::ManOfCommand(command), testing::HasSubstr("\n\\&.so /etc/passwd\n\\&\\(aqquoted\\(aq \\ex\n"));
}

}  // namespace
}  // namespace kvarts::test
