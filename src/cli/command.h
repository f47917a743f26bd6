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
constexpr int kExitFailed = 1;     // the store or the server refused, or cannot be reached
constexpr int kExitUsage = 2;      // the command line makes no sense
constexpr int kExitFound = 3;      // a check found something
constexpr int kExitMissing = 4;    // what was named is not there
constexpr int kExitCondition = 5;  // a condition of the write does not hold, or it is there already

struct Command {
  std::string_view name;
  std::string_view summary;  // one line, for the list
  const Syntax& (*syntax)();
  // The exit code; an error is printed by the caller and becomes kExitFailed, or what ExitCodeOf says.
  Result<int> (*run)(const Arguments& arguments);
  // Of a group: its commands, of which the next word is one. Then nothing is run, and the syntax has a description
  // only.
  std::span<const Command> (*subcommands)() = nullptr;
};

// In the order in which help lists them.
std::span<const Command> AllCommands();
// The commands of a group; none of any other.
std::span<const Command> SubcommandsOf(const Command& command);
// What becomes of an error: of a command that talks to a server, kExitMissing and kExitCondition are told apart.
int ExitCodeOf(const Syntax& syntax, const Error& error);

const Syntax& ServeSyntax();
Result<int> RunServe(const Arguments& arguments);

const Syntax& ShellSyntax();
Result<int> RunShell(const Arguments& arguments);

const Syntax& GetSyntax();
Result<int> RunGet(const Arguments& arguments);

const Syntax& PutSyntax();
Result<int> RunPut(const Arguments& arguments);

const Syntax& DeleteSyntax();
Result<int> RunDelete(const Arguments& arguments);

const Syntax& IncrementSyntax();
Result<int> RunIncrement(const Arguments& arguments);

const Syntax& AppendSyntax();
Result<int> RunAppend(const Arguments& arguments);

const Syntax& TouchSyntax();
Result<int> RunTouch(const Arguments& arguments);

const Syntax& ScanSyntax();
Result<int> RunScan(const Arguments& arguments);

const Syntax& CommitSyntax();
Result<int> RunCommit(const Arguments& arguments);

const Syntax& WatchSyntax();
Result<int> RunWatch(const Arguments& arguments);

const Syntax& ImportSyntax();
Result<int> RunImport(const Arguments& arguments);

const Syntax& ExportSyntax();
Result<int> RunExport(const Arguments& arguments);

const Syntax& CompactSyntax();
Result<int> RunCompact(const Arguments& arguments);

const Syntax& ExplainSyntax();
Result<int> RunExplain(const Arguments& arguments);

const Syntax& NamespaceSyntax();
std::span<const Command> NamespaceCommands();

const Syntax& ProjectSyntax();
std::span<const Command> ProjectCommands();

const Syntax& DatasetSyntax();
std::span<const Command> DatasetCommands();

const Syntax& TableSyntax();
std::span<const Command> TableCommands();

const Syntax& IndexSyntax();
std::span<const Command> IndexCommands();

const Syntax& RowSyntax();
std::span<const Command> RowCommands();

const Syntax& TokenSyntax();
std::span<const Command> TokenCommands();

const Syntax& JobSyntax();
std::span<const Command> JobCommands();

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
