// The file that names the servers of the postgres engine:
//
//   [shard.0]
//   servers = ["host=10.0.0.1 dbname=kvarts user=kvarts", "host=10.0.0.2 dbname=kvarts user=kvarts"]
//
// Each server is written as libpq wants it, with all that it takes: passfile, sslmode and so on. Which of them is the
// primary is found out by asking them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace kvarts {

struct Shard {
  std::string name;
  std::vector<std::string> servers;
};

// At least one shard, each with at least one server; an error names the file and the line.
Result<std::vector<Shard>> ReadShards(const std::string& path);

}  // namespace kvarts
