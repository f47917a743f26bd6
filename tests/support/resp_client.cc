#include "support/resp_client.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "base/bytes.h"

namespace kvarts::test {

namespace {

// What is between quotes has none.
std::string Quoted(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes) text += c == '"' ? std::string("\\x22") : Escaped(std::string_view(&c, 1));
  return text + '"';
}

}  // namespace

RespClient::RespClient(const std::string& address) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const size_t colon = address.rfind(':');
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(colon + 1))));
  ::inet_pton(AF_INET, address.substr(0, colon).c_str(), &to.sin_addr);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) != 0) {
    ::close(socket_);
    throw std::runtime_error("nobody answers at " + address);
  }
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  // What does not answer is a failure, and does not keep a test for ever.
  const timeval patience{60, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

RespClient::~RespClient() { ::close(socket_); }

std::string RespClient::Call(const std::vector<std::string>& words) {
  Send(words);
  return Read();
}

void RespClient::Send(const std::vector<std::string>& words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    bytes.append("$").append(std::to_string(word.size())).append("\r\n").append(word).append("\r\n");
  }
  SendRaw(bytes);
}

void RespClient::SendRaw(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) throw std::runtime_error("the server takes nothing");
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

bool RespClient::Receive() {
  if (at_ == input_.size()) {
    input_.clear();
    at_ = 0;
  }
  char bytes[16 << 10];
  const ssize_t got = ::recv(socket_, bytes, sizeof(bytes), 0);
  if (got > 0) input_.append(bytes, static_cast<size_t>(got));
  return got > 0;
}

bool RespClient::AtEnd() { return at_ == input_.size() && !Receive(); }

std::string_view RespClient::TakeLine() {
  size_t end = input_.find("\r\n", at_);
  while (end == std::string::npos) {
    if (!Receive()) throw std::runtime_error("the server has ended the connection");
    end = input_.find("\r\n", at_);
  }
  line_ = input_.substr(at_, end - at_);
  at_ = end + 2;
  return line_;
}

std::string_view RespClient::Take(size_t size) {
  while (input_.size() - at_ < size) {
    if (!Receive()) throw std::runtime_error("the server has ended the connection");
  }
  at_ += size;
  return std::string_view(input_).substr(at_ - size, size);
}

std::string RespClient::ReadSome(int64_t count, bool pairs) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    text.append(i == 0 ? "" : ", ").append(Read());
    if (pairs) text.append(": ").append(Read());
  }
  return text;
}

std::string RespClient::Read() {
  const std::string line(TakeLine());
  const std::string rest = line.substr(1);
  const auto count = [&rest] { return std::stoll(rest); };
  switch (line.at(0)) {
    case '+':
      return rest;
    case '-':
      return "(error) \"" + Escaped(rest) + '"';
    case ':':
      return "(integer) " + rest;
    case '$': {
      if (count() < 0) return "(nil)";
      const std::string bytes(Take(static_cast<size_t>(count())));
      Take(2);
      return Quoted(bytes);
    }
    case '=': {
      const std::string bytes(Take(static_cast<size_t>(count())));
      Take(2);
      return "(verbatim) \"" + Escaped(bytes) + '"';
    }
    case '*':
      return count() < 0 ? "(nil array)" : '[' + ReadSome(count(), false) + ']';
    case '~':
      return "(set) [" + ReadSome(count(), false) + ']';
    case '>':
      return "(push) [" + ReadSome(count(), false) + ']';
    case '%':
      return '{' + ReadSome(count(), true) + '}';
    case '_':
      return "(null)";
    case '#':
      return rest == "t" ? "(true)" : "(false)";
    case ',':
      return "(double) " + rest;
    case '(':
      return "(big) " + rest;
    default:
      throw std::runtime_error("no answer of the protocol: " + line);
  }
}

}  // namespace kvarts::test
