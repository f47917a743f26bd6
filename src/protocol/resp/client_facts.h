// ClientFacts: what CLIENT LIST tells of a connection.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/resp/output_limits.h"

namespace kvarts::resp {

struct ClientFacts {
  uint64_t id = 0;
  ClientClass of = ClientClass::kNormal;
  std::string address;  // of the client
  std::string local;    // where it came in
  int socket = -1;
  std::string name;
  std::string user;
  int64_t age_seconds = 0;
  int64_t idle_seconds = 0;
  std::string flags;  // as Redis has them: "N", "Px"
  uint32_t database = 0;
  size_t channels = 0;
  size_t patterns = 0;
  size_t shard_channels = 0;
  int64_t queued = -1;  // commands since MULTI; less than zero: there was none
  size_t input_bytes = 0;
  size_t argument_bytes = 0;
  size_t queued_bytes = 0;
  size_t output_bytes = 0;  // that were not sent yet
  size_t messages = 0;      // that wait to be written
  size_t message_bytes = 0;
  size_t total_bytes = 0;
  bool sends = false;          // more than is taken at once
  std::string_view command;    // the last one; empty: none that is known
  int64_t redirected_to = -1;  // a client that is told in its stead what it has read has changed
  int version = 2;

  // A line, without its end.
  std::string Line() const;
};

}  // namespace kvarts::resp
