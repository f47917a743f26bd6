#include "protocol/resp/refusals.h"

#include "protocol/resp/command_names.h"

namespace kvarts::resp {
namespace {

// What an error shows of what it does not know.
constexpr size_t kMaxShown = 128;

}  // namespace

std::string UnknownCommand(Arguments arguments) {
  std::string error = "ERR unknown command '";
  error.append(arguments[0].substr(0, kMaxShown)).append("', with args beginning with: ");
  std::string shown;
  for (const std::string_view argument : arguments.subspan(1)) {
    if (shown.size() >= kMaxShown) break;
    shown.append("'").append(argument.substr(0, kMaxShown - shown.size())).append("' ");
  }
  return error + shown;
}

std::string UnknownSubcommand(const Command& container, Arguments arguments) {
  std::string error = "ERR unknown subcommand '";
  error.append(arguments[1].substr(0, kMaxShown)).append("'. Try ");
  return error.append(UpperCase(container.name)).append(" HELP.");
}

std::string OnlyListens(const Command& command) {
  std::string error = "ERR Can't execute '";
  error.append(command.name).append("': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET");
  return error + " are allowed in this context";
}

}  // namespace kvarts::resp
