// A program that is run to its end: what it said, and what it cost.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kvarts::load {

struct CommandRun {
  std::string output;
  int64_t cpu_nanos = 0;  // user and system time, with that of the children it waited for
};

// Gives up, with what it said, when the program fails.
CommandRun RunCommand(const std::vector<std::string>& command);

// Becomes the program; for a process that was just forked.
[[noreturn]] void BecomeCommand(const std::vector<std::string>& command);

}  // namespace kvarts::load
