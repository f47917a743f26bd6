// What is said of commands that are not carried out for what they are.
#pragma once

#include <string>

#include "protocol/resp/command.h"

namespace kvarts::resp {

std::string UnknownCommand(Arguments arguments);
std::string UnknownSubcommand(const Command& container, Arguments arguments);
// To a client of version 2 of the protocol that listens to channels.
std::string OnlyListens(const Command& command);

}  // namespace kvarts::resp
