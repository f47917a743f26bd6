// The limits and habits of HTTP, each by its name.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/durability.h"
#include "net/http/request_head.h"

namespace kvarts::http {

using Millis = std::chrono::milliseconds;

struct HttpOptions {
  HeadLimits head;
  uint64_t max_body_bytes = 64 << 20;
  // Bodies of requests and answers that are in memory at the same time, of all connections together.
  uint64_t max_inflight_bytes = 256 << 20;
  size_t max_pipelined = 64;               // writes of one connection that are submitted together
  uint64_t max_pipelined_bytes = 1 << 20;  // their bytes; one always fits
  Millis idle_timeout{75'000};             // between requests
  Millis head_timeout{10'000};             // for the head to arrive
  Millis request_timeout{30'000};          // for the body to arrive
  Millis write_timeout{30'000};            // for the answer to be taken
  size_t compress_min_bytes = 4096;        // smaller answers are sent as they are; 0: all are
  size_t default_page = 100;
  size_t max_page = 10'000;
  size_t max_batch_keys = 10'000;
  uint64_t max_count = 1'000'000;  // keys that one exact count looks at
  uint64_t tombstones_warn = 1'000;
  uint64_t tombstones_fail = 100'000;
  size_t max_watchers = 1'000;
  size_t max_watch_backlog = 10'000;  // changes that a watch may be behind
  Millis heartbeat{15'000};
  Millis slow_request{500};
  std::vector<std::string> cors_origins;
  Durability durability = Durability::kSync;  // of writes that do not say
  bool metrics = true;
  bool hot_keys = true;
};

}  // namespace kvarts::http
