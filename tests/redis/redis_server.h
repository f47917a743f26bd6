// The real thing: redis-server in memory, on a socket of its own, ended by its process id.
#pragma once

#include <memory>
#include <string>

#include "support/child_process.h"
#include "support/resp_client.h"
#include "support/temp_dir.h"

namespace kvarts::test {

class RedisServer {
 public:
  // Throws when it does not start.
  RedisServer();

  const std::string& address() const { return address_; }

 private:
  TempDir files_;
  std::string address_;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace kvarts::test
