#include "protocol/http/write_throttle.h"

#include <algorithm>
#include <cmath>

namespace kvarts::http {
namespace {

double BytesPerSecond(double pressure) {
  const double excess = std::min((pressure - WriteThrottle::kFrom) / (1 - WriteThrottle::kFrom), 1.0);
  return WriteThrottle::kFastest * std::pow(WriteThrottle::kSlowest / WriteThrottle::kFastest, excess);
}

}  // namespace

std::optional<WriteThrottle::Time> WriteThrottle::Reserve(double pressure, uint64_t bytes, Time now, Time by) {
  auto line = line_.load(std::memory_order_relaxed);
  if (pressure <= kFrom) {
    // Who waited under a pressure that is gone does not wait any more, so nobody stands behind them.
    if (line != 0) line_.store(0, std::memory_order_relaxed);
    return now;
  }
  const std::chrono::duration<double> needed(static_cast<double>(bytes) / BytesPerSecond(pressure));
  const auto length = std::chrono::duration_cast<Time::duration>(needed).count();
  Time turn;
  do {
    turn = std::max(Time(Time::duration(line)), now);
    if (turn > by) return std::nullopt;
  } while (!line_.compare_exchange_weak(line, turn.time_since_epoch().count() + length, std::memory_order_relaxed));
  return turn;
}

}  // namespace kvarts::http
