// The words of a command line, held against what the command takes. Everything that can be wrong with them is found
// here, before the command does anything: unknown and repeated options, missing or superfluous words, numbers that are
// none. Options are `--name value`, `--name=value` or flags; `--` ends them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kvarts::cli {

enum class OptionKind : uint8_t {
  kFlag,    // takes no value
  kText,    // any text
  kBytes,   // text with \xNN escapes
  kCount,   // a number from zero on
  kSize,    // bytes, with a unit if wanted
  kChoice,  // one of a few words
};

struct OptionSyntax {
  std::string_view name;  // without the dashes
  OptionKind kind = OptionKind::kFlag;
  std::string_view value_name = {};  // for the help: "N", "SIZE"
  std::string_view help = {};
  std::vector<std::string_view> choices = {};
  uint64_t at_least = 0;  // of counts and sizes
};

struct ArgumentSyntax {
  std::string_view name;
  bool optional = false;
};

class Arguments;

// What a command takes, and how its help explains it.
struct Syntax {
  std::vector<ArgumentSyntax> arguments;
  std::vector<OptionSyntax> options;
  std::string_view description;
  // What no single option can say about itself.
  Status (*check)(const Arguments& arguments) = nullptr;
};

class Arguments {
 public:
  // An argument by its place; it is there if the syntax says so.
  const std::string& at(size_t place) const { return words_.at(place); }
  size_t size() const { return words_.size(); }

  bool Has(std::string_view name) const { return options_.contains(name); }
  // Of text, bytes (decoded) and choices.
  std::optional<std::string> Text(std::string_view name) const;
  // Of counts and sizes.
  std::optional<uint64_t> Number(std::string_view name) const;

 private:
  friend Result<Arguments> ParseArguments(const Syntax& syntax, std::span<const std::string> words);
  struct Option {
    std::string text;
    uint64_t number = 0;
  };

  Status TakeOption(const Syntax& syntax, std::span<const std::string>* words);

  std::vector<std::string> words_;
  std::map<std::string, Option, std::less<>> options_;
};

// `invalid_argument` says which word is wrong.
Result<Arguments> ParseArguments(const Syntax& syntax, std::span<const std::string> words);

// "DIR [--prefix P] [--json]".
std::string UsageLine(const Syntax& syntax);
// A line per option, aligned; empty when there are none.
std::string OptionLines(const Syntax& syntax);

}  // namespace kvarts::cli
