// All commands there are. A family of them has a file, and a line each here.
#pragma once

#include <span>
#include <string_view>

#include "protocol/resp/command.h"

namespace kvarts::resp {

std::span<const Command> AllCommands();
// In any case of letters; null when there is none.
const Command* FindCommand(std::string_view name);

// Where the keys of a command are among its arguments, which are as many as it takes.
template <class Visit>
void ForEachKey(const Command& command, Arguments arguments, Visit visit) {
  if (command.first_key == 0) return;
  const auto size = static_cast<int>(arguments.size());
  const int last = command.last_key < 0 ? size + command.last_key : command.last_key;
  for (int i = command.first_key; i <= last && i < size; i += command.step) visit(arguments[static_cast<size_t>(i)]);
}

}  // namespace kvarts::resp
