// kvarts stats: the state of a data directory, in a form that a person understands.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/directory.h"
#include "cli/stats_text.h"
#include "cli/terminal.h"
#include "engine/stats_json.h"

namespace kvarts::cli {

const Syntax& StatsSyntax() {
  static const Syntax kSyntax = {.arguments = {{"DIR"}},
                                 .options = {{"json", OptionKind::kFlag, {}, "one JSON object instead of tables"}},
                                 .description =
                                     "Prints the level table of a data directory, its write, read and space\n"
                                     "amplification with what each means and when to worry, the share of tombstones,\n"
                                     "live and stale bytes, the log, and memory. Caches, and what writing and reading\n"
                                     "met, begin empty in every process, so these figures mean something in the\n"
                                     "shell's `stats` only.\n"};
  return kSyntax;
}

Result<int> RunStats(const Arguments& arguments) {
  const std::string& dir = arguments.at(0);
  KVARTS_TRY(const std::unique_ptr<Engine> engine, OpenDirectory(dir));
  KVARTS_TRY(const EngineStats stats, engine->Stats());
  if (arguments.Has("json")) {
    Print(StatsJson(stats) + "\n");
  } else {
    Print(fmt::format("Data directory {}, format {}\n\n{}", dir, kFormatVersion, StatsText(stats)));
  }
  return kExitOk;
}

}  // namespace kvarts::cli
