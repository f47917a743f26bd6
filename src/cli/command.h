// What a command of the binary is, and all that there are. Each has a file of its own; the table that names them is in
// commands.cc, and help, completion and man pages follow from it.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "cli/arguments.h"

namespace kvarts::cli {

// The answers of the process.
constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;  // the store refused
constexpr int kExitUsage = 2;   // the command line makes no sense
constexpr int kExitFound = 3;   // a check found something

struct Command {
  std::string_view name;
  std::string_view summary;  // one line, for the list
  const Syntax& (*syntax)();
  // The exit code; an error is printed by the caller and becomes kExitFailed.
  Result<int> (*run)(const Arguments& arguments);
};

// In the order in which help lists them.
std::span<const Command> AllCommands();

const Syntax& ServeSyntax();
Result<int> RunServe(const Arguments& arguments);

const Syntax& ShellSyntax();
Result<int> RunShell(const Arguments& arguments);

const Syntax& CheckSyntax();
Result<int> RunCheck(const Arguments& arguments);

const Syntax& DumpSyntax();
Result<int> RunDump(const Arguments& arguments);

const Syntax& StatsSyntax();
Result<int> RunStats(const Arguments& arguments);

const Syntax& UpgradeSyntax();
Result<int> RunUpgrade(const Arguments& arguments);

const Syntax& ConfigSyntax();
Result<int> RunConfig(const Arguments& arguments);

const Syntax& CompletionSyntax();
Result<int> RunCompletion(const Arguments& arguments);

const Syntax& VersionSyntax();
Result<int> RunVersion(const Arguments& arguments);

}  // namespace kvarts::cli
