// Scripts by which shells complete the commands of the binary: its commands, their options, the words and files that
// those take. Made from the table of commands, so that a new command is completed as soon as it is there.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/command.h"

namespace kvarts::cli {

std::string BashCompletion(std::span<const Command> commands);
std::string ZshCompletion(std::span<const Command> commands);
std::string FishCompletion(std::span<const Command> commands);

}  // namespace kvarts::cli
