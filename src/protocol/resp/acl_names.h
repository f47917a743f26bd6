// What the rules of access control know by name: the commands there are, with their subcommands, and those of Redis 7.0
// that are not built, which rules may name nevertheless: a rule that was written for Redis means here what it means
// there, and will when they are.
//
// Each has a number from zero, in the order of the names, that is good for as long as the process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/resp/command.h"

namespace kvarts::resp {

// There are no more names than that.
inline constexpr size_t kMaxAclNames = 512;

struct AclName {
  std::string_view name;  // "config|get"
  uint32_t categories;
  bool of_redis;            // of 7.0, as Redis counts them
  bool has_parent = false;  // it is a subcommand
  uint16_t first_sub = 0;   // of its subcommands
  uint16_t subcommands = 0;
};

std::span<const AclName> AllAclNames();
// In any case of letters.
std::optional<uint16_t> FindAclName(std::string_view name);
// The number of a command of the table. What is a subcommand here and an argument in Redis goes by its container.
uint16_t AclNumberOf(const Command& command);
inline std::string_view AclNameOf(const Command& command) { return AllAclNames()[AclNumberOf(command)].name; }

// In lower case, as far as it is ASCII: as C's functions have it.
std::string AsciiLower(std::string_view text);

}  // namespace kvarts::resp
