// A store that commands reach: a server of its own, or a data directory. Tests run on both by parameter, since a
// command is not to know the difference.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "commands/kvarts_process.h"
#include "support/server_process.h"
#include "support/temp_dir.h"

namespace kvarts::test {

enum class Way { kServer, kDirectory };
std::string WayName(const testing::TestParamInfo<Way>& info);

class CommandsOnBothWays : public testing::TestWithParam<Way> {
 protected:
  CommandsOnBothWays();

  // A server on the test's data.
  std::unique_ptr<ServerProcess> Serve() const;
  // The command with what leads it to the store.
  std::vector<std::string> Words(std::vector<std::string> words) const;
  Ran Run(const std::vector<std::string>& words, const std::string& input = {}) const;
  // Runs it and expects that it is done; its output.
  std::string Done(const std::vector<std::string>& words, const std::string& input = {}) const;

  TempDir temp_;
  std::unique_ptr<ServerProcess> server_;  // unless it is the directory
  const std::string data_ = temp_ / "data";
};

}  // namespace kvarts::test
