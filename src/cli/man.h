// Manual pages, made from the table of commands and the table of options.
#pragma once

#include <span>
#include <string>

#include "cli/command.h"

namespace kvarts::cli {

// kvarts(1), with all commands.
std::string ManOverview(std::span<const Command> commands);
// kvarts-check(1) and the like.
std::string ManOfCommand(const Command& command);
// kvarts.toml(5).
std::string ManOfConfig();

}  // namespace kvarts::cli
