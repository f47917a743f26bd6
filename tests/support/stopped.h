// Processes that do nothing for a while, as a server that hangs; they go on at the latest when the test ends.
#pragma once

#include <signal.h>

#include <utility>
#include <vector>

namespace kvarts::test {

class Stopped {
 public:
  explicit Stopped(std::vector<int> processes) : processes_(std::move(processes)) { Signal(SIGSTOP); }
  ~Stopped() { Continue(); }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;

  const std::vector<int>& processes() const { return processes_; }
  void Continue() const { Signal(SIGCONT); }

 private:
  void Signal(int number) const {
    for (const int pid : processes_) kill(pid, number);
  }

  const std::vector<int> processes_;
};

}  // namespace kvarts::test
