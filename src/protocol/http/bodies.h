// The JSON bodies of requests as typed commands. Every input error is found here, with the way to the field that is
// wrong.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "encoding/json_reader.h"
#include "model/keys/keys.h"
#include "protocol/common/redis_commands.h"
#include "protocol/http/row_commands.h"

namespace kvarts::http {

// {"value": …, "ttl": seconds, "envelope": {…}}, for the key in the path. "counter": true makes an integer a counter,
// "type" gives bytes a media type.
Result<keys::Put> ParsePutBody(std::string_view body);
// {"ttl": …}, {"increment": n} or {"append": "text"}: a change of what is there.
Result<keys::Command> ParsePatchBody(std::string_view body);

struct CommitBody {
  std::vector<keys::Requirement> requirements = {};
  std::vector<keys::Command> commands = {};
  // Commands about rows, which share nothing with those about keys but the commit.
  std::vector<TableCommand> rows = {};
  // And those about keys of Redis' databases, with the answers they must have, as JSON.
  std::vector<RedisCommand> redis = {};
  std::vector<std::optional<Bytes>> expected = {};
  // In which order they were given.
  enum class Of : uint8_t { kKey, kRow, kRedis };
  std::vector<Of> order = {};
  // What the body calls the list of them.
  const char* list = "mutations";

  // What went wrong with one of several says with which, as `field` does of what is wrong with the body.
  Error At(const char* of_list, size_t place, const Error& error) const;
  // Likewise with a command: the number of all about keys, or all about rows.
  Error At(Of of, size_t number, const Error& error) const;
};
// {"preconditions": […], "mutations": […]}, at most so many of both together.
Result<CommitBody> ParseCommitBody(std::string_view body, size_t max_operations);

// What went wrong with one of a list in a body, with its place, as in "keys[3]".
Error AtPlace(const char* list, size_t place, const Error& error);

// {"keys": ["a", {"key_base64": "…"}]}, at most `at_most`.
Result<std::vector<Bytes>> ParseKeysBody(std::string_view body, size_t at_most);
Error TooManyKeys(size_t at_most);

// {"prefix": …}, {"start": …, "end": …}, or {"all": true} for everything.
Result<KeyRange> ParseRangeBody(std::string_view body);

// Reads a field of an object if it is `name`, a text, or the same in base64. Both together are refused.
bool TakeBytes(JsonReader& json, std::string_view field, std::string_view name, std::optional<Bytes>* to);

// A time to live in seconds, fractions included.
Result<keys::Lifetime> LifetimeOf(double seconds);
// What is wrong with it; null when nothing is.
const char* WhyNoLifetime(double seconds);
// The same, of what the reader reads next.
keys::Lifetime ReadSeconds(JsonReader& json);

}  // namespace kvarts::http
