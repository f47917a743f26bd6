// A PostgreSQL server of the benchmark's own, from scripts/local-cluster: one primary without replicas. It is taken
// down with this object, and also when the benchmark gives up or is killed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvarts::load {

// What pgbench is told besides its script.
struct PgbenchSettings {
  uint32_t clients = 1;
  uint32_t threads = 1;
  uint32_t seconds = 1;                // about, once it is connected; zero: one transaction for each client
  std::vector<std::string> variables;  // name=value
};

struct PgbenchRun {
  double rate = 0;  // transactions a second, without the time in which it connects
  uint64_t transactions = 0;
  int64_t cpu_nanos = 0;  // of pgbench itself
};

class PostgresServer {
 public:
  // `dir` is made, and is gone at the end. Settings are NAME=VALUE.
  PostgresServer(const std::string& dir, const std::vector<std::string>& settings);
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  // What Kvarts is told to find it.
  std::string ShardsFile() const { return dir_ + "/shards.toml"; }
  // Each statement is a transaction of its own.
  void Execute(const std::vector<std::string>& statements) const;
  // With prepared statements, and without what it does to tables of its own.
  PgbenchRun RunPgbench(std::string_view script, const PgbenchSettings& settings) const;

  // User and system time of all its processes, those that have ended included.
  int64_t CpuNanos() const;
  void WaitUntilIdle() const;

 private:
  void StartKeeper();

  const std::string dir_;
  std::string programs_;  // the folder that has psql and pgbench
  std::string target_;    // as libpq writes it
  pid_t postmaster_ = -1;
  pid_t keeper_ = -1;
  int keeper_fd_ = -1;  // the keeper takes the server down when this is closed, by whatever end of this process
};

}  // namespace kvarts::load
