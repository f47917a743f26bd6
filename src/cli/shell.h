// The shell: lines become words, words a command, and its answer text. It knows nothing of terminals; shell_command.cc
// feeds it lines.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/watch.h"
#include "cli/shell_session.h"
#include "cli/words.h"
#include "kvarts/database.h"

namespace kvarts::cli {

class Shell {
 public:
  explicit Shell(Session& session) : session_(session) {}

  // Runs one line and prints its answer. After an error the shell goes on as if the line had not been there, except
  // that an open block can only be rolled back.
  Status Execute(std::string_view line);
  // Whether somebody said exit.
  bool done() const { return done_; }
  std::string Prompt() const { return session_.in_block() ? "kvarts*> " : "kvarts> "; }

  // The commands that the last word of the line can become.
  static std::vector<std::string> Complete(std::string_view line);

  // Ctrl-C while a command runs. Safe in a signal handler.
  static void Interrupt();

 private:
  struct ShellCommand;
  Status ExecuteLine(std::string_view line);
  struct Watching {
    std::unique_ptr<UserWatch> watch;
    std::optional<uint64_t> left;  // changes that are still shown
  };
  struct LastScan {
    Range range;
    ScanOptions options;
    std::shared_ptr<std::optional<std::string>> cursor;
  };

  static const std::vector<ShellCommand>& Commands();
  static const ShellCommand* Find(std::string_view name);
  static Error NoSuchCommand(std::string_view name);
  static void PrintCommands();

  Status Get(WordReader& words);
  Status Put(WordReader& words);
  Status Create(WordReader& words);
  Status Replace(WordReader& words);
  Status Delete(WordReader& words);
  Status DeleteIf(WordReader& words);
  Status Scan(WordReader& words);
  Status More(WordReader& words);
  Status Count(WordReader& words);
  Status Increment(WordReader& words);
  Status Add(WordReader& words);
  Status Counter(WordReader& words);
  Status Ttl(WordReader& words);
  Status Begin(WordReader& words);
  Status Commit(WordReader& words);
  Status RollBack(WordReader& words);
  Status WatchPrefix(WordReader& words);
  Status Unwatch(WordReader& words);
  Status Stats(WordReader& words);
  Status Sync(WordReader& words);
  Status Help(WordReader& words);
  Status Exit(WordReader& words);

  // Checks that no words are left, runs the step, and prints what came of it.
  Status RunStep(WordReader& words, const Session::Step& step);
  // [PREFIX] or [from KEY] [to KEY].
  Result<Range> TakeRange(WordReader& words);
  Status TakeScanOptions(WordReader& words, LastScan* scan);
  // What the watches have seen by now.
  Status PrintChanges();

  Session& session_;
  bool done_ = false;
  std::optional<LastScan> last_scan_;
  std::vector<Watching> watches_;
};

}  // namespace kvarts::cli
