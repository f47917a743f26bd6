#include "cli/stats_fetch.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>

namespace kvarts::cli {
namespace {

constexpr timeval kPatience{10, 0};

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  const int fd_;
};

Error Unreachable(const std::string& host, const std::string& port) {
  return Error(ErrorCode::kUnavailable, "the server cannot be reached", {{"server", fmt::format("{}:{}", host, port)}});
}

int Connect(const std::string& host, const std::string& port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) != 0) return -1;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int fd = ::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
    if (::connect(fd, at->ai_addr, at->ai_addrlen) == 0) return fd;
    ::close(fd);
  }
  return -1;
}

// The server closes the connection after its answer.
Result<std::string> Get(const std::string& host, const std::string& port, const std::string& path) {
  const Socket socket(Connect(host, port));
  const std::string request = fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", path, host);
  if (socket.fd() < 0 || ::send(socket.fd(), request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    return Unreachable(host, port);
  }
  std::string answer;
  std::array<char, 16 << 10> buffer;
  while (true) {
    const ssize_t got = ::recv(socket.fd(), buffer.data(), buffer.size(), 0);
    if (got < 0) return Unreachable(host, port);
    if (got == 0) break;
    answer.append(buffer.data(), static_cast<size_t>(got));
  }
  const size_t body = answer.find("\r\n\r\n");
  if (body == std::string::npos || answer.size() < 12) return Unreachable(host, port);
  const std::string status = answer.substr(9, 3);
  if (status != "200") {
    return Error(ErrorCode::kUnavailable, "the server answers otherwise", {{"path", path}, {"status", status}});
  }
  return answer.substr(body + 4);
}

}  // namespace

Result<Fetch> FetchFrom(const std::string& server) {
  constexpr std::string_view kScheme = "http://";
  std::string address = server;
  while (address.ends_with('/')) address.pop_back();
  const size_t colon = address.rfind(':');
  if (!address.starts_with(kScheme) || colon <= kScheme.size() || colon == address.size() - 1) {
    return Error(ErrorCode::kInvalidArgument, "a server is named by http://HOST:PORT", {{"server", server}});
  }
  std::string host = address.substr(kScheme.size(), colon - kScheme.size());
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return Fetch([host, port = address.substr(colon + 1)](const std::string& path) { return Get(host, port, path); });
}

}  // namespace kvarts::cli
