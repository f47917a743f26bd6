// Who asked for a commit and why, and what it cost. Both travel with a transaction from the protocol to the feed.
#pragma once

#include <cstdint>
#include <string>

#include "engine/view.h"

namespace kvarts {

struct Context {
  std::string actor;    // who: a user or a service, as authenticated
  std::string trace;    // the trace that this belongs to
  std::string command;  // the id of the command that asked for it

  bool empty() const { return actor.empty() && trace.empty() && command.empty(); }
  friend bool operator==(const Context&, const Context&) = default;
};

struct Cost {
  ReadCost read;
  uint64_t keys_written = 0;
  uint64_t bytes_written = 0;
  uint64_t sync_wait_us = 0;
  uint32_t runs = 0;  // how often the body was run
  // What was read had to be the newest, where there are replicas that could have shown something older.
  bool strong = false;
};

}  // namespace kvarts
