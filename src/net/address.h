// Where a server listens: "127.0.0.1:7700", "[::1]:7700", "localhost:7700", "unix:/run/kvarts/kvarts.sock".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <asio/generic/stream_protocol.hpp>

#include "base/result.h"

namespace kvarts::net {

struct Address {
  enum class Kind : uint8_t { kTcp, kUnix };

  Kind kind = Kind::kTcp;
  std::string host;  // a numeric address, version 4 or 6
  uint16_t port = 0;
  std::string path;  // of a socket in the file system

  // Whether only this machine can reach it. The permissions of a socket's file are its guard.
  bool IsLoopback() const;
  std::string ToString() const;
  asio::generic::stream_protocol::endpoint Endpoint() const;
  friend bool operator==(const Address&, const Address&) = default;
};

// Names other than localhost are refused: what they mean depends on who answers. Port 0 lets the system choose.
Result<Address> ParseAddress(std::string_view text);

// As ParseAddress reads it; "unix" for a socket without a name.
std::string EndpointText(const asio::generic::stream_protocol::endpoint& endpoint);

// False for what is no address.
bool IsLoopback(std::string_view text);

}  // namespace kvarts::net
