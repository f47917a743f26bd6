// A server under measurement: a program of its own, usually pinned to the last core that we may use while the generator
// has the first. It ends with this object, or with the benchmark.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kvarts::load {

// The calling thread, and those that it starts, run on the first of our cores from now on.
void PinToGeneratorCore();
// On the server's core; for a contender that is a thread of the benchmark.
void PinToServerCore();

// Returns when hardly any CPU time is added to what `cpu_nanos` answers.
void WaitUntilIdle(const std::function<int64_t()>& cpu_nanos);

enum class Pinned : uint8_t { kYes, kNo };

class ServerProcess {
 public:
  // Starts it. Its output goes to `log`.
  ServerProcess(const std::vector<std::string>& command, const std::string& log, uint16_t port,
                Pinned pinned = Pinned::kYes);
  ServerProcess(ServerProcess&& other) noexcept;
  ServerProcess& operator=(ServerProcess&& other) noexcept;
  // Asks it to end, and waits until it has.
  ~ServerProcess();

  // Returns when it accepts connections. Gives up, with what it said last, when it ended instead.
  void WaitUntilListening();
  // From now on the process that is measured is its only child: a server may work in one.
  void MeasureChild();
  // Returns when it has nothing to do.
  void WaitUntilIdle() const;

  uint16_t port() const { return port_; }
  // User and system time of all threads.
  int64_t CpuNanos() const;
  uint64_t ResidentBytes() const;

 private:
  void End();

  pid_t pid_ = -1;
  pid_t measured_ = -1;
  std::string log_;
  uint16_t port_ = 0;
};

}  // namespace kvarts::load
