// A server of the test's own, asked over a connection of its own, with its log at hand.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.h"
#include "server/server.h"

namespace kvarts::test {

// Keeps what is logged, each entry as "text name=value name=value".
class KeptLog {
 public:
  KeptLog() : logging_(LogLevel::kInfo, std::make_unique<Sink>(&entries_, &mutex_)) {}

  std::vector<std::string> Entries(std::string_view text) {
    Logging::Flush(Duration::Seconds(5));
    std::lock_guard lock(mutex_);
    std::vector<std::string> found;
    for (const std::string& entry : entries_) {
      if (entry.starts_with(text)) found.push_back(entry);
    }
    return found;
  }

 private:
  class Sink final : public LogSink {
   public:
    Sink(std::vector<std::string>* entries, std::mutex* mutex) : entries_(*entries), mutex_(*mutex) {}
    void Write(const LogEntry& entry) override {
      std::string line(entry.text);
      for (const LogEntry::Field& field : entry.fields) line += fmt::format(" {}={}", field.name, field.value);
      std::lock_guard lock(mutex_);
      entries_.push_back(std::move(line));
    }

   private:
    std::vector<std::string>& entries_;
    std::mutex& mutex_;
  };

  std::mutex mutex_;
  std::vector<std::string> entries_;
  Logging logging_;
};

struct HttpAnswer {
  int status = 0;
  std::string head;
  std::string body;
};

class ObservedServer {
 public:
  static ServerOptions Options() {
    ServerOptions options;
    options.engine = EngineKind::kMemory;
    options.durability = Durability::kNone;
    options.listen = {"127.0.0.1:0"};
    options.loops = 2;
    return options;
  }

  explicit ObservedServer(const ServerOptions& options = Options()) {
    auto started = Server::Start(options);
    EXPECT_TRUE(started) << started.error();
    server_ = *std::move(started);
    socket_ = server_->Connect().value();
  }
  ~ObservedServer() { ::close(socket_); }
  ObservedServer(const ObservedServer&) = delete;
  ObservedServer& operator=(const ObservedServer&) = delete;

  Server& server() { return *server_; }

  HttpAnswer Ask(std::string_view method, std::string_view target, std::string_view body = {},
                 std::string_view headers = {}) {
    Send(fmt::format("{} {} HTTP/1.1\r\nHost: x\r\n{}Content-Length: {}\r\n\r\n{}", method, target, headers,
                     body.size(), body));
    return Receive();
  }
  std::string Get(std::string_view target, std::string_view headers = {}) {
    return Ask("GET", target, {}, headers).body;
  }
  void Put(std::string_view key, std::string_view value = "v") {
    EXPECT_EQ(Ask("PUT", fmt::format("/keys/{}", key), value, "Content-Type: text/plain\r\n").status, 200);
  }

 private:
  void Send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      ASSERT_GT(sent, 0);
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }
  // The next answer, which has a length.
  HttpAnswer Receive() {
    size_t head = std::string::npos;
    while ((head = input_.find("\r\n\r\n")) == std::string::npos) {
      if (!More()) return {};
    }
    HttpAnswer answer;
    answer.head = input_.substr(0, head + 2);
    answer.status = std::stoi(answer.head.substr(9, 3));
    size_t length = 0;
    if (const size_t at = answer.head.find("Content-Length: "); at != std::string::npos) {
      std::from_chars(answer.head.data() + at + 16, answer.head.data() + answer.head.size(), length);
    }
    while (input_.size() < head + 4 + length) {
      if (!More()) return {};
    }
    answer.body = input_.substr(head + 4, length);
    input_.erase(0, head + 4 + length);
    return answer;
  }
  bool More() {
    std::array<char, 64 << 10> buffer;
    const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
    if (got <= 0) return false;
    input_.append(buffer.data(), static_cast<size_t>(got));
    return true;
  }

  std::unique_ptr<Server> server_;
  int socket_ = -1;
  std::string input_;
};

}  // namespace kvarts::test
