// What there is to say about each command and subcommand of Redis 7.0, whether it is built or not, and about our own:
// what COMMAND tells beyond the command table, and what docs/compat/redis.md is made of.
#pragma once

#include <span>
#include <string_view>

namespace kvarts::resp {

struct CommandDoc {
  std::string_view name;        // "config|get"
  std::string_view group;       // "sorted-set"
  std::string_view since;       // a version of Redis; empty for what Redis does not have
  std::string_view complexity;  // empty where it depends
  std::string_view summary;
  // Where its keys are, and what is done with them, as command_keys.h reads it: "RW delete 1, OW update 2 ..-1".
  std::string_view keys = {};
  std::string_view tips = {};  // words that tell proxies how to treat it
  std::string_view deprecated_since = {};
};

// In the order of their names.
std::span<const CommandDoc> AllDocs();
// Null when there is none.
const CommandDoc* DocOf(std::string_view name);

}  // namespace kvarts::resp
