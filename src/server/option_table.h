// The table of options: one line for each, from which its key in a file, its environment variable, its flag, its help
// and its checks follow.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "server/options.h"

namespace kvarts {

enum class OptionType : uint8_t {
  kText,
  kPath,
  kBool,
  kCount,
  kSize,      // "64MiB"; a bare number is bytes
  kDuration,  // "30s", "100ms"; a bare number is seconds
  kChoice,    // one of a few words
  kList,      // of texts
};

// An enumeration whose values are numbered like its names.
struct ChoiceRef {
  uint8_t* value;
  std::span<const std::string_view> names;
};
// The place in ServerOptions.
using OptionRef = std::variant<std::string*, bool*, uint64_t*, Duration*, std::vector<std::string>*, ChoiceRef>;

struct Option {
  std::string_view name;  // "http.max_body_bytes": also its path in a file
  OptionType type;
  OptionRef (*place)(ServerOptions& options);
  std::string_view help;  // begins small, ends without a full stop
  // Of counts, sizes (in bytes) and durations (in microseconds).
  uint64_t at_least = 0;
  uint64_t at_most = std::numeric_limits<uint64_t>::max();

  // "KVARTS_HTTP_MAX_BODY_BYTES".
  std::string Environment() const;
  // "http-max-body-bytes".
  std::string Flag() const;
  // "http", or empty.
  std::string_view Section() const;
  // "max_body_bytes".
  std::string_view Key() const;
  // The words that it takes, if it takes but a few.
  std::vector<std::string_view> Choices() const;
  // "from 1KiB to 1GiB", "at least 1"; empty when anything goes.
  std::string Range() const;

  // Holds the words against type and limits, and sets the option. Only lists take other than one word.
  Status Set(ServerOptions& options, std::span<const std::string> words) const;
  // What Set takes.
  std::vector<std::string> Words(const ServerOptions& options) const;
  // As it is written in a file: "64MiB" in quotes, 100, true, ["a", "b"].
  std::string TomlValue(const ServerOptions& options) const;
  // For a table: the words, with commas between.
  std::string Text(const ServerOptions& options) const;
};

std::span<const Option> OptionTable();
// By name, or null.
const Option* FindOption(std::string_view name);
// What somebody probably meant; empty when nothing comes close.
std::string_view NearestOption(std::string_view name);

}  // namespace kvarts
