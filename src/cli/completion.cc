#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace kvarts::cli {
namespace {

bool IsPath(const OptionSyntax& option) { return option.kind == OptionKind::kPath; }
bool TakesValue(const OptionSyntax& option) { return option.kind != OptionKind::kFlag; }

// In single quotes of a shell.
std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out.append(c == '\'' ? "'\\''" : std::string(1, c));
  return out + "'";
}

// The same in fish, where a backslash escapes inside them.
std::string FishQuoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out + "'";
}

// The signs that mean something inside a specification of _arguments and _describe.
std::string ZshText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

std::string CommandNames(std::span<const Command> commands) {
  std::string names = "help";
  for (const Command& command : commands) names.append(" ").append(command.name);
  return names;
}

// What bash answers for the value of an option or for an argument; empty when it cannot know.
std::string BashAction(std::span<const std::string_view> choices, bool files, bool directories) {
  if (!choices.empty()) return fmt::format("_kvarts_words '{}'", fmt::join(choices, " "));
  if (files) return "_kvarts_paths -f";
  if (directories) return "_kvarts_paths -d";
  return {};
}

std::string BashValues(const Syntax& syntax) {
  std::string cases;
  std::vector<std::string> silent;
  for (const OptionSyntax& option : syntax.options) {
    if (!TakesValue(option)) continue;
    const std::string action = BashAction(option.choices, IsPath(option), false);
    if (action.empty()) {
      silent.push_back(fmt::format("--{}", option.name));
    } else {
      cases.append(fmt::format("        --{}) {}; return ;;\n", option.name, action));
    }
  }
  // Only the user knows these.
  if (!silent.empty()) cases.append(fmt::format("        {}) return ;;\n", fmt::join(silent, "|")));
  return cases.empty() ? cases : fmt::format("      case $prev in\n{}      esac\n", cases);
}

// Each line behind some more blanks.
std::string Deeper(std::string_view lines, size_t by) {
  std::string out;
  while (!lines.empty()) {
    const size_t end = std::min(lines.find('\n') + 1, lines.size());
    out.append(by, ' ').append(lines.substr(0, end));
    lines.remove_prefix(end);
  }
  return out;
}

// What is offered once the command is known.
std::string BashBody(const Syntax& syntax) {
  std::string options = "--help";
  for (const OptionSyntax& option : syntax.options) options.append(" --").append(option.name);
  std::string arguments;
  for (const ArgumentSyntax& argument : syntax.arguments) {
    const std::string action = BashAction(argument.choices, argument.name == "FILE", argument.name == "DIR");
    if (!action.empty()) arguments.append(fmt::format("      {}\n", action));
  }
  return fmt::format("{}      if [[ $cur == -* ]]; then\n        _kvarts_words '{}'\n        return\n      fi\n{}",
                     BashValues(syntax), options, arguments);
}

std::string BashCommand(const Command& command) {
  const std::span<const Command> subcommands = SubcommandsOf(command);
  if (subcommands.empty()) return fmt::format("    {})\n{}      ;;\n", command.name, BashBody(command.syntax()));
  std::string names = "--help";
  std::string cases;
  for (const Command& sub : subcommands) {
    names.append(" ").append(sub.name);
    cases.append(fmt::format("        {})\n{}          ;;\n", sub.name, Deeper(BashBody(sub.syntax()), 4)));
  }
  return fmt::format(
      "    {})\n      if [ \"$COMP_CWORD\" = 2 ]; then\n        _kvarts_words '{}'\n        return\n      fi\n"
      "      case ${{COMP_WORDS[2]}} in\n{}      esac\n      ;;\n",
      command.name, names, cases);
}

constexpr std::string_view kBashHead = R"(# bash completion for kvarts, printed by `kvarts completion bash`.
_kvarts_words() {
  local word
  while read -r word; do COMPREPLY+=("$word"); done < <(compgen -W "$1" -- "$cur")
}
_kvarts_paths() {
  local path
  compopt -o filenames 2> /dev/null
  while read -r path; do COMPREPLY+=("$path"); done < <(compgen "$1" -- "$cur")
}
_kvarts() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=
  COMPREPLY=()
  [ "$COMP_CWORD" = 0 ] || prev=${COMP_WORDS[COMP_CWORD - 1]}
  # Bash takes --name=value apart.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = && $COMP_CWORD -gt 1 ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)";

std::string ZshArguments(const Syntax& syntax) {
  std::string specs;
  const auto add = [&](const std::string& spec) { specs.append(" \\\n        ").append(Quoted(spec)); };
  add("--help[explains the command]");
  for (const OptionSyntax& option : syntax.options) {
    const std::string_view again = option.kind == OptionKind::kList ? "*" : "";
    std::string spec =
        fmt::format("{}--{}{}[{}]", again, option.name, TakesValue(option) ? "=" : "", ZshText(option.help));
    if (TakesValue(option)) {
      spec.append(fmt::format(":{}:", ZshText(option.value_name)));
      if (!option.choices.empty()) spec.append(fmt::format("({})", fmt::join(option.choices, " ")));
      if (IsPath(option)) spec.append("_files");
    }
    add(spec);
  }
  for (size_t i = 0; i < syntax.arguments.size(); ++i) {
    const ArgumentSyntax& argument = syntax.arguments[i];
    if (argument.repeated) {
      // It takes all that is left.
      add(fmt::format("*:{}:", argument.name));
      break;
    }
    std::string spec = fmt::format("{}:{}{}:", i + 1, argument.optional ? ":" : "", argument.name);
    if (!argument.choices.empty()) spec.append(fmt::format("({})", fmt::join(argument.choices, " ")));
    if (argument.name == "DIR") spec.append("_files -/");
    if (argument.name == "FILE") spec.append("_files");
    add(spec);
  }
  return fmt::format("      _arguments{}\n", specs);
}

// Names with what they are for, as _describe takes them.
std::string ZshDescriptions(std::span<const Command> commands) {
  std::string lines;
  for (const Command& command : commands) {
    lines.append(fmt::format("    {}\n", Quoted(fmt::format("{}:{}", command.name, ZshText(command.summary)))));
  }
  return lines;
}

std::string ZshCommand(const Command& command) {
  const std::span<const Command> subcommands = SubcommandsOf(command);
  if (subcommands.empty()) return fmt::format("    {})\n{}      ;;\n", command.name, ZshArguments(command.syntax()));
  std::string cases;
  for (const Command& sub : subcommands) {
    cases.append(fmt::format("        {})\n{}          ;;\n", sub.name, Deeper(ZshArguments(sub.syntax()), 4)));
  }
  return fmt::format(
      "    {})\n      commands=(\n{}      )\n      if (( CURRENT == 2 )); then\n        _describe command commands\n"
      "        return\n      fi\n      shift words\n      (( CURRENT-- ))\n      case $words[1] in\n{}      esac\n     "
      " ;;\n",
      command.name, Deeper(ZshDescriptions(subcommands), 4), cases);
}

// The lines of a command, each under the condition by which it is recognised.
std::string FishLines(const Syntax& syntax, const std::string& condition) {
  const std::string begin = fmt::format("complete -c kvarts -n '{}'", condition);
  std::string lines;
  for (const OptionSyntax& option : syntax.options) {
    std::string line = fmt::format("{} -l {}", begin, option.name);
    if (IsPath(option)) {
      line.append(" -r -F");
    } else if (TakesValue(option)) {
      line.append(" -x");
      if (!option.choices.empty()) line.append(fmt::format(" -a '{}'", fmt::join(option.choices, " ")));
    }
    lines.append(fmt::format("{} -d {}\n", line, FishQuoted(option.help)));
  }
  for (const ArgumentSyntax& argument : syntax.arguments) {
    if (!argument.choices.empty()) lines.append(fmt::format("{} -a '{}'\n", begin, fmt::join(argument.choices, " ")));
    if (argument.name == "DIR") lines.append(fmt::format("{} -a '(__fish_complete_directories)'\n", begin));
    if (argument.name == "FILE") lines.append(fmt::format("{} -F\n", begin));
  }
  return lines;
}

std::string FishCommand(const Command& command) {
  const std::string seen = fmt::format("__fish_seen_subcommand_from {}", command.name);
  const std::span<const Command> subcommands = SubcommandsOf(command);
  if (subcommands.empty()) return FishLines(command.syntax(), seen);
  std::string names;
  for (const Command& sub : subcommands) names.append(" ").append(sub.name);
  std::string lines;
  for (const Command& sub : subcommands) {
    lines.append(fmt::format("complete -c kvarts -n '{}; and not __fish_seen_subcommand_from{}' -a {} -d {}\n", seen,
                             names, sub.name, FishQuoted(sub.summary)));
    lines.append(FishLines(sub.syntax(), fmt::format("{}; and __fish_seen_subcommand_from {}", seen, sub.name)));
  }
  return lines;
}

}  // namespace

std::string BashCompletion(std::span<const Command> commands) {
  const std::string names = CommandNames(commands);
  std::string script(kBashHead);
  script.append(fmt::format("  if [ \"$COMP_CWORD\" = 1 ]; then\n    _kvarts_words '{} --help --version'\n", names));
  script.append("    return\n  fi\n  case ${COMP_WORDS[1]} in\n");
  script.append(fmt::format("    help)\n      _kvarts_words '{}'\n      ;;\n", names));
  for (const Command& command : commands) script.append(BashCommand(command));
  return script.append("  esac\n}\ncomplete -F _kvarts kvarts\n");
}

std::string ZshCompletion(std::span<const Command> commands) {
  std::string script =
      "#compdef kvarts\n# zsh completion for kvarts, printed by `kvarts completion zsh`.\n\n_kvarts() {\n";
  script.append("  local -a commands\n  commands=(\n    'help:explains a command'\n");
  script.append(ZshDescriptions(commands));
  script.append("  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n");
  // Each command sees its own words only.
  script.append(
      "  shift words\n  (( CURRENT-- ))\n  case $words[1] in\n    help)\n      _describe command commands\n      ;;\n");
  for (const Command& command : commands) script.append(ZshCommand(command));
  return script.append(
      "  esac\n}\n\nif [ \"$funcstack[1]\" = _kvarts ]; then\n  _kvarts \"$@\"\nelse\n  compdef _kvarts kvarts\nfi\n");
}

std::string FishCompletion(std::span<const Command> commands) {
  std::string script = "# fish completion for kvarts, printed by `kvarts completion fish`.\ncomplete -c kvarts -f\n";
  script.append("complete -c kvarts -n __fish_use_subcommand -a help -d 'explains a command'\n");
  for (const Command& command : commands) {
    script.append(fmt::format("complete -c kvarts -n __fish_use_subcommand -a {} -d {}\n", command.name,
                              FishQuoted(command.summary)));
  }
  script.append(
      fmt::format("complete -c kvarts -n '__fish_seen_subcommand_from help' -a '{}'\n", CommandNames(commands)));
  for (const Command& command : commands) script.append(FishCommand(command));
  return script;
}

}  // namespace kvarts::cli
