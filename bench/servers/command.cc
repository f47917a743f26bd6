#include "servers/command.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "load/socket.h"

namespace kvarts::load {
namespace {

int64_t Nanos(const timeval& time) { return int64_t{time.tv_sec} * 1'000'000'000 + int64_t{time.tv_usec} * 1000; }

}  // namespace

void BecomeCommand(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

CommandRun RunCommand(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) GiveUp("there are no pipes left");
  const pid_t pid = fork();
  if (pid < 0) GiveUp("a program cannot be started: " + command[0]);
  if (pid == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    BecomeCommand(command);
  }
  close(ends[1]);
  CommandRun run;
  char block[4096];
  for (ssize_t n = read(ends[0], block, sizeof(block)); n > 0; n = read(ends[0], block, sizeof(block))) {
    run.output.append(block, static_cast<size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  rusage used{};
  wait4(pid, &status, 0, &used);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) GiveUp(command[0] + " failed: " + run.output);
  run.cpu_nanos = Nanos(used.ru_utime) + Nanos(used.ru_stime);
  return run;
}

}  // namespace kvarts::load
