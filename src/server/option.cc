// What follows from a line of the table of options.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/nearest.h"
#include "base/shown.h"
#include "base/units.h"
#include "server/option_table.h"

namespace kvarts {
namespace {

constexpr std::array<std::string_view, 2> kBoolNames = {"true", "false"};

Error Refused(const std::string& word, const char* why) {
  return Error(ErrorCode::kInvalidArgument, why, {{"word", word}});
}

std::string LimitText(const Option& option, uint64_t limit) {
  if (option.type == OptionType::kSize) return SizeText(limit);
  if (option.type == OptionType::kDuration) return DurationText({static_cast<int64_t>(limit)});
  return std::to_string(limit);
}

// Counts, sizes and durations alike.
Result<uint64_t> ParseNumber(const Option& option, const std::string& word) {
  uint64_t number = 0;
  if (option.type == OptionType::kDuration) {
    KVARTS_TRY(const Duration duration, ParseDuration(word));
    if (duration.micros < 0) return Refused(word, "not a duration; write 60, 500ms, 5m, 2h or 7d");
    number = static_cast<uint64_t>(duration.micros);
  } else {
    KVARTS_TRY(number, option.type == OptionType::kSize ? ParseSize(word) : ParseCount(word));
  }
  if (number < option.at_least || number > option.at_most) {
    return Error(ErrorCode::kInvalidArgument,
                 number < option.at_least ? "the value is too small" : "the value is too large",
                 {{"word", word}, {"range", option.Range()}});
  }
  return number;
}

Result<size_t> ParseChoice(std::span<const std::string_view> names, const std::string& word) {
  const auto found = std::ranges::find(names, word);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  return Error(ErrorCode::kInvalidArgument, "not one of the choices",
               {{"word", word},
                {"choices", fmt::format("{}", fmt::join(names, ", "))},
                {"nearest", std::string(Nearest(word, {names.begin(), names.end()}))}});
}

struct Setter {
  const Option& option;
  std::span<const std::string> words;

  Status operator()(std::vector<std::string>* place) const {
    place->assign(words.begin(), words.end());
    return {};
  }
  Status operator()(std::string* place) const {
    *place = words.front();
    return {};
  }
  Status operator()(uint64_t* place) const {
    KVARTS_TRY(*place, ParseNumber(option, words.front()));
    return {};
  }
  Status operator()(Duration* place) const {
    KVARTS_TRY(const uint64_t micros, ParseNumber(option, words.front()));
    place->micros = static_cast<int64_t>(micros);
    return {};
  }
  Status operator()(bool* place) const {
    KVARTS_TRY(const size_t index, ParseChoice(kBoolNames, words.front()));
    *place = index == 0;
    return {};
  }
  Status operator()(ChoiceRef place) const {
    KVARTS_TRY(const size_t index, ParseChoice(place.names, words.front()));
    *place.value = static_cast<uint8_t>(index);
    return {};
  }
};

struct Getter {
  const Option& option;

  std::vector<std::string> operator()(const std::vector<std::string>* place) const { return *place; }
  std::vector<std::string> operator()(const std::string* place) const { return {*place}; }
  std::vector<std::string> operator()(const uint64_t* place) const { return {LimitText(option, *place)}; }
  std::vector<std::string> operator()(const Duration* place) const { return {DurationText(*place)}; }
  std::vector<std::string> operator()(const bool* place) const { return {*place ? "true" : "false"}; }
  std::vector<std::string> operator()(ChoiceRef place) const { return {std::string(place.names[*place.value])}; }
};

std::string TomlText(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted.append(fmt::format("\\u{:04x}", static_cast<unsigned char>(c)));
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

std::string Replaced(std::string_view name, char dot, char underscore) {
  std::string out(name);
  std::ranges::replace(out, '_', underscore);
  std::ranges::replace(out, '.', dot);
  return out;
}

}  // namespace

std::string Option::Environment() const {
  std::string out = "KVARTS_" + Replaced(name, '_', '_');
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::string Option::Flag() const { return Replaced(name, '-', '-'); }

std::string_view Option::Section() const {
  const size_t dot = name.find('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

std::string_view Option::Key() const {
  const size_t dot = name.find('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

std::vector<std::string_view> Option::Choices() const {
  if (type == OptionType::kBool) return {kBoolNames.begin(), kBoolNames.end()};
  if (type != OptionType::kChoice) return {};
  ServerOptions options;
  const auto names = std::get<ChoiceRef>(place(options)).names;
  return {names.begin(), names.end()};
}

std::string Option::Range() const {
  const bool bounded = at_most != std::numeric_limits<uint64_t>::max();
  if (bounded && at_least > 0)
    return fmt::format("from {} to {}", LimitText(*this, at_least), LimitText(*this, at_most));
  if (bounded) return fmt::format("at most {}", LimitText(*this, at_most));
  if (at_least > 0) return fmt::format("at least {}", LimitText(*this, at_least));
  return {};
}

Status Option::Set(ServerOptions& options, std::span<const std::string> words) const {
  if (type != OptionType::kList && words.size() != 1) {
    return Refused(fmt::format("{}", fmt::join(words, ", ")), "takes one value, not a list");
  }
  return std::visit(Setter{*this, words}, place(options));
}

std::vector<std::string> Option::Words(const ServerOptions& options) const {
  // Places are found in options that may be changed; these are not.
  return std::visit(Getter{*this}, place(const_cast<ServerOptions&>(options)));
}

std::string Option::TomlValue(const ServerOptions& options) const {
  std::vector<std::string> words = Words(options);
  if (type == OptionType::kBool || type == OptionType::kCount) return words.front();
  for (std::string& word : words) word = TomlText(word);
  return type == OptionType::kList ? fmt::format("[{}]", fmt::join(words, ", ")) : words.front();
}

std::string Option::Text(const ServerOptions& options) const {
  return Shown(fmt::format("{}", fmt::join(Words(options), ", ")));
}

const Option* FindOption(std::string_view name) {
  const auto found = std::ranges::find(OptionTable(), name, &Option::name);
  return found == OptionTable().end() ? nullptr : &*found;
}

std::string_view NearestOption(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Option& option : OptionTable()) {
    // The right key in the wrong section, or in none.
    if (option.Key() == name.substr(name.find('.') + 1)) return option.name;
    names.push_back(option.name);
  }
  return Nearest(name, names);
}

}  // namespace kvarts
