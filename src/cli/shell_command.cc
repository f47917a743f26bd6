// kvarts shell: feeds lines to the shell, from a terminal or from a script.
#include <fmt/format.h>

#include <csignal>

#include "cli/command.h"
#include "cli/error_text.h"
#include "cli/line_reader.h"
#include "cli/place.h"
#include "cli/shell.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kvarts::cli {
namespace {

// The longest value with every byte escaped, its key, and the command.
constexpr size_t kMaxLineBytes = 72 << 20;

void OnInterrupt(int) { Shell::Interrupt(); }

Status Greet(const std::string& dir, Engine& engine, Durability durability) {
  KVARTS_TRY(const EngineStats stats, engine.Stats());
  const std::string keys = stats.keys_estimate == 0 ? "empty" : "about " + Counted(stats.keys_estimate, "key", "keys");
  Print(fmt::format("Kvarts {}. Data in {}: {}. Writes are {}.\n", KVARTS_VERSION, dir, keys,
                    DurabilityName(durability)));
  Print(fmt::format("Try {}, then {}, then {}.\n", Bold("put greeting hello"), Bold("get greeting"), Bold("scan")));
  Print(fmt::format("{} lists all commands, Tab completes them, Ctrl-D leaves.\n", Bold("help")));
  return {};
}

// Until somebody leaves. Errors are shown, and forgotten.
Result<int> Converse(Shell& shell, LineReader& lines) {
  while (!shell.done()) {
    KVARTS_TRY(const LineReader::Line line, lines.Next(shell.Prompt()));
    if (line.kind == LineReader::Line::Kind::kCancelled) continue;
    if (line.kind == LineReader::Line::Kind::kEnd) {
      Print("\n");
      break;
    }
    const Status ran = shell.Execute(line.text);
    if (!ran.has_value()) Print(fmt::format("{} {}\n", Red("error:"), ErrorText(ran.error())));
  }
  return kExitOk;
}

// To the end of the script, or to the first error.
Result<int> Follow(Shell& shell, LineReader& lines, bool keep_going) {
  int code = kExitOk;
  for (uint64_t number = 1; !shell.done(); ++number) {
    KVARTS_TRY(const LineReader::Line line, lines.Next({}));
    if (line.kind == LineReader::Line::Kind::kEnd) break;
    const Status ran = shell.Execute(line.text);
    if (ran.has_value()) continue;
    PrintError(fmt::format("kvarts: line {}: {}\n", number, ErrorText(ran.error())));
    code = kExitFailed;
    if (!keep_going) break;
  }
  return code;
}

RocksOptions ShellOptions(const Arguments& arguments) {
  RocksOptions options = DirectoryOptions();
  options.create_if_missing = !arguments.Has("no-create");
  options.memory_budget = arguments.Number("memory-budget").value_or(options.memory_budget);
  return options;
}

}  // namespace

const Syntax& ShellSyntax() {
  static const Syntax kSyntax = {
      .arguments = {{"DIR"}},
      .options =
          {
              {"durability",
               OptionKind::kChoice,
               "HOW",
               "what the acknowledgement of a write promises (default sync)",
               {"none", "interval", "sync"}},
              {"memory-budget",
               OptionKind::kSize,
               "SIZE",
               "for caches and write buffers (default 512MiB)",
               {},
               8 << 20},
              {"no-create", OptionKind::kFlag, {}, "do not make the data directory if it is not there"},
              {"keep-going", OptionKind::kFlag, {}, "run a script to its end, whatever fails"},
              {"history", OptionKind::kPath, "FILE", "keep what was typed in FILE"},
          },
      .description =
          "Opens the database in DIR, which is made if it is not there, and runs what is\n"
          "typed: `help` lists the commands. When the input is not a terminal it is a\n"
          "script: a command per line, # begins a comment, and the first error ends it\n"
          "with exit code 1.\n\n"
          "  printf 'put user:1 Ada\\nget user:1\\n' | kvarts shell ./data\n",
      .refused = {{"shards", "the shell is for data directories; get, put, scan, commit and the like take --shards"}}};
  return kSyntax;
}

Result<int> RunShell(const Arguments& arguments) {
  const std::string& dir = arguments.at(0);
  const Durability durability = *ParseDurability(arguments.Text("durability").value_or("sync"));
  KVARTS_TRY(const std::unique_ptr<Session> session, Session::Open(dir, ShellOptions(arguments), durability));
  Shell shell(*session);
  int code = kExitOk;
  if (InputIsTerminal()) {
    KVARTS_TRY(const auto lines, MakeTerminalReader(&Shell::Complete, arguments.Text("history").value_or("")));
    KVARTS_CHECK_OK(Greet(dir, session->engine(), durability));
    std::signal(SIGINT, &OnInterrupt);
    KVARTS_TRY(code, Converse(shell, *lines));
  } else {
    const auto lines = MakePlainReader(kMaxLineBytes);
    KVARTS_TRY(code, Follow(shell, *lines, arguments.Has("keep-going")));
  }
  if (!session->in_block()) return code;
  PrintError("kvarts: a transaction block was left open; nothing of it was written\n");
  return kExitFailed;
}

}  // namespace kvarts::cli
