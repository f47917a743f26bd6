// The binary as a test runs it: words in, text and an exit code out.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "support/programs.h"

namespace kvarts::test {

using Ran = ProgramRun;

// Runs `kvarts` with these words and this input to its end.
Ran RunKvarts(const std::vector<std::string>& words, const std::string& input = {});

// `kvarts shell` with each line of the script.
Ran RunScript(const std::string& dir, const std::string& script, const std::vector<std::string>& options = {});

// `kvarts` on a terminal of its own, 100 columns wide.
class OnTerminal {
 public:
  explicit OnTerminal(const std::vector<std::string>& words);
  ~OnTerminal();
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  // What a person types; "\x03" is Ctrl-C, "\x04" Ctrl-D, "\t" Tab.
  void Type(const std::string& keys);
  // Reads until the text was printed, for some seconds at most. What came so far, without escape sequences; each call
  // goes on where the one before stopped.
  std::string Await(const std::string& text);
  // Whether it catches Ctrl-C by now, for some seconds at most; until it has begun to, that ends it as any program.
  bool AwaitCatching();
  // Waits for its end: the exit code.
  int Wait();

 private:
  int terminal_ = -1;
  pid_t pid_ = -1;
  bool waited_ = false;
  std::string unread_;
};

// Whether the text is one well-formed JSON value.
bool IsJson(const std::string& text);

std::vector<std::string> LinesOf(const std::string& text);

}  // namespace kvarts::test
