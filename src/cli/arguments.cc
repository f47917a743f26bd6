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
  const auto refused = std::ranges::find(syntax.refused, name, &RefusedOption::name);
  if (refused != syntax.refused.end()) {
    return Error(ErrorCode::kInvalidArgument, refused->why, {{"option", Dashed(name)}});
  }
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

std::string LimitText(const OptionSyntax& option) {
  if (option.kind == OptionKind::kSize) return HumanBytes(option.at_least);
  if (option.kind == OptionKind::kDuration) return DurationText({static_cast<int64_t>(option.at_least)});
  return HumanCount(option.at_least);
}

Error TooSmall(const OptionSyntax& option) {
  return Error(ErrorCode::kInvalidArgument, "an option has a value that is too small",
               {{"option", Dashed(option.name)}, {"at_least", LimitText(option)}});
}

Result<uint64_t> ParseNumber(OptionKind kind, const std::string& text) {
  if (kind == OptionKind::kCount) return ParseCount(text);
  if (kind == OptionKind::kSize) return ParseSize(text);
  KVARTS_TRY(const Duration duration, ParseDuration(text));
  if (duration.micros < 0) return Error(ErrorCode::kInvalidArgument, "a duration is not negative", {{"word", text}});
  return static_cast<uint64_t>(duration.micros);
}

Status CheckArgument(const ArgumentSyntax& argument, const std::string& word) {
  if (argument.choices.empty() || std::ranges::find(argument.choices, word) != argument.choices.end()) return {};
  return Error(ErrorCode::kInvalidArgument, "an argument is not one of the words that it can be",
               {{"word", word},
                {"argument", std::string(argument.name)},
                {"choices", fmt::format("{}", fmt::join(argument.choices, ", "))},
                {"nearest", std::string(Nearest(word, argument.choices))}});
}

// That every argument which is not optional has a word.
Status CheckEnough(const Syntax& syntax, size_t words) {
  size_t needed = 0;
  for (const ArgumentSyntax& argument : syntax.arguments) {
    if (argument.optional || ++needed <= words) continue;
    return Error(ErrorCode::kInvalidArgument, "an argument is missing", {{"argument", std::string(argument.name)}});
  }
  return {};
}

// A number below zero is a word.
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// In lines of this many columns, each behind some blanks.
std::string Wrapped(std::string_view text, size_t indent, size_t columns) {
  std::string out;
  size_t used = columns;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (used + 1 + end > columns) {
      out.append(out.empty() ? "" : "\n").append(indent, ' ');
      used = indent;
    } else {
      out.push_back(' ');
      ++used;
    }
    out.append(text.substr(0, end));
    used += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + "\n";
}

// More than these are not named in a line, and names longer than this have no column of their own.
constexpr size_t kMaxOptionsInUsage = 8;
constexpr size_t kMaxNameColumn = 28;
constexpr size_t kHelpIndent = 6;
constexpr size_t kHelpColumns = 90;

}  // namespace

std::string Written(const OptionSyntax& option) {
  if (option.kind == OptionKind::kFlag) return Dashed(option.name);
  return fmt::format("--{} {}", option.name, option.value_name);
}

std::string HelpOf(const OptionSyntax& option) {
  if (option.choices.empty()) return std::string(option.help);
  return fmt::format("{}: {}", option.help, fmt::join(option.choices, ", "));
}

std::optional<std::string> Arguments::Text(std::string_view name) const {
  const auto found = options_.find(name);
  if (found == options_.end() || found->second.texts.empty()) return std::nullopt;
  return found->second.texts.front();
}

std::vector<std::string> Arguments::Texts(std::string_view name) const {
  const auto found = options_.find(name);
  return found == options_.end() ? std::vector<std::string>() : found->second.texts;
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
  if (option->kind != OptionKind::kList && options_.contains(name)) return refuse("an option is given twice");
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
  return TakeValue(*option, *value, &taken);
}

Status Arguments::TakeValue(const OptionSyntax& option, const std::string& value, Option* taken) {
  taken->texts.push_back(value);
  switch (option.kind) {
    case OptionKind::kChoice:
      return CheckChoice(option, value);
    case OptionKind::kBytes: {
      const Result<Bytes> bytes = ParseEscaped(value);
      if (!bytes.has_value()) {
        return Error(ErrorCode::kInvalidArgument,
                     "an option has a value with a broken escape: \\\\ and \\xNN are known",
                     {{"option", Dashed(option.name)}});
      }
      taken->texts.back() = *bytes;
      return {};
    }
    case OptionKind::kCount:
    case OptionKind::kSize:
    case OptionKind::kDuration: {
      const Result<uint64_t> number = ParseNumber(option.kind, value);
      if (!number.has_value()) return WrongValue(option, number.error());
      taken->number = *number;
      if (*number < option.at_least) return TooSmall(option);
      return {};
    }
    default:
      return {};
  }
}

Result<Arguments> ParseArguments(const Syntax& syntax, std::span<const std::string> words) {
  Arguments arguments;
  const bool repeats = std::ranges::any_of(syntax.arguments, &ArgumentSyntax::repeated);
  bool options_ended = false;
  while (!words.empty()) {
    const std::string& word = words.front();
    if (!options_ended && word == "--") {
      options_ended = true;
      words = words.subspan(1);
    } else if (!options_ended && word.starts_with("--")) {
      KVARTS_CHECK_OK(arguments.TakeOption(syntax, &words));
    } else if (!options_ended && word.size() > 1 && word.starts_with('-') && !IsDigit(word[1])) {
      return Error(ErrorCode::kInvalidArgument, "options begin with two dashes", {{"option", word}});
    } else {
      if (!repeats && arguments.words_.size() == syntax.arguments.size()) {
        return Error(ErrorCode::kInvalidArgument, "there is a word too many", {{"word", word}});
      }
      if (!repeats) KVARTS_CHECK_OK(CheckArgument(syntax.arguments[arguments.size()], word));
      arguments.words_.push_back(word);
      words = words.subspan(1);
    }
  }
  KVARTS_CHECK_OK(CheckEnough(syntax, arguments.size()));
  if (syntax.check != nullptr) KVARTS_CHECK_OK(syntax.check(arguments));
  return arguments;
}

std::string UsageLine(const Syntax& syntax) {
  std::string line;
  for (const ArgumentSyntax& argument : syntax.arguments) {
    line.append(fmt::format(fmt::runtime(argument.optional ? " [{}]" : " {}"), argument.name));
    if (argument.repeated) line.append("...");
  }
  const auto common = std::ranges::count_if(syntax.options, &OptionSyntax::common);
  const size_t own = syntax.options.size() - static_cast<size_t>(common);
  if (own <= kMaxOptionsInUsage) {
    for (const OptionSyntax& option : syntax.options) {
      if (!option.common) line.append(fmt::format(" [{}]", Written(option)));
    }
  }
  if (own > kMaxOptionsInUsage || common > 0) line.append(" [OPTIONS]");
  return line.empty() ? line : line.substr(1);
}

std::string OptionLines(const Syntax& syntax) {
  size_t width = 0;
  for (const OptionSyntax& option : syntax.options) width = std::max(width, Written(option).size());
  std::string lines;
  for (const OptionSyntax& option : syntax.options) {
    if (width > kMaxNameColumn) {
      lines.append(fmt::format("  {}\n{}", Written(option), Wrapped(HelpOf(option), kHelpIndent, kHelpColumns)));
    } else {
      lines.append(fmt::format("  {:<{}}  {}\n", Written(option), width, HelpOf(option)));
    }
  }
  return lines;
}

}  // namespace kvarts::cli
