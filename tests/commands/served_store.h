// A store that commands reach: a server of its own, a data directory, or a database on PostgreSQL servers that a file
// of shards names. Tests run on all of them by parameter, since a command is not to know the difference.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "commands/kvarts_process.h"
#include "support/server_process.h"
#include "support/temp_dir.h"

namespace kvarts::test {

enum class Way { kServer, kDirectory, kShards };
inline const auto kEveryWay = testing::Values(Way::kServer, Way::kDirectory, Way::kShards);
// "server", "directory" or "postgres".
std::string WayName(const testing::TestParamInfo<Way>& info);

class CommandsOnEveryWay : public testing::TestWithParam<Way> {
 protected:
  CommandsOnEveryWay();

  // A server on the test's data.
  std::unique_ptr<ServerProcess> Serve() const;
  // The command with what leads it to the store.
  std::vector<std::string> Words(std::vector<std::string> words) const;
  Ran Run(const std::vector<std::string>& words, const std::string& input = {}) const;
  // Runs it and expects that it is done; its output.
  std::string Done(const std::vector<std::string>& words, const std::string& input = {}) const;

  TempDir temp_;
  std::unique_ptr<ServerProcess> server_;  // if that is the way
  const std::string data_ = temp_ / "data";
};

}  // namespace kvarts::test
