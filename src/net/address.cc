#include "net/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/un.h>

#include <array>
#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <cstring>

#include "base/units.h"

namespace kvarts::net {
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

Result<Address> ParseUnix(std::string_view text) {
  Address address;
  address.kind = Address::Kind::kUnix;
  address.path = text.substr(kUnixPrefix.size());
  if (!address.path.starts_with('/')) return Refused(text, "the path of a socket is written from the root on");
  if (address.path.find('\0') != std::string::npos) return Refused(text, "a path has no zero bytes");
  if (address.path.size() >= sizeof(sockaddr_un::sun_path))
    return Refused(text, "the path of a socket has at most 107 bytes");
  return address;
}

}  // namespace

bool Address::IsLoopback() const {
  if (kind == Kind::kUnix) return true;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6{};
  if (inet_pton(AF_INET6, host.c_str(), &v6) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

std::string Address::ToString() const {
  if (kind == Kind::kUnix) return fmt::format("{}{}", kUnixPrefix, path);
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

Result<Address> ParseAddress(std::string_view text) {
  if (text.starts_with(kUnixPrefix)) return ParseUnix(text);
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Refused(text, "an address is host:port, [host]:port or unix:/path");
  Address address;
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

asio::generic::stream_protocol::endpoint Address::Endpoint() const {
  if (kind == Kind::kUnix) return asio::local::stream_protocol::endpoint(path);
  return asio::ip::tcp::endpoint(asio::ip::make_address(host), port);
}

std::string EndpointText(const asio::generic::stream_protocol::endpoint& endpoint) {
  if (endpoint.data()->sa_family == AF_UNIX) {
    const auto* address = reinterpret_cast<const sockaddr_un*>(endpoint.data());
    return address->sun_path[0] == '\0' ? "unix" : fmt::format("unix:{}", address->sun_path);
  }
  asio::ip::tcp::endpoint tcp;
  if (endpoint.size() > tcp.capacity()) return "unknown";
  std::memcpy(tcp.data(), endpoint.data(), endpoint.size());
  tcp.resize(endpoint.size());
  const std::string host = tcp.address().to_string();
  return tcp.address().is_v6() ? fmt::format("[{}]:{}", host, tcp.port()) : fmt::format("{}:{}", host, tcp.port());
}

bool IsLoopback(std::string_view text) {
  const Result<Address> address = ParseAddress(text);
  return address.has_value() && address->IsLoopback();
}

}  // namespace kvarts::net
