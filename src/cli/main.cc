// The binary: finds the command that was named, has its words parsed, and runs it.
//
// Exit codes: 0 done, 1 the store or the server refused, 2 the command line makes no sense, 3 a check found something,
// 4 what was named is not there, 5 a condition does not hold.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "base/nearest.h"
#include "cli/command.h"
#include "cli/error_text.h"
#include "cli/problem.h"
#include "cli/terminal.h"

namespace kvarts::cli {
namespace {

constexpr std::string_view kAbout = R"(Kvarts is an ordered, versioned, expiring, transactional key-value database.

Usage: kvarts COMMAND [ARGUMENTS] [OPTIONS]

)";

constexpr std::string_view kAfterCommands = R"(
  kvarts serve             serves a database in ./data on port 7700
  kvarts put user:1 Ada    writes to it; with --data DIR or --shards FILE it needs no server
  kvarts shell ./data      works with a directory by hand
  kvarts help COMMAND      explains a command
)";

// A command, and the way to it: "token create".
struct Named {
  const Command* command = nullptr;
  std::string path;
};

void PrintCommands(std::span<const Command> commands) {
  size_t width = 0;
  for (const Command& command : commands) width = std::max(width, command.name.size());
  for (const Command& command : commands) {
    Print(fmt::format("  {:<{}}  {}\n", command.name, width, command.summary));
  }
}

void PrintOverview() {
  Print(kAbout);
  PrintCommands(AllCommands());
  Print(kAfterCommands);
}

void PrintHelp(const Named& named) {
  const Syntax& syntax = named.command->syntax();
  const std::span<const Command> subcommands = SubcommandsOf(*named.command);
  Print(fmt::format("kvarts {}: {}\n\n", named.path, named.command->summary));
  const std::string words = subcommands.empty() ? UsageLine(syntax) : "COMMAND [ARGUMENTS] [OPTIONS]";
  Print(fmt::format("Usage: kvarts {}{}{}\n\n{}", named.path, words.empty() ? "" : " ", words, syntax.description));
  const std::string options = OptionLines(syntax);
  if (!options.empty()) Print(fmt::format("\nOptions:\n{}", options));
  if (subcommands.empty()) return;
  Print("\nCommands:\n");
  PrintCommands(subcommands);
}

// Whether what goes wrong is told to a program. Before the words are understood, the option is looked for.
bool WantsJson(std::span<const std::string> words) {
  const auto end = std::ranges::find(words, "--");
  return std::find(words.begin(), end, "--json") != end;
}

void Tell(const Error& error, bool json) {
  PrintError(json ? ProblemJson(error) + "\n" : fmt::format("kvarts: {}\n", ErrorText(error)));
}

int RefuseUsage(const Error& error, std::string_view command, bool json) {
  Tell(error, json);
  if (json) return kExitUsage;
  PrintError(command.empty() ? "`kvarts help` lists the commands.\n"
                             : fmt::format("`kvarts help {}` explains the command.\n", command));
  return kExitUsage;
}

Result<const Command*> FindCommand(std::span<const Command> commands, const std::string& name) {
  const auto found = std::ranges::find(commands, name, &Command::name);
  if (found != commands.end()) return &*found;
  std::vector<std::string_view> names = {"help"};
  for (const Command& command : commands) names.push_back(command.name);
  const bool is_option = name.starts_with('-');
  return Error(ErrorCode::kInvalidArgument, is_option ? "there is no such option" : "there is no such command",
               {{"command", name}, {"nearest", is_option ? "" : std::string(Nearest(name, names))}});
}

bool AsksForHelp(const std::string& word) { return word == "help" || word == "--help" || word == "-h"; }

// Takes the words off that name a command. A group alone is one only for its help.
Result<Named> TakeCommand(std::span<const std::string>* words) {
  Named named;
  std::span<const Command> among = AllCommands();
  do {
    KVARTS_TRY(named.command, FindCommand(among, words->front()));
    named.path.append(named.path.empty() ? "" : " ").append(words->front());
    *words = words->subspan(1);
    among = SubcommandsOf(*named.command);
  } while (!among.empty() && !words->empty() && !AsksForHelp(words->front()));
  return named;
}

int Help(std::span<const std::string> words) {
  while (!words.empty() && AsksForHelp(words.front())) words = words.subspan(1);
  if (words.empty()) {
    PrintOverview();
    return kExitOk;
  }
  const Result<Named> named = TakeCommand(&words);
  if (!named.has_value()) return RefuseUsage(named.error(), {}, false);
  PrintHelp(*named);
  return kExitOk;
}

int RunCommand(const Named& named, std::span<const std::string> words) {
  const Syntax& syntax = named.command->syntax();
  if (named.command->run == nullptr) {
    return RefuseUsage(Error(ErrorCode::kInvalidArgument, "a command is missing"), named.path, WantsJson(words));
  }
  const Result<Arguments> arguments = ParseArguments(syntax, words);
  if (!arguments.has_value()) return RefuseUsage(arguments.error(), named.path, WantsJson(words));
  const Result<int> code = named.command->run(*arguments);
  if (code.has_value()) return *code;
  const bool json = arguments->Has("json");
  Tell(code.error(), json);
  const std::string_view advice = ErrorAdvice(code.error());
  if (!advice.empty() && !json) PrintError(fmt::format("{}\n", advice));
  return ExitCodeOf(syntax, code.error());
}

// Whether help is asked for among the options: what stands behind -- is none.
bool HasHelpOption(std::span<const std::string> words) {
  const auto end = std::ranges::find(words, "--");
  return std::any_of(words.begin(), end, [](const std::string& word) { return word == "--help" || word == "-h"; });
}

int Run(std::span<const std::string> words) {
  if (words.empty()) return Help({});
  if (AsksForHelp(words[0])) return Help(words);
  const std::vector<std::string> version = {"version"};
  if (words[0] == "--version") words = version;
  const std::string first = words[0];
  const Result<Named> named = TakeCommand(&words);
  if (!named.has_value()) {
    const bool in_group = std::ranges::find(AllCommands(), first, &Command::name) != AllCommands().end();
    return RefuseUsage(named.error(), in_group ? first : "", WantsJson(words));
  }
  // `kvarts token help create` is `kvarts help token create`.
  if (named->command->run == nullptr && !words.empty()) {
    std::vector<std::string> asked(words.begin(), words.end());
    asked.front() = first;
    return Help(asked);
  }
  if (HasHelpOption(words)) {
    PrintHelp(*named);
    return kExitOk;
  }
  return RunCommand(*named, words);
}

}  // namespace
}  // namespace kvarts::cli

int main(int argc, char** argv) {
  using kvarts::cli::kExitFailed;
  int code = kExitFailed;
  try {
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    code = kvarts::cli::Run(words);
  } catch (const std::exception& problem) {
    // Our own code does not throw; the standard library does, when memory or the file system fails it.
    kvarts::cli::PrintError(fmt::format("kvarts: the system failed: {}\n", problem.what()));
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    kvarts::cli::PrintError("kvarts: the output could not be written\n");
    return kExitFailed;
  }
  return code;
}
