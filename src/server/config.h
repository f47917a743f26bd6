// The configuration of a server: every option with its value, and where that came from. Flags win over the environment,
// the environment over the file, the file over the defaults.
//
// Everything that is wrong is said at once, each with its place: a wrong value is an error even where a stronger origin
// replaces it, because it will count one day. The file is the one that is named by --config or KVARTS_CONFIG; no other
// is looked for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/option_table.h"
#include "server/options.h"

namespace kvarts {

struct Origin {
  enum class Kind : uint8_t { kDefault, kFile, kEnvironment, kFlag };

  Kind kind = Kind::kDefault;
  std::string place = {};  // "kvarts.toml:12", "KVARTS_DATA", "--data"

  // "default", "file kvarts.toml:12", "environment KVARTS_DATA", "flag --data".
  std::string ToString() const;
};

struct LoadedConfig {
  ServerOptions options;
  std::vector<Origin> origins = {};  // by place in OptionTable()
  std::string file = {};             // that was read; empty if none was named
  // Not wrong, but probably not meant: variables that are almost an option's.
  std::vector<std::string> notes = {};

  const Origin& OriginOf(const Option& option) const {
    return origins.at(static_cast<size_t>(&option - OptionTable().data()));
  }
};

// What a configuration is made of.
struct ConfigSources {
  // By the flag's name without dashes; lists have several words.
  std::map<std::string, std::vector<std::string>, std::less<>> flags = {};
  // All of it; lists are separated by commas.
  std::map<std::string, std::string, std::less<>> environment = {};
  // Named by a flag; else KVARTS_CONFIG counts.
  std::optional<std::string> file = {};
};
// From a block such as `environ`.
std::map<std::string, std::string, std::less<>> EnvironmentOf(const char* const* block);

constexpr std::string_view kConfigEnvironment = "KVARTS_CONFIG";

// `invalid_argument` has a line per problem in its field `problems`.
Result<LoadedConfig> LoadConfig(const ConfigSources& sources);

// What is wrong between options that are right by themselves; a line for each.
std::vector<std::string> ConfigProblems(const ServerOptions& options);

// A file with every option, its help and its default, all of it in comments.
std::string DefaultConfigFile();

}  // namespace kvarts
