// Programs that a test runs to their end: words in, text and an exit code out.
#pragma once

#include <string>
#include <vector>

namespace kvarts::test {

struct ProgramRun {
  int code = -1;  // of the exit; 128 and the number of the signal if there was one
  std::string out = {};
  std::string err = {};
};

// A program, by its path or a name that is found in PATH, with this input.
ProgramRun RunProgram(const std::vector<std::string>& words, const std::string& input = {});

// A line of sh; what goes to its standard error is in `out` too.
ProgramRun RunShell(const std::string& line);

// Whether a program is found in PATH.
bool Installed(const std::string& program);

}  // namespace kvarts::test
