// A redis-server and a Kvarts on an engine, with a client of each: for what is asked of both.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "redis/redis_server.h"
#include "support/on_every_engine.h"
#include "support/resp_client.h"
#include "support/server_process.h"

namespace kvarts::test {

class BothServersTest : public OnEngineTest {
 protected:
  void SetUp() override {
    ours_ =
        std::make_unique<ServerProcess>(std::vector<std::string>{"--engine", GetParam().name, "--durability", "none"});
    us_ = std::make_unique<RespClient>(ours_->address());
    theirs_ = std::make_unique<RedisServer>();
    them_ = std::make_unique<RespClient>(theirs_->address());
  }

  std::unique_ptr<RedisServer> theirs_;
  std::unique_ptr<ServerProcess> ours_;
  std::unique_ptr<RespClient> us_;
  std::unique_ptr<RespClient> them_;
};

}  // namespace kvarts::test
