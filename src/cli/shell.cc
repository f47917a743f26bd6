#include "cli/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "api/convert.h"
#include "base/nearest.h"
#include "cli/shell_steps.h"
#include "cli/stats_text.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text.h"

namespace kvarts::cli {
namespace {

constexpr size_t kPageEntries = 20;
constexpr size_t kMaxWatches = 16;
// How much of a changed value is shown.
constexpr size_t kChangeBytes = 60;

volatile std::sig_atomic_t interrupted = 0;

bool Interrupted() { return interrupted != 0; }

Result<std::optional<Duration>> TakeTtl(WordReader& words) {
  if (!words.TakeIf("ttl")) return std::optional<Duration>();
  KVARTS_TRY(const Duration ttl, words.TakeDuration("DURATION"));
  return std::optional(ttl);
}

std::string ChangeText(const Change& change) {
  const std::string key = ShownWord(change.key);
  switch (change.kind) {
    case Change::Kind::kPut:
      return fmt::format("put {} = {}", key, ShownShort(change.value, kChangeBytes));
    case Change::Kind::kDelete:
      return fmt::format("deleted {}", key);
    case Change::Kind::kDeleteRange:
      return fmt::format("deleted from {} to {}", key, ShownWord(change.end));
    case Change::Kind::kAdd:
      return fmt::format("added {} to {}", change.delta, key);
  }
  return {};
}

}  // namespace

struct Shell::ShellCommand {
  std::string_view name;
  std::string_view other_name;
  std::string_view words;    // what it takes
  std::string_view help;     // one line
  std::string_view details;  // the rest
  Status (Shell::*run)(WordReader& words);

  std::string Usage() const { return words.empty() ? std::string(name) : fmt::format("{} {}", name, words); }
};

const std::vector<Shell::ShellCommand>& Shell::Commands() {
  static const std::vector<ShellCommand> kCommands = {
      {"get", "", "KEY", "show a value, its version and expiry", "", &Shell::Get},
      {"put", "set", "KEY VALUE [ttl DURATION]", "store a value, for a while if ttl is given",
       "A DURATION is in seconds, or 500ms, 5m, 2h, 7d: put session:7 token ttl 30", &Shell::Put},
      {"create", "", "KEY VALUE [ttl DURATION]", "store a value if there is none", "", &Shell::Create},
      {"cas", "replace", "KEY VERSION VALUE [ttl DURATION]", "replace a value that has this version",
       "Compare and swap: get shows the version; if the value has changed since, nothing\n"
       "is written.",
       &Shell::Replace},
      {"delete", "del", "KEY", "delete a key", "", &Shell::Delete},
      {"deleteif", "", "KEY VERSION", "delete a key if its value has this version", "", &Shell::DeleteIf},
      {"scan", "", "[PREFIX] [from KEY] [to KEY] [limit N] [reverse] [keys]", "list keys in order, a page at a time",
       "Everything, or what begins with PREFIX, or the keys at or after `from` and before\n"
       "`to`. A page has 20 keys unless limit says otherwise, and more shows the next one.\n"
       "The word keys leaves the values out.",
       &Shell::Scan},
      {"more", "", "", "show the next page of the last scan", "", &Shell::More},
      {"count", "", "[PREFIX] [from KEY] [to KEY]", "count keys, exactly", "", &Shell::Count},
      {"incr", "", "KEY [N]", "add N or 1 to a counter and show it", "", &Shell::Increment},
      {"add", "", "KEY N", "add to a counter without reading it", "", &Shell::Add},
      {"counter", "", "KEY", "show a counter", "", &Shell::Counter},
      {"ttl", "touch", "KEY [DURATION | never]", "show or change when a key expires",
       "A DURATION is in seconds, or 500ms, 5m, 2h, 7d.", &Shell::Ttl},
      {"begin", "", "", "open a transaction block",
       "Commands up to commit see each other's changes, and nobody else does. commit writes\n"
       "all of them or, if anything that the block has read is different by then, nothing.\n"
       "rollback throws them away.",
       &Shell::Begin},
      {"commit", "", "", "write all changes of the block", "", &Shell::Commit},
      {"rollback", "", "", "throw the block away", "", &Shell::RollBack},
      {"watch", "", "PREFIX [N]", "show changes under a prefix",
       "From now on until unwatch, or until N changes were shown.", &Shell::WatchPrefix},
      {"unwatch", "", "", "end all watches", "", &Shell::Unwatch},
      {"stats", "", "", "what is on disk, and what it costs", "", &Shell::Stats},
      {"sync", "", "", "wait until everything is on disk", "", &Shell::Sync},
      {"help", "?", "[COMMAND]", "this list, or more about a command", "", &Shell::Help},
      {"exit", "quit", "", "leave", "", &Shell::Exit},
  };
  return kCommands;
}

const Shell::ShellCommand* Shell::Find(std::string_view name) {
  for (const ShellCommand& command : Commands()) {
    if (command.name == name || (!command.other_name.empty() && command.other_name == name)) return &command;
  }
  return nullptr;
}

Error Shell::NoSuchCommand(std::string_view name) {
  std::vector<std::string_view> names;
  for (const ShellCommand& known : Commands()) names.push_back(known.name);
  const std::string_view nearest = Nearest(name, names);
  return Error(ErrorCode::kInvalidArgument,
               nearest.empty() ? "there is no such command, and help lists them" : "there is no such command",
               {{"command", ShownWord(name)}, {"nearest", std::string(nearest)}});
}

void Shell::Interrupt() { interrupted = 1; }

std::vector<std::string> Shell::Complete(std::string_view line) {
  const size_t last = line.find_last_of(' ') + 1;
  const std::string_view before = line.substr(0, last);
  // Commands stand at the beginning, or behind help.
  const size_t first = before.find_first_not_of(' ');
  if (first != std::string_view::npos && before.substr(first) != "help ") return {};
  std::vector<std::string> names;
  for (const ShellCommand& command : Commands()) {
    if (command.name.starts_with(line.substr(last))) names.emplace_back(command.name);
  }
  return names;
}

Status Shell::Execute(std::string_view line) {
  const Status ran = ExecuteLine(line);
  if (!ran.has_value()) session_.SpoilBlock();
  return ran;
}

Status Shell::ExecuteLine(std::string_view line) {
  interrupted = 0;
  KVARTS_TRY(const std::vector<Word> words, SplitWords(line));
  if (words.empty()) return {};
  const ShellCommand* command = Find(words[0].text);
  if (command == nullptr) return NoSuchCommand(words[0].text);
  WordReader reader(std::span<const Word>(words).subspan(1), command->Usage());
  KVARTS_CHECK_OK((this->*command->run)(reader));
  return PrintChanges();
}

Status Shell::RunStep(WordReader& words, const Session::Step& step) {
  KVARTS_CHECK_OK(words.Finish());
  KVARTS_TRY(const Session::Outcome outcome, session_.Run(step));
  std::string text = outcome.text;
  if (outcome.version) text.append(Dim(fmt::format(", version {}", outcome.version->ToString())));
  if (outcome.wrote && !outcome.version) text.append(Dim(", not committed yet"));
  Print(text + "\n");
  return {};
}

Status Shell::Get(WordReader& words) {
  KVARTS_TRY(std::string key, words.Take("KEY"));
  return RunStep(words, GetStep(std::move(key)));
}

Status Shell::Put(WordReader& words) {
  KVARTS_TRY(std::string key, words.Take("KEY"));
  KVARTS_TRY(std::string value, words.Take("VALUE"));
  KVARTS_TRY(const std::optional<Duration> ttl, TakeTtl(words));
  return RunStep(words, PutStep(std::move(key), std::move(value), ttl));
}

Status Shell::Create(WordReader& words) {
  KVARTS_TRY(std::string key, words.Take("KEY"));
  KVARTS_TRY(std::string value, words.Take("VALUE"));
  KVARTS_TRY(const std::optional<Duration> ttl, TakeTtl(words));
  return RunStep(words, CreateStep(std::move(key), std::move(value), ttl));
}

Status Shell::Replace(WordReader& words) {
  KVARTS_TRY(std::string key, words.Take("KEY"));
  KVARTS_TRY(const Version expected, words.TakeVersion("VERSION"));
  KVARTS_TRY(std::string value, words.Take("VALUE"));
  KVARTS_TRY(const std::optional<Duration> ttl, TakeTtl(words));
  return RunStep(words, ReplaceStep(std::move(key), expected, std::move(value), ttl));
}

Status Shell::Delete(WordReader& words) {
  KVARTS_TRY(std::string key, words.Take("KEY"));
  return RunStep(words, DeleteStep(std::move(key), std::nullopt));
}

Status Shell::DeleteIf(WordReader& words) {
  KVARTS_TRY(std::string key, words.Take("KEY"));
  KVARTS_TRY(const Version expected, words.TakeVersion("VERSION"));
  return RunStep(words, DeleteStep(std::move(key), expected));
}

Result<Range> Shell::TakeRange(WordReader& words) {
  if (words.HasOther({"from", "to", "limit", "reverse", "keys"})) {
    KVARTS_TRY(const std::string prefix, words.Take("PREFIX"));
    return Range::Prefix(prefix);
  }
  Range range;
  if (words.TakeIf("from")) {
    KVARTS_TRY(range.start, words.Take("KEY"));
  }
  if (words.TakeIf("to")) {
    KVARTS_TRY(range.end, words.Take("KEY"));
  }
  return range;
}

Status Shell::TakeScanOptions(WordReader& words, LastScan* scan) {
  scan->options.limit = kPageEntries;
  while (!words.AtEnd()) {
    if (words.TakeIf("limit")) {
      KVARTS_TRY(scan->options.limit, words.TakeCount("N"));
    } else if (words.TakeIf("reverse")) {
      scan->options.reverse = true;
    } else if (words.TakeIf("keys")) {
      scan->options.keys_only = true;
    } else {
      return words.Finish();
    }
  }
  return {};
}

Status Shell::Scan(WordReader& words) {
  LastScan scan;
  scan.cursor = std::make_shared<std::optional<std::string>>();
  KVARTS_TRY(scan.range, TakeRange(words));
  KVARTS_CHECK_OK(TakeScanOptions(words, &scan));
  KVARTS_CHECK_OK(RunStep(words, ScanStep(scan.range, scan.options, scan.cursor)));
  last_scan_ = std::move(scan);
  return {};
}

Status Shell::More(WordReader& words) {
  KVARTS_CHECK_OK(words.Finish());
  if (!last_scan_ || !*last_scan_->cursor) {
    return Error(ErrorCode::kNotFound, last_scan_ ? "the last scan is at its end" : "there was no scan yet");
  }
  LastScan next = *last_scan_;
  next.options.cursor = **last_scan_->cursor;
  next.cursor = std::make_shared<std::optional<std::string>>();
  KVARTS_CHECK_OK(RunStep(words, ScanStep(next.range, next.options, next.cursor)));
  last_scan_ = std::move(next);
  return {};
}

Status Shell::Count(WordReader& words) {
  KVARTS_TRY(const Range range, TakeRange(words));
  return RunStep(words, CountStep(range, &Interrupted));
}

Status Shell::Increment(WordReader& words) {
  KVARTS_TRY(std::string key, words.Take("KEY"));
  int64_t delta = 1;
  if (!words.AtEnd()) {
    KVARTS_TRY(delta, words.TakeInteger("N"));
  }
  return RunStep(words, IncrementStep(std::move(key), delta));
}

Status Shell::Add(WordReader& words) {
  KVARTS_TRY(std::string key, words.Take("KEY"));
  KVARTS_TRY(const int64_t delta, words.TakeInteger("N"));
  return RunStep(words, AddStep(std::move(key), delta));
}

Status Shell::Counter(WordReader& words) {
  KVARTS_TRY(std::string key, words.Take("KEY"));
  return RunStep(words, CounterStep(std::move(key)));
}

Status Shell::Ttl(WordReader& words) {
  KVARTS_TRY(std::string key, words.Take("KEY"));
  if (words.AtEnd()) return RunStep(words, ShowExpiryStep(std::move(key)));
  if (words.TakeIf("never")) return RunStep(words, SetExpiryStep(std::move(key), std::nullopt));
  KVARTS_TRY(const Duration ttl, words.TakeDuration("DURATION"));
  return RunStep(words, SetExpiryStep(std::move(key), ttl));
}

Status Shell::Begin(WordReader& words) {
  KVARTS_CHECK_OK(words.Finish());
  KVARTS_CHECK_OK(session_.Begin());
  Print("a block is open: nothing is written before commit\n");
  return {};
}

Status Shell::Commit(WordReader& words) {
  KVARTS_CHECK_OK(words.Finish());
  KVARTS_TRY(const Session::Committed committed, session_.Commit());
  std::string text = fmt::format("committed {}", Counted(committed.steps, "step", "steps"));
  if (committed.version) text.append(Dim(fmt::format(", version {}", committed.version->ToString())));
  Print(text + "\n");
  return {};
}

Status Shell::RollBack(WordReader& words) {
  KVARTS_CHECK_OK(words.Finish());
  KVARTS_TRY(const size_t steps, session_.RollBack());
  Print(fmt::format("threw {} away\n", Counted(steps, "step", "steps")));
  return {};
}

Status Shell::WatchPrefix(WordReader& words) {
  KVARTS_TRY(const std::string prefix, words.Take("PREFIX"));
  Watching watching;
  if (!words.AtEnd()) {
    KVARTS_TRY(watching.left, words.TakeCount("N"));
  }
  KVARTS_CHECK_OK(words.Finish());
  if (watches_.size() >= kMaxWatches) {
    return Error(ErrorCode::kTooLarge, "too many watches; unwatch ends them",
                 {{"at_most", std::to_string(kMaxWatches)}});
  }
  KVARTS_TRY(KeyRange range, PhysicalRange(Range::Prefix(prefix), session_.engine().limits()));
  watching.watch = std::make_unique<UserWatch>(session_.store().subscriptions(), std::move(range), Options());
  watches_.push_back(std::move(watching));
  Print("watching; unwatch ends it\n");
  return {};
}

Status Shell::PrintChanges() {
  for (Watching& watching : watches_) {
    while (watching.left.value_or(1) > 0) {
      KVARTS_TRY(const std::optional<Change> change, watching.watch->Next(Duration{}));
      if (!change) break;
      Print(fmt::format("  {} {}\n", Bold("changed:"), ChangeText(*change)));
      if (watching.left) --*watching.left;
    }
  }
  std::erase_if(watches_, [](const Watching& watching) { return watching.left == 0; });
  return {};
}

Status Shell::Unwatch(WordReader& words) {
  KVARTS_CHECK_OK(words.Finish());
  Print(fmt::format("ended {}\n", Counted(watches_.size(), "watch", "watches")));
  watches_.clear();
  return {};
}

Status Shell::Stats(WordReader& words) {
  KVARTS_CHECK_OK(words.Finish());
  KVARTS_TRY(const EngineStats stats, session_.engine().Stats());
  Print(StatsText(stats));
  return {};
}

Status Shell::Sync(WordReader& words) {
  KVARTS_CHECK_OK(words.Finish());
  KVARTS_CHECK_OK(session_.engine().Sync());
  Print("everything is on disk\n");
  return {};
}

Status Shell::Help(WordReader& words) {
  std::string name;
  if (!words.AtEnd()) {
    KVARTS_TRY(name, words.Take("COMMAND"));
  }
  KVARTS_CHECK_OK(words.Finish());
  if (name.empty()) {
    PrintCommands();
    return {};
  }
  const ShellCommand* command = Find(name);
  if (command == nullptr) return NoSuchCommand(name);
  Print(fmt::format("{}: {}\n", Bold(command->Usage()), command->help));
  if (!command->other_name.empty()) Print(fmt::format("Also called {}.\n", command->other_name));
  if (!command->details.empty()) Print(fmt::format("{}\n", command->details));
  return {};
}

void Shell::PrintCommands() {
  constexpr size_t kWidth = 34;
  for (const ShellCommand& command : Commands()) {
    const std::string usage = command.Usage();
    const bool fits = usage.size() <= kWidth;
    Print(fmt::format("  {}{}", Bold(usage),
                      fits ? std::string(kWidth - usage.size(), ' ') : "\n" + std::string(kWidth + 2, ' ')));
    Print(fmt::format("  {}\n", command.help));
  }
  Print("Words with blanks stand in \"double\" or 'single' quotes. \\xNN is any byte.\n");
}

Status Shell::Exit(WordReader& words) {
  KVARTS_CHECK_OK(words.Finish());
  done_ = true;
  return {};
}

}  // namespace kvarts::cli
