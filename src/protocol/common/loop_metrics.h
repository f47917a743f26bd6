// What a loop counts about the requests that it serves: written by the loop's thread alone, read by anybody.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/histogram.h"

namespace kvarts {

// By what it does to the store; the `operation` label of metrics.
enum class Operation : uint8_t { kGet, kScan, kCommit, kOther };
constexpr size_t kOperations = 4;
constexpr std::array<std::string_view, kOperations> kOperationNames = {"get", "scan", "commit", "other"};

// A counter with one writer.
class LoopCounter {
 public:
  void Add(uint64_t n = 1) { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

struct LoopMetrics {
  std::array<LatencyHistogram, kOperations> latency;
  std::array<LoopCounter, 6> answers;  // by the first digit of their status
  LoopCounter requests_malformed;
  LoopCounter bytes_in;   // of requests' bodies
  LoopCounter bytes_out;  // of everything sent
  LoopCounter keys_read;
  LoopCounter bytes_read;
  LoopCounter tombstones_skipped;
  LoopCounter tombstone_warnings;
  LoopCounter keys_written;
  LoopCounter bytes_written;
  LoopCounter throttled;     // writes that were delayed
  LoopCounter rate_limited;  // requests beyond their token's rate
  LoopCounter slow_requests;
};

}  // namespace kvarts
