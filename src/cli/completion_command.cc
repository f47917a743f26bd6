// kvarts completion: a script that lets a shell complete the commands.
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/terminal.h"

namespace kvarts::cli {

const Syntax& CompletionSyntax() {
  static const Syntax kSyntax = {.arguments = {{"SHELL", false, {"bash", "zsh", "fish"}}},
                                 .options = {},
                                 .description =
                                     "Prints a script that completes commands, options, and the words and files\n"
                                     "that they take. The Debian package brings it along; without it:\n\n"
                                     "  source <(kvarts completion bash)                # in ~/.bashrc\n"
                                     "  source <(kvarts completion zsh)                 # in ~/.zshrc\n"
                                     "  kvarts completion fish | source                 # in config.fish\n"};
  return kSyntax;
}

Result<int> RunCompletion(const Arguments& arguments) {
  const std::string& shell = arguments.at(0);
  Print(shell == "bash"  ? BashCompletion(AllCommands())
        : shell == "zsh" ? ZshCompletion(AllCommands())
                         : FishCompletion(AllCommands()));
  return kExitOk;
}

}  // namespace kvarts::cli
