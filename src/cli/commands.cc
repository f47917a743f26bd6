// The table of all commands.
#include "cli/command.h"

namespace kvarts::cli {
namespace {

constexpr Command kCommands[] = {
    {"serve", "Serve a database over the network", &ServeSyntax, &RunServe},
    {"shell", "Work with a data directory by hand, or run a script", &ShellSyntax, &RunShell},
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

}  // namespace kvarts::cli
