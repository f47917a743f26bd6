#include "support/server_process.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "support/files.h"
#include "support/postgres_database.h"

namespace kvarts::test {
namespace {

constexpr const char* kBinary = KVARTS_BINARY_DIR "/kvarts";
constexpr std::chrono::seconds kPatience(30);
constexpr auto kPoll = std::chrono::milliseconds(5);

// What stands behind this option; empty when it does not.
std::string ValueOf(const std::vector<std::string>& options, const char* name) {
  const auto found = std::ranges::find(options, name);
  return found == options.end() || found + 1 == options.end() ? "" : found[1];
}

}  // namespace

std::vector<std::string> ServeCommand(const std::vector<std::string>& options, const std::string& data) {
  std::vector<std::string> words = {kBinary, "serve"};
  words.insert(words.end(), options.begin(), options.end());
  const auto otherwise = [&words](const char* name, const std::string& value) {
    if (ValueOf(words, name).empty()) words.insert(words.end(), {name, value});
  };
  otherwise("--log-format", "json");
  otherwise("--listen", "127.0.0.1:0");
  otherwise("--data", data);
  if (ValueOf(words, "--engine") == "postgres" && ValueOf(words, "--shards").empty()) {
    words.insert(words.end(), {"--shards", ShardsFileFor(ValueOf(words, "--data"))});
  }
  return words;
}

ServerProcess::ServerProcess(const std::vector<std::string>& options)
    : process_(ServeCommand(options, files_ / "data"), {.in = "/dev/null", .err = files_ / "log"}) {
  AwaitAddresses();
}

void ServerProcess::AwaitAddresses() {
  constexpr std::string_view kField = "\"addresses\":\"";
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (Running() && std::chrono::steady_clock::now() < give_up) {
    const std::string log = Log();
    const size_t at = log.find(kField);
    if (at == std::string::npos || log.find('\n', at) == std::string::npos) {
      std::this_thread::sleep_for(kPoll);
      continue;
    }
    std::istringstream list(log.substr(at + kField.size(), log.find('"', at + kField.size()) - at - kField.size()));
    for (std::string address; std::getline(list, address, ',');) {
      addresses_.push_back(address.substr(address.find_first_not_of(' ')));
    }
    return;
  }
  throw std::runtime_error("the server does not serve: " + Log());
}

std::string ServerProcess::Log() const { return ReadBytes(files_ / "log"); }

bool ServerProcess::AwaitLog(const std::string& text) const {
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < give_up) {
    if (Log().find(text) != std::string::npos) return true;
    std::this_thread::sleep_for(kPoll);
  }
  return false;
}

}  // namespace kvarts::test
