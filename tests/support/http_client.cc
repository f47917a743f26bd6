#include "support/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

namespace kvarts::test {
namespace {

constexpr size_t kReadBytes = 64 << 10;

bool SameName(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}

int ConnectUnix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return made;
  close(made);
  return -1;
}

int ConnectTcp(const std::string& address_text) {
  const size_t colon = address_text.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(address_text.substr(colon + 1))));
  inet_pton(AF_INET, address_text.substr(0, colon).c_str(), &address.sin_addr);
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(made);
    return -1;
  }
  const int on = 1;
  setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return made;
}

// -1 when it is no number in this base.
int64_t NumberOf(std::string_view text, int base) {
  int64_t number = -1;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return failed == std::errc() && end == text.data() + text.size() ? number : -1;
}

}  // namespace

std::string HttpAnswer::Header(std::string_view name) const {
  const auto found = std::ranges::find_if(headers, [name](const auto& header) { return SameName(header.first, name); });
  return found == headers.end() ? "" : found->second;
}

bool HttpAnswer::Has(std::string_view name) const {
  return std::ranges::any_of(headers, [name](const auto& header) { return SameName(header.first, name); });
}

HttpClient::HttpClient(const std::string& address)
    : socket_(address.starts_with("unix:") ? ConnectUnix(address.substr(5)) : ConnectTcp(address)) {}

HttpClient::~HttpClient() {
  if (connected()) close(socket_);
}

bool HttpClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool HttpClient::SendInParts(std::string_view bytes, size_t part) {
  while (!bytes.empty()) {
    if (!Send(bytes.substr(0, part))) return false;
    bytes.remove_prefix(std::min(part, bytes.size()));
    // The server's loop gets to see the part before the next one is there, mostly.
    usleep(200);
  }
  return true;
}

void HttpClient::EndInput() { shutdown(socket_, SHUT_WR); }

void HttpClient::Reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  close(std::exchange(socket_, -1));
}

bool HttpClient::Fill(std::chrono::milliseconds time) {
  pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
  if (poll(&ready, 1, static_cast<int>(std::max<int64_t>(time.count(), 0))) <= 0) return false;
  const size_t before = unread_.size();
  unread_.resize(before + kReadBytes);
  const ssize_t got = recv(socket_, unread_.data() + before, kReadBytes, 0);
  unread_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  ended_ = got <= 0;
  return got > 0;
}

bool HttpClient::FillTo(size_t size) {
  while (unread_.size() < size) {
    if (!Fill(patience_)) return false;
  }
  return true;
}

std::optional<std::string> HttpClient::TakeLine() {
  size_t end = unread_.find("\r\n");
  while (end == std::string::npos) {
    if (!Fill(patience_)) return std::nullopt;
    end = unread_.find("\r\n");
  }
  std::string line = unread_.substr(0, end);
  unread_.erase(0, end + 2);
  return line;
}

HttpAnswer HttpClient::Read(std::string_view method) {
  HttpAnswer answer;
  std::optional<std::string> line = TakeLine();
  if (!line || !line->starts_with("HTTP/1.1 ") || line->size() < 12) return {};
  answer.status = static_cast<int>(NumberOf(std::string_view(*line).substr(9, 3), 10));
  for (line = TakeLine(); line && !line->empty(); line = TakeLine()) {
    const size_t colon = line->find(": ");
    if (colon == std::string::npos) return {};
    answer.headers.emplace_back(line->substr(0, colon), line->substr(colon + 2));
  }
  if (!line || !TakeBody(method, &answer)) return {};
  return answer;
}

bool HttpClient::TakeBody(std::string_view method, HttpAnswer* answer) {
  if (method == "HEAD" || answer->status < 200 || answer->status == 204 || answer->status == 304) return true;
  if (answer->Header("Transfer-Encoding") == "chunked") return TakeChunks(&answer->body);
  if (!answer->Has("Content-Length")) {
    while (Fill(patience_)) continue;
    answer->body = std::exchange(unread_, {});
    return true;
  }
  const int64_t length = NumberOf(answer->Header("Content-Length"), 10);
  if (length < 0 || !FillTo(static_cast<size_t>(length))) return false;
  answer->body = unread_.substr(0, static_cast<size_t>(length));
  unread_.erase(0, static_cast<size_t>(length));
  return true;
}

bool HttpClient::TakeChunks(std::string* body) {
  while (true) {
    const std::optional<std::string> line = TakeLine();
    const int64_t size = line ? NumberOf(*line, 16) : -1;
    if (size < 0 || !FillTo(static_cast<size_t>(size) + 2)) return false;
    body->append(unread_, 0, static_cast<size_t>(size));
    if (unread_.compare(static_cast<size_t>(size), 2, "\r\n") != 0) return false;
    unread_.erase(0, static_cast<size_t>(size) + 2);
    if (size == 0) return true;
  }
}

HttpAnswer HttpClient::Call(std::string_view method, std::string_view target, const HttpHeaders& headers,
                            std::string_view body) {
  if (!Send(RequestText(method, target, headers, body))) return {};
  return Read(method);
}

bool HttpClient::EndsWithin(std::chrono::milliseconds time) {
  const auto give_up = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < give_up) {
    pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, 20) <= 0) continue;
    char dropped[4096];
    if (recv(socket_, dropped, sizeof(dropped), 0) <= 0) return true;
  }
  return false;
}

std::string HttpClient::ReadSome(size_t at_most) {
  std::string part(at_most, '\0');
  const ssize_t got = recv(socket_, part.data(), part.size(), 0);
  part.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return part;
}

std::string HttpClient::ReadRaw(std::chrono::milliseconds time) {
  const auto give_up = std::chrono::steady_clock::now() + time;
  while (true) {
    const auto left = give_up - std::chrono::steady_clock::now();
    if (!Fill(std::chrono::duration_cast<std::chrono::milliseconds>(left))) return std::exchange(unread_, {});
  }
}

std::string RequestText(std::string_view method, std::string_view target, const HttpHeaders& headers,
                        std::string_view body) {
  std::string text;
  text.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: test\r\n");
  for (const auto& [name, value] : headers) text.append(name).append(": ").append(value).append("\r\n");
  if (!body.empty()) text.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  return text.append("\r\n").append(body);
}

}  // namespace kvarts::test
