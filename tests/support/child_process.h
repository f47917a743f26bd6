// A program that a test starts, and ends by its process id.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace kvarts::test {

// Files that take the place of a program's standard input, output and error; empty: those of the test.
struct ProcessFiles {
  std::string in = {};
  std::string out = {};  // appended to
  std::string err = {};  // appended to
};

class ChildProcess {
 public:
  // The program, by its path or a name that is found in PATH, and its arguments.
  explicit ChildProcess(const std::vector<std::string>& words, const ProcessFiles& files = {});
  // Kills it if it is still there.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool Running();
  void Signal(int number) const;
  // Waits for its end: the exit code, or 128 and the number of the signal.
  int Wait();

 private:
  pid_t pid_;
  int code_ = -1;  // once it has ended
};

// The same in parts, for who forks in another way: becomes the program; the code of what waitpid said.
[[noreturn]] void Become(const std::vector<std::string>& words);
int ExitCode(int status);

}  // namespace kvarts::test
