// A place in the write-ahead log of a shard, across failovers: what a session has seen, and how far a replica is.
#pragma once

#include <cstdint>

#include "engine/session_token.h"

namespace kvarts::postgres {

struct WalPosition {
  uint32_t timeline = 0;
  uint64_t lsn = 0;

  // Whether a server that is here has all that was to be had at `other`. A later timeline begins with the earlier one;
  // what of that lies behind the fork is lost, and no server will ever have it.
  bool Covers(const WalPosition& other) const { return timeline >= other.timeline && lsn >= other.lsn; }

  SessionToken token() const { return {timeline, lsn}; }
  static WalPosition Of(const SessionToken& token) { return {token.timeline, token.position}; }

  friend bool operator==(const WalPosition&, const WalPosition&) = default;
};

}  // namespace kvarts::postgres
