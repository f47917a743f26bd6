#include "cli/target.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/input.h"

namespace kvarts::cli {
namespace {

constexpr size_t kMaxTokenBytes = 4 << 10;
// What stands in the requests to a server of our own.
constexpr std::string_view kNowhere = "http://127.0.0.1";

Error NoServer(const std::string& text, const char* why) {
  return Error(ErrorCode::kInvalidArgument, why, {{"server", text}});
}

Status TakeServer(const std::string& text, Target* target) {
  constexpr std::string_view kUnix = "unix:";
  if (text.starts_with(kUnix)) {
    target->unix_socket = text.substr(kUnix.size());
    target->url = "http://localhost";
    if (target->unix_socket.empty()) return NoServer(text, "a socket needs a path, as in unix:/run/kvarts.sock");
    return {};
  }
  if (!text.starts_with("http://") && !text.starts_with("https://")) {
    return NoServer(text, "a server is named by http://HOST:PORT, https://HOST:PORT or unix:/PATH");
  }
  target->url = text.substr(0, text.find_last_not_of('/') + 1);
  const std::string_view host = std::string_view(target->url).substr(target->url.find(':') + 1);
  const bool plain = std::ranges::all_of(host, [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (!plain || host.find_first_of("?#@", 0) != host.npos || host.find_first_not_of('/') == host.npos) {
    return NoServer(text, "a server is named by http://HOST:PORT, https://HOST:PORT or unix:/PATH");
  }
  return {};
}

// A token ends up in a header: nothing may end its line.
Status TakeToken(std::string text, Target* target) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  const bool plain = std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (text.empty() || !plain) return Error(ErrorCode::kInvalidArgument, "this is no token");
  target->token = std::move(text);
  return {};
}

Status FindToken(const Arguments& arguments, const Environment& environment, Target* target) {
  if (const auto text = arguments.Text("token")) return TakeToken(*text, target);
  if (const auto file = arguments.Text("token-file")) {
    KVARTS_TRY(std::string text, ReadInput(*file, kMaxTokenBytes));
    return TakeToken(std::move(text), target);
  }
  const auto found = environment.find(kTokenVariable);
  if (found == environment.end() || found->second.empty()) return {};
  return TakeToken(found->second, target);
}

Result<Place> FindPlace(const Arguments& arguments) {
  const bool server = arguments.Has("server");
  const auto data = arguments.Text("data");
  const auto shards = arguments.Text("shards");
  const auto refuse = [](const char* why) { return Error(ErrorCode::kInvalidArgument, why); };
  if (server && data) return refuse("--server and --data exclude each other");
  if (server && shards) return refuse("--server and --shards exclude each other");
  if (data && shards) return refuse("--data and --shards exclude each other");
  if (data && data->empty()) return refuse("--data needs a directory");
  if (shards && shards->empty()) return refuse("--shards needs a file");
  return Place{data.value_or(""), shards.value_or("")};
}

}  // namespace

Syntax OverApi(Syntax own) {
  const std::vector<OptionSyntax> common = {
      {"json", OptionKind::kFlag, {}, "the answer as JSON", {}, 0, true},
      {"server",
       OptionKind::kText,
       "URL",
       "http://, https:// or unix:/PATH (default KVARTS_SERVER, or http://127.0.0.1:7700)",
       {},
       0,
       true},
      {"data", OptionKind::kPath, "DIR", "a data directory instead of a server", {}, 0, true},
      {"shards", OptionKind::kPath, "FILE", "PostgreSQL servers, by the file of `kvarts serve`, instead", {}, 0, true},
      {"token", OptionKind::kText, "TEXT", "the token to show (default KVARTS_TOKEN)", {}, 0, true},
      {"token-file", OptionKind::kPath, "FILE", "the same, from a file", {}, 0, true},
      {"ca-file", OptionKind::kPath, "FILE", "certificates to trust", {}, 0, true},
      {"cert-file", OptionKind::kPath, "FILE", "the certificate to show, where a server wants one", {}, 0, true},
      {"key-file", OptionKind::kPath, "FILE", "its key, if that is not in the same file", {}, 0, true},
  };
  for (const OptionSyntax& option : common) {
    if (std::ranges::find(own.options, option.name, &OptionSyntax::name) == own.options.end()) {
      own.options.push_back(option);
    }
  }
  own.over_api = true;
  return own;
}

std::string Target::ToString() const {
  if (place.IsNamed()) return place.ToString();
  return unix_socket.empty() ? url : "unix:" + unix_socket;
}

Result<Target> TargetOf(const Arguments& arguments, const Environment& environment) {
  Target target;
  target.ca_file = arguments.Text("ca-file").value_or("");
  target.cert_file = arguments.Text("cert-file").value_or("");
  target.key_file = arguments.Text("key-file").value_or("");
  if (target.cert_file.empty() && !target.key_file.empty()) {
    return Error(ErrorCode::kInvalidArgument, "--key-file is the key of a --cert-file");
  }
  if (arguments.Has("token") && arguments.Has("token-file")) {
    return Error(ErrorCode::kInvalidArgument, "--token and --token-file exclude each other");
  }
  KVARTS_CHECK_OK(FindToken(arguments, environment, &target));
  KVARTS_TRY(target.place, FindPlace(arguments));
  if (target.place.IsNamed()) {
    target.url = kNowhere;
    return target;
  }
  const auto server = arguments.Text("server");
  const auto variable = environment.find(kServerVariable);
  const bool set = variable != environment.end() && !variable->second.empty();
  KVARTS_CHECK_OK(TakeServer(server ? *server : set ? variable->second : std::string(kDefaultServer), &target));
  return target;
}

}  // namespace kvarts::cli
