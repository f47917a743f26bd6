// Operations on keys of Redis' databases, as the bodies of commits have them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "encoding/json_reader.h"
#include "protocol/http/bodies.h"

namespace kvarts::http {

// What such an operation may say besides its op.
struct RedisFields {
  std::optional<uint64_t> database;
  std::optional<std::vector<Bytes>> words;
  std::optional<Bytes> expected;
  bool any() const { return database || words || expected; }
};
// Reads a field if it is one of these.
bool ReadRedisField(JsonReader& json, std::string_view name, RedisFields* fields);
// Adds the command to the commit.
void TakeRedis(JsonReader& json, RedisFields fields, CommitBody* commit);

}  // namespace kvarts::http
