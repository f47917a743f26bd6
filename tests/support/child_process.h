// A helper program that a test starts, and ends by its process id.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace kvarts::test {

class ChildProcess {
 public:
  // Runs the program at this path.
  ChildProcess(const std::string& program, const std::vector<std::string>& arguments);
  // Kills it if it is still there.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  bool Running();
  void Kill();
  // Waits for its end: the exit code, or 128 and the number of the signal.
  int Wait();

 private:
  void Take(int status);

  pid_t pid_;
  int code_ = -1;  // once it has ended
};

}  // namespace kvarts::test
