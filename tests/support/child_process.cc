#include "support/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

namespace kvarts::test {
namespace {

void Redirect(const std::string& path, int flags, int to) {
  if (path.empty()) return;
  const int file = open(path.c_str(), flags, 0600);
  if (file < 0 || dup2(file, to) < 0) _exit(126);
}

}  // namespace

void Become(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  _exit(127);
}

int ExitCode(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

ChildProcess::ChildProcess(const std::vector<std::string>& words, const ProcessFiles& files) : pid_(fork()) {
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ > 0) return;
  // A test that crashes leaves nobody behind who would work on the next one's data.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Redirect(files.in, O_RDONLY, STDIN_FILENO);
  Redirect(files.out, O_WRONLY | O_CREAT | O_APPEND, STDOUT_FILENO);
  Redirect(files.err, O_WRONLY | O_CREAT | O_APPEND, STDERR_FILENO);
  Become(words);
}

ChildProcess::~ChildProcess() {
  Signal(SIGKILL);
  Wait();
}

bool ChildProcess::Running() {
  int status = 0;
  if (code_ < 0 && waitpid(pid_, &status, WNOHANG) == pid_) code_ = ExitCode(status);
  return code_ < 0;
}

void ChildProcess::Signal(int number) const {
  if (code_ < 0) kill(pid_, number);
}

int ChildProcess::Wait() {
  int status = 0;
  if (code_ < 0 && waitpid(pid_, &status, 0) == pid_) code_ = ExitCode(status);
  return code_;
}

}  // namespace kvarts::test
