// Where a command goes: to a server, or to a store that it opens in its own process (place.h). The options for this are
// the same for all commands, and are described once, here.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/place.h"

namespace kvarts::cli {

constexpr std::string_view kDefaultServer = "http://127.0.0.1:7700";
constexpr std::string_view kServerVariable = "KVARTS_SERVER";
constexpr std::string_view kTokenVariable = "KVARTS_TOKEN";

// --server, --data, --shards, --token, --token-file, --ca-file, --cert-file, --key-file and --json behind a command's
// own options; its errors have exit codes of their own.
Syntax OverApi(Syntax own);

struct Target {
  std::string url;          // "https://host:7700", without a slash at the end; of a place, one that nobody resolves
  std::string unix_socket;  // path; else empty
  Place place;              // instead of a server; else it is not named
  std::string token;
  std::string ca_file;
  std::string cert_file;
  std::string key_file;  // else it is in cert_file

  // For people: what was named.
  std::string ToString() const;
};

using Environment = std::map<std::string, std::string, std::less<>>;

// Options over environment over default. `invalid_argument` for what is no address, no token, or more than one of a
// server, a directory and a file of shards.
Result<Target> TargetOf(const Arguments& arguments, const Environment& environment);

}  // namespace kvarts::cli
