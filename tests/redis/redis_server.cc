#include "redis/redis_server.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "support/eventually.h"

namespace kvarts::test {
namespace {

// A port that nobody had a moment ago.
int FreePort() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(at);
  ::bind(socket, reinterpret_cast<const sockaddr*>(&at), size);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&at), &size);
  ::close(socket);
  return ntohs(at.sin_port);
}

}  // namespace

RedisServer::RedisServer() {
  constexpr int kTries = 5;
  for (int tries = 0; tries < kTries; ++tries) {
    const std::string port = std::to_string(FreePort());
    address_ = "127.0.0.1:" + port;
    process_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{"redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly",
                                 "no", "--dir", files_.path(), "--loglevel", "warning",
                                 // How often it looks whether the time of those who wait is over.
                                 "--hz", "500"},
        ProcessFiles{.out = files_.path() / "out", .err = files_.path() / "err"});
    const bool answers = Eventually([&] {
      try {
        return RespClient(address_).Call({"PING"}) == "PONG";
      } catch (const std::runtime_error&) {
        return !process_->Running();
      }
    });
    if (answers && process_->Running()) return;
  }
  throw std::runtime_error("redis-server does not start");
}

}  // namespace kvarts::test
