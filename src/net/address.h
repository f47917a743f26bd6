// Where a server listens: "127.0.0.1:7700", "[::1]:7700", "localhost:7700", "unix:/run/kvarts.sock".
#pragma once

#include <asio/generic/stream_protocol.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvarts::net {

struct Address {
  asio::generic::stream_protocol::endpoint endpoint;
  std::string unix_path;  // of a Unix socket
  bool loopback = false;  // nobody but this machine can reach it

  // `invalid_argument` when the text is no address. Names are not looked up, except localhost.
  static Result<Address> Parse(std::string_view text);
};

// As Parse reads it.
std::string EndpointText(const asio::generic::stream_protocol::endpoint& endpoint);

}  // namespace kvarts::net
