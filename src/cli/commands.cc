// The table of all commands.
#include "cli/command.h"

namespace kvarts::cli {
namespace {

constexpr Command kCommands[] = {
    {"serve", "Serve a database over the network", &ServeSyntax, &RunServe},
    {"shell", "Work with a data directory by hand, or run a script", &ShellSyntax, &RunShell},
    {"get", "Read a key", &GetSyntax, &RunGet},
    {"put", "Write a key", &PutSyntax, &RunPut},
    {"delete", "Delete a key, or a range of keys", &DeleteSyntax, &RunDelete},
    {"incr", "Add to a number, and show what it comes to", &IncrementSyntax, &RunIncrement},
    {"append", "Put bytes behind those of a key", &AppendSyntax, &RunAppend},
    {"touch", "Change when a key is gone", &TouchSyntax, &RunTouch},
    {"scan", "List keys in order", &ScanSyntax, &RunScan},
    {"commit", "Conditions and changes of many keys, all or nothing", &CommitSyntax, &RunCommit},
    {"watch", "Show changes as they happen", &WatchSyntax, &RunWatch},
    {"import", "Write the keys of an export", &ImportSyntax, &RunImport},
    {"export", "Print all keys and values as lines of JSON", &ExportSyntax, &RunExport},
    {"explain", "How a key is read by the namespaces", &ExplainSyntax, &RunExplain},
    {"namespace", "Rules for keys: declare, show and drop them", &NamespaceSyntax, nullptr, &NamespaceCommands},
    {"project", "What datasets are in: make, list and drop projects", &ProjectSyntax, nullptr, &ProjectCommands},
    {"dataset", "What tables are in: make, list and drop datasets", &DatasetSyntax, nullptr, &DatasetCommands},
    {"table", "Declare tables, show and change them", &TableSyntax, nullptr, &TableCommands},
    {"index", "Indexes of a table: make, show and drop them", &IndexSyntax, nullptr, &IndexCommands},
    {"row", "Rows of a table: read, write, query and scan them", &RowSyntax, nullptr, &RowCommands},
    {"token", "Who may do what: make tokens and take them back", &TokenSyntax, nullptr, &TokenCommands},
    {"job", "Work that the server does in the background", &JobSyntax, nullptr, &JobCommands},
    {"compact", "Rewrite a range of keys on disk without what is gone", &CompactSyntax, &RunCompact},
    {"stats", "What is on disk, and what reading and writing it costs", &StatsSyntax, &RunStats},
    {"dump", "Print the stored keys, decoded", &DumpSyntax, &RunDump},
    {"check", "Verify every file and invariant of a data directory", &CheckSyntax, &RunCheck},
    {"upgrade", "Bring a data directory of the previous format up to date", &UpgradeSyntax, &RunUpgrade},
    {"config", "Every option of the server, its value and where that came from", &ConfigSyntax, &RunConfig},
    {"completion", "A script that lets a shell complete these commands", &CompletionSyntax, &RunCompletion},
    {"version", "What this binary is made of", &VersionSyntax, &RunVersion},
};

}  // namespace

std::span<const Command> AllCommands() { return kCommands; }

std::span<const Command> SubcommandsOf(const Command& command) {
  return command.subcommands == nullptr ? std::span<const Command>() : command.subcommands();
}

int ExitCodeOf(const Syntax& syntax, const Error& error) {
  if (!syntax.over_api) return kExitFailed;
  if (error.code() == ErrorCode::kNotFound) return kExitMissing;
  if (error.code() == ErrorCode::kPreconditionFailed || error.code() == ErrorCode::kAlreadyExists) {
    return kExitCondition;
  }
  return kExitFailed;
}

}  // namespace kvarts::cli
