#include "net/address.h"

#include <fmt/format.h>

#include <asio/ip/address.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <charconv>

namespace kvarts::net {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr size_t kMaxUnixPath = 107;

Error NoAddress(std::string_view text) {
  return Error(ErrorCode::kInvalidArgument, "an address is HOST:PORT, [HOST]:PORT or unix:PATH",
               {{"address", std::string(text)}});
}

}  // namespace

Result<Address> Address::Parse(std::string_view text) {
  Address address;
  if (text.starts_with(kUnix)) {
    address.unix_path = text.substr(kUnix.size());
    if (address.unix_path.empty() || address.unix_path.size() > kMaxUnixPath) return NoAddress(text);
    address.endpoint = asio::local::stream_protocol::endpoint(address.unix_path);
    address.loopback = true;
    return address;
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return NoAddress(text);
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!bracketed && host.find(':') != std::string_view::npos) return NoAddress(text);
  uint16_t port = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failed != std::errc() || end != digits.data() + digits.size()) return NoAddress(text);
  asio::error_code wrong;
  const auto ip = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : std::string(host), wrong);
  if (wrong) return NoAddress(text);
  address.endpoint = asio::ip::tcp::endpoint(ip, port);
  address.loopback = ip.is_loopback();
  return address;
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

}  // namespace kvarts::net
