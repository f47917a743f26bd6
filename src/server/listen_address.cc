#include "server/listen_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/un.h>

#include <array>

#include "base/units.h"

namespace kvarts {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";

Error Refused(std::string_view text, const char* why) {
  return Error(ErrorCode::kInvalidArgument, why, {{"word", std::string(text)}});
}

bool IsV4(const std::string& host) {
  in_addr address{};
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool IsV6(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

Result<uint16_t> ParsePort(std::string_view text, std::string_view digits) {
  const Result<uint64_t> port = ParseCount(digits);
  if (!port.has_value() || *port > 65'535) return Refused(text, "the port is no number from 0 to 65535");
  return static_cast<uint16_t>(*port);
}

Result<ListenAddress> ParseUnix(std::string_view text) {
  ListenAddress address;
  address.kind = ListenAddress::Kind::kUnix;
  address.path = text.substr(kUnixPrefix.size());
  if (!address.path.starts_with('/')) return Refused(text, "the path of a socket is written from the root on");
  if (address.path.find('\0') != std::string::npos) return Refused(text, "a path has no zero bytes");
  if (address.path.size() >= sizeof(sockaddr_un::sun_path))
    return Refused(text, "the path of a socket has at most 107 bytes");
  return address;
}

}  // namespace

bool ListenAddress::IsLoopback() const {
  if (kind == Kind::kUnix) return true;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6{};
  if (inet_pton(AF_INET6, host.c_str(), &v6) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

std::string ListenAddress::ToString() const {
  if (kind == Kind::kUnix) return fmt::format("{}{}", kUnixPrefix, path);
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

Result<ListenAddress> ParseListenAddress(std::string_view text) {
  if (text.starts_with(kUnixPrefix)) return ParseUnix(text);
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Refused(text, "an address is host:port, [host]:port or unix:/path");
  ListenAddress address;
  KVARTS_TRY(address.port, ParsePort(text, text.substr(colon + 1)));
  const std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) {
    address.host = host.substr(1, host.size() - 2);
    if (!IsV6(address.host)) return Refused(text, "what stands in brackets is no address of version 6");
    return address;
  }
  address.host = host == "localhost" ? "127.0.0.1" : host;
  if (IsV6(address.host)) return Refused(text, "an address of version 6 stands in brackets: [::1]:7700");
  if (!IsV4(address.host)) return Refused(text, "the host is no address; write 127.0.0.1, 0.0.0.0, [::1] or localhost");
  return address;
}

bool IsLoopback(std::string_view text) {
  const Result<ListenAddress> address = ParseListenAddress(text);
  return address.has_value() && address->IsLoopback();
}

}  // namespace kvarts
