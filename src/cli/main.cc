// The binary: finds the command that was named, has its words parsed, and runs it.
//
// Exit codes: 0 done, 1 the store refused, 2 the command line makes no sense, 3 a check found something.
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
#include "cli/terminal.h"

namespace kvarts::cli {
namespace {

constexpr std::string_view kAbout = R"(Kvarts is an ordered, versioned, expiring, transactional key-value database.

Usage: kvarts COMMAND [ARGUMENTS] [OPTIONS]

)";

constexpr std::string_view kAfterCommands = R"(
  kvarts shell ./data      makes a database in ./data if there is none, and opens it
  kvarts help COMMAND      explains a command
)";

void PrintOverview() {
  Print(kAbout);
  size_t width = 0;
  for (const Command& command : AllCommands()) width = std::max(width, command.name.size());
  for (const Command& command : AllCommands()) {
    Print(fmt::format("  {:<{}}  {}\n", command.name, width, command.summary));
  }
  Print(kAfterCommands);
}

void PrintHelp(const Command& command) {
  const Syntax& syntax = command.syntax();
  Print(fmt::format("kvarts {}: {}\n\n", command.name, command.summary));
  const std::string words = UsageLine(syntax);
  Print(fmt::format("Usage: kvarts {}{}{}\n\n{}", command.name, words.empty() ? "" : " ", words, syntax.description));
  const std::string options = OptionLines(syntax);
  if (!options.empty()) Print(fmt::format("\nOptions:\n{}", options));
}

int RefuseUsage(const Error& error, std::string_view command) {
  PrintError(fmt::format("kvarts: {}\n", ErrorText(error)));
  PrintError(command.empty() ? "`kvarts help` lists the commands.\n"
                             : fmt::format("`kvarts help {}` explains the command.\n", command));
  return kExitUsage;
}

Result<const Command*> FindCommand(const std::string& name) {
  const auto found = std::ranges::find(AllCommands(), name, &Command::name);
  if (found != AllCommands().end()) return &*found;
  std::vector<std::string_view> names = {"help"};
  for (const Command& command : AllCommands()) names.push_back(command.name);
  const bool is_option = name.starts_with('-');
  return Error(ErrorCode::kInvalidArgument, is_option ? "there is no such option" : "there is no such command",
               {{"command", name}, {"nearest", is_option ? "" : std::string(Nearest(name, names))}});
}

int Help(std::span<const std::string> words) {
  if (words.empty()) {
    PrintOverview();
    return kExitOk;
  }
  const Result<const Command*> command = FindCommand(words[0]);
  if (!command.has_value()) return RefuseUsage(command.error(), {});
  PrintHelp(**command);
  return kExitOk;
}

int RunCommand(const Command& command, std::span<const std::string> words) {
  const Result<Arguments> arguments = ParseArguments(command.syntax(), words);
  if (!arguments.has_value()) return RefuseUsage(arguments.error(), command.name);
  const Result<int> code = command.run(*arguments);
  if (code.has_value()) return *code;
  PrintError(fmt::format("kvarts: {}\n", ErrorText(code.error())));
  const std::string_view advice = ErrorAdvice(code.error());
  if (!advice.empty()) PrintError(fmt::format("{}\n", advice));
  return kExitFailed;
}

int Run(std::span<const std::string> words) {
  if (words.empty()) return Help({});
  std::string name = words[0];
  words = words.subspan(1);
  if (name == "help" || name == "--help" || name == "-h") return Help(words);
  if (name == "--version") name = "version";
  const Result<const Command*> command = FindCommand(name);
  if (!command.has_value()) return RefuseUsage(command.error(), {});
  if (std::ranges::any_of(words, [](const std::string& word) { return word == "--help" || word == "-h"; })) {
    PrintHelp(**command);
    return kExitOk;
  }
  return RunCommand(**command, words);
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
