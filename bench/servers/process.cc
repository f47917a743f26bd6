#include "servers/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "load/socket.h"
#include "servers/command.h"

namespace kvarts::load {
namespace {

constexpr int kStartLooks = 3000;  // of 10 ms
constexpr int kEndLooks = 6000;    // the same

// The cores that the program was given, taken when it starts.
const cpu_set_t& Cores() {
  static const cpu_set_t cores = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    return set;
  }();
  return cores;
}

void PinTo(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof(set), &set);
}

int FirstCore() {
  int core = 0;
  while (core < CPU_SETSIZE - 1 && !CPU_ISSET(core, &Cores())) ++core;
  return core;
}

int LastCore() {
  int core = CPU_SETSIZE - 1;
  while (core > 0 && !CPU_ISSET(core, &Cores())) --core;
  return core;
}

std::string TextOf(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void Pause() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

}  // namespace

void PinToGeneratorCore() { PinTo(FirstCore()); }
void PinToServerCore() { PinTo(LastCore()); }

void WaitUntilIdle(const std::function<int64_t()>& cpu_nanos) {
  constexpr int64_t kQuietNanos = 1'500'000;  // in one look of 30 ms: 5 % of a core
  int quiet = 0;
  for (int look = 0; look < 10'000 && quiet < 3; ++look) {
    const int64_t before = cpu_nanos();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    quiet = cpu_nanos() - before < kQuietNanos ? quiet + 1 : 0;
  }
}

ServerProcess::ServerProcess(const std::vector<std::string>& command, const std::string& log, uint16_t port,
                             Pinned pinned)
    : log_(log), port_(port) {
  const int core = LastCore();
  const pid_t parent = getpid();
  pid_ = measured_ = fork();
  if (pid_ < 0) GiveUp("a server cannot be started");
  if (pid_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(126);
  if (pinned == Pinned::kYes) PinTo(core);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  dup2(out, STDOUT_FILENO);
  dup2(out, STDERR_FILENO);
  BecomeCommand(command);
}

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      measured_(other.measured_),
      log_(std::move(other.log_)),
      port_(other.port_) {}

ServerProcess& ServerProcess::operator=(ServerProcess&& other) noexcept {
  if (this == &other) return *this;
  End();
  pid_ = std::exchange(other.pid_, -1);
  measured_ = other.measured_;
  log_ = std::move(other.log_);
  port_ = other.port_;
  return *this;
}

ServerProcess::~ServerProcess() { End(); }

void ServerProcess::End() {
  if (pid_ < 0) return;
  kill(pid_, SIGTERM);
  for (int look = 0; look < kEndLooks; ++look) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) return;
    Pause();
  }
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void ServerProcess::WaitUntilListening() {
  for (int look = 0; look < kStartLooks; ++look) {
    const int fd = Connect("127.0.0.1", port_);
    if (fd >= 0) {
      close(fd);
      return;
    }
    if (waitpid(pid_, nullptr, WNOHANG) != 0) {
      pid_ = -1;
      GiveUp("a server ended as it was started: " + TextOf(log_));
    }
    Pause();
  }
  GiveUp("a server does not listen: " + TextOf(log_));
}

void ServerProcess::MeasureChild() {
  for (int look = 0; look < kStartLooks; ++look) {
    std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", pid_));
    if (children >> measured_) return;
    Pause();
  }
  GiveUp("a server has no worker");
}

void ServerProcess::WaitUntilIdle() const {
  load::WaitUntilIdle([this] { return CpuNanos(); });
}

int64_t ServerProcess::CpuNanos() const {
  clockid_t clock{};
  timespec now{};
  if (clock_getcpuclockid(measured_, &clock) != 0 || clock_gettime(clock, &now) != 0) {
    GiveUp("a server is gone: " + TextOf(log_));
  }
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

uint64_t ServerProcess::ResidentBytes() const {
  std::ifstream in(fmt::format("/proc/{}/status", measured_));
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("VmRSS:")) return std::stoull(line.substr(6)) * 1024;
  }
  GiveUp("a server is gone: " + TextOf(log_));
}

}  // namespace kvarts::load
