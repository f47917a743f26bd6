// A store that commands reach: a server of its own, or a data directory. Tests run on both by parameter, since a
// command is not to know the difference.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "commands/kvarts_process.h"
#include "support/child_process.h"
#include "support/temp_dir.h"

namespace kvarts::test {

// `kvarts serve` on a socket in a directory of its own.
class ServerProcess {
 public:
  // Returns when it serves.
  explicit ServerProcess(const std::string& data, std::vector<std::string> options = {});

  // For --server.
  std::string address() const { return "unix:" + socket_; }
  // Begins again on the same socket and data, after an end without warning.
  void KillAndRestart();

 private:
  void Start();

  TempDir dir_;
  const std::string socket_ = dir_ / "socket";
  const std::string data_;
  const std::vector<std::string> options_;
  std::unique_ptr<ChildProcess> process_;
};

enum class Way { kServer, kDirectory };
std::string WayName(const testing::TestParamInfo<Way>& info);

class CommandsOnBothWays : public testing::TestWithParam<Way> {
 protected:
  CommandsOnBothWays();

  // The command with what leads it to the store.
  std::vector<std::string> Words(std::vector<std::string> words) const;
  Ran Run(const std::vector<std::string>& words, const std::string& input = {}) const;
  // Runs it and expects that it is done; its output.
  std::string Done(const std::vector<std::string>& words, const std::string& input = {}) const;

  TempDir temp_;
  std::unique_ptr<ServerProcess> server_;  // unless it is the directory
};

}  // namespace kvarts::test
