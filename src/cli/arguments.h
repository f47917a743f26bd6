// The words of a command line, held against what the command takes. Everything that can be wrong with them is found
// here, before the command does anything: unknown and repeated options, missing or superfluous words, numbers that are
// none. Options are `--name value`, `--name=value` or flags; `--` ends them; -5 is a word. Help, completion and man
// pages are made from the same syntax.
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
  kFlag,      // takes no value
  kText,      // any text
  kPath,      // of a file or a directory
  kBytes,     // text with \xNN escapes
  kCount,     // a number from zero on
  kSize,      // bytes, with a unit if wanted
  kDuration,  // seconds, with a unit if wanted
  kChoice,    // one of a few words
  kList,      // any text, and may be given again
};

struct OptionSyntax {
  std::string_view name;  // without the dashes
  OptionKind kind = OptionKind::kFlag;
  std::string_view value_name = {};  // for the help: "N", "SIZE"
  std::string_view help = {};
  std::vector<std::string_view> choices = {};
  uint64_t at_least = 0;  // of counts and sizes, and of durations in microseconds
  bool common = false;    // many commands have it, so it is not named in the usage
};

struct ArgumentSyntax {
  std::string_view name;  // "DIR" and "FILE" are completed as such
  bool optional = false;
  std::vector<std::string_view> choices = {};
  // May be given several times: what stands behind it in the syntax takes the last words. One of a command at most,
  // and none that has choices beside it.
  bool repeated = false;
};

class Arguments;

// An option of other commands, and why this one has none.
struct RefusedOption {
  std::string_view name;
  const char* why;
};

// What a command takes, and how its help explains it.
struct Syntax {
  std::vector<ArgumentSyntax> arguments;
  std::vector<OptionSyntax> options;
  std::string_view description;
  // What no single option can say about itself.
  Status (*check)(const Arguments& arguments) = nullptr;
  // Whether the command talks to a server, so that what the server answers decides about the exit code.
  bool over_api = false;
  // What help and completion do not name.
  std::vector<RefusedOption> refused = {};
};

class Arguments {
 public:
  // An argument by its place; it is there if the syntax says so.
  const std::string& at(size_t place) const { return words_.at(place); }
  size_t size() const { return words_.size(); }

  bool Has(std::string_view name) const { return options_.contains(name); }
  // Of everything but flags, as it was given; of bytes decoded. The first of a list.
  std::optional<std::string> Text(std::string_view name) const;
  // All of a list, in order; the one value of any other option.
  std::vector<std::string> Texts(std::string_view name) const;
  // Of counts and sizes, and of durations in microseconds.
  std::optional<uint64_t> Number(std::string_view name) const;

 private:
  friend Result<Arguments> ParseArguments(const Syntax& syntax, std::span<const std::string> words);
  struct Option {
    std::vector<std::string> texts;
    uint64_t number = 0;
  };

  Status TakeOption(const Syntax& syntax, std::span<const std::string>* words);
  static Status TakeValue(const OptionSyntax& option, const std::string& value, Option* taken);

  std::vector<std::string> words_;
  std::map<std::string, Option, std::less<>> options_;
};

// `invalid_argument` says which word is wrong.
Result<Arguments> ParseArguments(const Syntax& syntax, std::span<const std::string> words);

// "DIR [--prefix P] [--json]"; "[OPTIONS]" where there are many, and for those that many commands have.
std::string UsageLine(const Syntax& syntax);
// How an option is written: "--limit N".
std::string Written(const OptionSyntax& option);
// What it is for, with the words that it takes.
std::string HelpOf(const OptionSyntax& option);
// A line per option, aligned, or a few for each where they are long; empty when there are none.
std::string OptionLines(const Syntax& syntax);

}  // namespace kvarts::cli
