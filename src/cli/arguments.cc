#include "cli/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/nearest.h"
#include "cli/text.h"

namespace kvarts::cli {
namespace {

std::string Dashed(std::string_view name) { return fmt::format("--{}", name); }

Error UnknownOption(const Syntax& syntax, const std::string& name) {
  std::vector<std::string_view> names;
  for (const OptionSyntax& option : syntax.options) names.push_back(option.name);
  const std::string_view nearest = Nearest(name, names);
  return Error(ErrorCode::kInvalidArgument, "there is no such option",
               {{"option", Dashed(name)}, {"nearest", nearest.empty() ? "" : Dashed(nearest)}});
}

// The error of a value, with the option that it was given to.
Error WrongValue(const OptionSyntax& option, const Error& error) {
  return Error(ErrorCode::kInvalidArgument, "an option has a value that it cannot take",
               {{"option", Dashed(option.name)},
                {"cause", fmt::format("{}: {}", error.field("word"), std::string(error.text()))}});
}

Status CheckChoice(const OptionSyntax& option, const std::string& text) {
  if (std::ranges::find(option.choices, text) != option.choices.end()) return {};
  return Error(ErrorCode::kInvalidArgument, "an option has a value that it cannot take",
               {{"option", Dashed(option.name)},
                {"cause", fmt::format("{}: must be one of {}", text, fmt::join(option.choices, ", "))},
                {"nearest", std::string(Nearest(text, option.choices))}});
}

Error TooSmall(const OptionSyntax& option) {
  const bool is_size = option.kind == OptionKind::kSize;
  return Error(ErrorCode::kInvalidArgument, "an option has a value that is too small",
               {{"option", Dashed(option.name)},
                {"at_least", is_size ? HumanBytes(option.at_least) : HumanCount(option.at_least)}});
}

// How an option is written: "--limit N".
std::string Written(const OptionSyntax& option) {
  if (option.kind == OptionKind::kFlag) return Dashed(option.name);
  return fmt::format("--{} {}", option.name, option.value_name);
}

}  // namespace

std::optional<std::string> Arguments::Text(std::string_view name) const {
  const auto found = options_.find(name);
  if (found == options_.end()) return std::nullopt;
  return found->second.text;
}

std::optional<uint64_t> Arguments::Number(std::string_view name) const {
  const auto found = options_.find(name);
  if (found == options_.end()) return std::nullopt;
  return found->second.number;
}

Status Arguments::TakeOption(const Syntax& syntax, std::span<const std::string>* words) {
  std::string name = words->front().substr(2);
  *words = words->subspan(1);
  std::optional<std::string> value;
  if (const size_t equals = name.find('='); equals != std::string::npos) {
    value = name.substr(equals + 1);
    name.resize(equals);
  }
  const auto option = std::ranges::find(syntax.options, name, &OptionSyntax::name);
  if (option == syntax.options.end()) return UnknownOption(syntax, name);
  const auto refuse = [&](const char* why) {
    return Error(ErrorCode::kInvalidArgument, why, {{"option", Dashed(name)}});
  };
  if (options_.contains(name)) return refuse("an option is given twice");
  Option& taken = options_[name];
  if (option->kind == OptionKind::kFlag) {
    if (value) return refuse("an option takes no value");
    return {};
  }
  if (!value) {
    if (words->empty()) return refuse("an option needs a value");
    value = words->front();
    *words = words->subspan(1);
  }
  taken.text = *value;
  if (option->kind == OptionKind::kChoice) return CheckChoice(*option, *value);
  if (option->kind == OptionKind::kBytes) {
    const Result<Bytes> bytes = ParseEscaped(*value);
    if (!bytes.has_value()) return refuse("an option has a value with a broken escape: \\\\ and \\xNN are known");
    taken.text = *bytes;
  } else if (option->kind != OptionKind::kText) {
    const Result<uint64_t> number = option->kind == OptionKind::kSize ? ParseSize(*value) : ParseCount(*value);
    if (!number.has_value()) return WrongValue(*option, number.error());
    taken.number = *number;
    if (*number < option->at_least) return TooSmall(*option);
  }
  return {};
}

Result<Arguments> ParseArguments(const Syntax& syntax, std::span<const std::string> words) {
  Arguments arguments;
  bool options_ended = false;
  while (!words.empty()) {
    const std::string& word = words.front();
    if (!options_ended && word == "--") {
      options_ended = true;
      words = words.subspan(1);
    } else if (!options_ended && word.starts_with("--")) {
      KVARTS_CHECK_OK(arguments.TakeOption(syntax, &words));
    } else if (!options_ended && word.size() > 1 && word.starts_with('-')) {
      return Error(ErrorCode::kInvalidArgument, "options begin with two dashes", {{"option", word}});
    } else {
      if (arguments.words_.size() == syntax.arguments.size()) {
        return Error(ErrorCode::kInvalidArgument, "there is a word too many", {{"word", word}});
      }
      arguments.words_.push_back(word);
      words = words.subspan(1);
    }
  }
  if (arguments.size() < syntax.arguments.size() && !syntax.arguments[arguments.size()].optional) {
    return Error(ErrorCode::kInvalidArgument, "an argument is missing",
                 {{"argument", std::string(syntax.arguments[arguments.size()].name)}});
  }
  if (syntax.check != nullptr) KVARTS_CHECK_OK(syntax.check(arguments));
  return arguments;
}

std::string UsageLine(const Syntax& syntax) {
  std::string line;
  for (const ArgumentSyntax& argument : syntax.arguments) {
    line.append(fmt::format(fmt::runtime(argument.optional ? " [{}]" : " {}"), argument.name));
  }
  for (const OptionSyntax& option : syntax.options) line.append(fmt::format(" [{}]", Written(option)));
  return line.empty() ? line : line.substr(1);
}

std::string OptionLines(const Syntax& syntax) {
  size_t width = 0;
  for (const OptionSyntax& option : syntax.options) width = std::max(width, Written(option).size());
  std::string lines;
  for (const OptionSyntax& option : syntax.options) {
    const std::string choices = option.choices.empty() ? "" : fmt::format(": {}", fmt::join(option.choices, ", "));
    lines.append(fmt::format("  {:<{}}  {}{}\n", Written(option), width, option.help, choices));
  }
  return lines;
}

}  // namespace kvarts::cli
