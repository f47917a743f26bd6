// A server of the test's own, asked over a connection of its own, with its log at hand.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/log_sinks.h"
#include "server/server.h"
#include "support/http_client.h"

namespace kvarts::test {

// Keeps what is logged, each entry as "text name=value name=value".
class KeptLog {
 public:
  std::vector<std::string> Entries(std::string_view text) {
    Logging::Flush(Duration::Seconds(5));
    std::vector<std::string> found;
    for (const std::string& line : kept_->Lines()) {
      const std::string entry = line.substr(line.find(' ') + 1);  // behind the level
      if (entry.starts_with(text)) found.push_back(entry);
    }
    return found;
  }

 private:
  const std::shared_ptr<TestLogSink::Kept> kept_ = std::make_shared<TestLogSink::Kept>();
  const Logging logging_{LogLevel::kInfo, std::make_unique<TestLogSink>(kept_)};
};

class ObservedServer {
 public:
  static ServerOptions Options() {
    ServerOptions options;
    options.engine = kvarts::EngineKind::kMemory;
    options.durability = Durability::kNone;
    options.listen = {"127.0.0.1:0"};
    options.loops = 2;
    return options;
  }

  explicit ObservedServer(const ServerOptions& options = Options()) : ObservedServer(Server::Start(options)) {}
  // Over an engine of the test's own.
  explicit ObservedServer(std::unique_ptr<Engine> engine)
      : ObservedServer(Server::Start(Options(), std::move(engine))) {}

  Server& server() { return *server_; }

  HttpAnswer Ask(std::string_view method, std::string_view target, std::string_view body = {},
                 const HttpHeaders& headers = {}) {
    return client_.Call(method, target, headers, body);
  }
  std::string Get(std::string_view target) { return Ask("GET", target).body; }
  void Put(std::string_view key, std::string_view value = "v") {
    EXPECT_EQ(Ask("PUT", fmt::format("/keys/{}", key), value, {{"Content-Type", "text/plain"}}).status, 200);
  }

 private:
  explicit ObservedServer(Result<std::unique_ptr<Server>> started)
      : server_(std::move(started).value()), client_(server_->Connect().value()) {}

  std::unique_ptr<Server> server_;
  HttpClient client_;
};

}  // namespace kvarts::test
