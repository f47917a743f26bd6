// RedisCommands: commands of Redis' protocol for other protocols, which carry them out in transactions of their own.
// Whoever speaks that protocol implements it, and the server hands it over.
#pragma once

#include <cstdint>
#include <vector>

#include "core/txn.h"

namespace kvarts {

struct RedisCommand {
  uint32_t database = 0;
  std::vector<Bytes> words;  // the first is the command itself
};

class RedisCommands {
 public:
  virtual ~RedisCommands() = default;

  // That it is a command on data, with as many words as it takes, in a database that there is: `invalid_argument`.
  virtual Status Check(const RedisCommand& command) const = 0;
  // Carries them out in their order, each with an answer as JSON: a text, {"base64": …} of what is no UTF-8, a number,
  // null, or an array of these. The first that is refused is in `failed`, and nothing may be committed then.
  virtual Status Run(Txn& txn, const std::vector<RedisCommand>& commands, std::vector<Bytes>* answers,
                     size_t* failed) = 0;
};

}  // namespace kvarts
