// Runner: commands on data for who speaks another protocol.
#pragma once

#include "protocol/common/redis_commands.h"
#include "protocol/resp/service.h"

namespace kvarts::resp {

class Runner final : public RedisCommands {
 public:
  explicit Runner(Service& service) : service_(service) {}

  Status Check(const RedisCommand& command) const override;
  Status Run(Txn& txn, const std::vector<RedisCommand>& commands, std::vector<Bytes>* answers, size_t* failed) override;

 private:
  Service& service_;
};

}  // namespace kvarts::resp
