// All commands there are. A family of them has a file, and a line each here.
#pragma once

#include <span>
#include <string_view>

#include "protocol/resp/command.h"

namespace kvarts::resp {

std::span<const Command> AllCommands();
// Those of subcommands, in their order (subcommand_table.cc).
std::span<const Command> AllSubcommands();
// The subcommands of one.
std::span<const Command> SubcommandsOf(const Command& command);
// In any case of letters; null when there is none. "config|get" finds a subcommand.
const Command* FindCommand(std::string_view name);

// The command that these words ask for, with its subcommand where it has some; null when there is none of it. What is
// not known of a container with a handler of its own is left to that.
struct Found {
  const Command* command = nullptr;
  const Command* container = nullptr;  // in which there is no such subcommand
};
Found FindCommand(Arguments arguments);

// All commands and subcommands are numbered from zero.
size_t NumberOf(const Command& command);
size_t CommandCount();

}  // namespace kvarts::resp
