// What all loops counted together, at about one instant.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/common/loop_metrics.h"
#include "protocol/common/namespace_metrics.h"

namespace kvarts {

struct LoopTotals {
  std::array<HistogramSnapshot, kOperations> latency;
  std::array<uint64_t, 6> answers{};
  uint64_t requests_malformed = 0;
  uint64_t bytes_in = 0;
  uint64_t bytes_out = 0;
  uint64_t keys_read = 0;
  uint64_t bytes_read = 0;
  uint64_t tombstones_skipped = 0;
  uint64_t tombstone_warnings = 0;
  uint64_t keys_written = 0;
  uint64_t bytes_written = 0;
  uint64_t throttled = 0;
  uint64_t rate_limited = 0;
  uint64_t slow_requests = 0;

  LoopTotals& operator+=(const LoopMetrics& loop);
};

struct NamespaceTotals {
  std::string name;
  std::array<HistogramSnapshot, kOperations> latency;
  std::array<uint64_t, 6> answers{};
  uint64_t keys_read = 0;
  uint64_t bytes_read = 0;
  uint64_t keys_written = 0;
  uint64_t bytes_written = 0;
  uint64_t tombstones_skipped = 0;

  NamespaceTotals& operator+=(const NamespaceCounts& counts);
};

// Of every place in which some loop has counted anything.
std::vector<NamespaceTotals> SumNamespaces(const NamespacePlaces& places,
                                           const std::vector<const NamespaceMetrics*>& loops);

}  // namespace kvarts
