#include "support/child_process.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace kvarts::test {

ChildProcess::ChildProcess(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ == 0) {
    execv(program.c_str(), argv.data());
    _exit(127);
  }
}

ChildProcess::~ChildProcess() {
  if (code_ >= 0) return;
  kill(pid_, SIGKILL);
  Wait();
}

bool ChildProcess::Running() {
  int status = 0;
  if (code_ < 0 && waitpid(pid_, &status, WNOHANG) == pid_) Take(status);
  return code_ < 0;
}

void ChildProcess::Kill() {
  if (code_ < 0) kill(pid_, SIGKILL);
}

int ChildProcess::Wait() {
  int status = 0;
  if (code_ < 0 && waitpid(pid_, &status, 0) == pid_) Take(status);
  return code_;
}

void ChildProcess::Take(int status) { code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace kvarts::test
