// The limits and habits of HTTP, each by its name. Their defaults are those of the server's options (server/options.h),
// from which this is filled.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/consistency.h"
#include "base/durability.h"
#include "net/http/request_head.h"

namespace kvarts::http {

using Millis = std::chrono::milliseconds;

struct HttpOptions {
  HeadLimits head;
  uint64_t max_body_bytes;
  // Bodies of requests and answers that are in memory at the same time, of all connections together. Streams may use
  // half of it.
  uint64_t max_inflight_bytes;
  size_t max_pipelined;          // writes of one connection that are submitted together
  uint64_t max_pipelined_bytes;  // their bytes; one always fits
  Millis idle_timeout;           // between requests
  Millis head_timeout;           // for the head to arrive
  Millis request_timeout;        // for the body to arrive; for a worker, or a turn among writers, to be free
  Millis write_timeout;          // for the answer to be taken
  size_t compress_min_bytes;     // smaller answers are sent as they are; 0: all are
  size_t default_page;
  size_t max_page;
  size_t max_batch_keys;
  uint64_t max_count;  // keys that one exact count looks at
  uint64_t tombstones_warn;
  uint64_t tombstones_fail;
  size_t max_watchers;
  size_t max_watch_backlog;  // changes that a watch may be behind
  Millis heartbeat;
  std::chrono::microseconds slow_request;
  std::vector<std::string> cors_origins;
  Durability durability;    // of writes that do not say
  Consistency consistency;  // of reads that do not say
  bool metrics;
  bool hot_keys;
};

}  // namespace kvarts::http
