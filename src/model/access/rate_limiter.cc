#include "model/access/rate_limiter.h"

#include <algorithm>

namespace kvarts {
namespace {

constexpr uint64_t kNanosPerMicro = 1000;
constexpr uint64_t kNanosPerSecond = 1'000'000'000;

constexpr uint64_t kBytesReadPerUnit = 4096;
constexpr uint64_t kBytesWrittenPerUnit = 1024;
constexpr uint64_t kSkippedPerUnit = 10;
constexpr uint64_t kUnitsPerKeyWritten = 2;
constexpr uint64_t kStrongPrice = 2;

uint64_t NanosOf(Timestamp time) { return std::min(time, kLastTimestamp).micros * kNanosPerMicro; }

// How long filling in so many units takes, rounded up.
uint64_t NanosFor(uint64_t units, uint32_t per_second) {
  const auto nanos = (static_cast<unsigned __int128>(units) * kNanosPerSecond + per_second - 1) / per_second;
  return static_cast<uint64_t>(std::min<unsigned __int128>(nanos, UINT64_MAX));
}

}  // namespace

uint64_t UnitsOf(const Cost& cost) {
  const uint64_t read = cost.read.keys + cost.read.bytes / kBytesReadPerUnit + cost.read.skipped / kSkippedPerUnit;
  return 1 + (cost.strong ? kStrongPrice : 1) * read + kUnitsPerKeyWritten * cost.keys_written +
         cost.bytes_written / kBytesWrittenPerUnit;
}

RateLimiter::RateLimiter(const RateLimit& limit)
    : limit_{std::max(limit.per_second, 1U), std::max(limit.burst, 1U)},
      burst_ns_(NanosFor(limit_.burst, limit_.per_second)) {}

Duration RateLimiter::WaitAt(Timestamp now) const {
  const uint64_t at = NanosOf(now);
  const uint64_t full_at = full_at_.load(std::memory_order_relaxed);
  if (full_at < at + burst_ns_) return {};
  const uint64_t wait = full_at - at - burst_ns_ + NanosFor(1, limit_.per_second);
  return Duration::Micros(static_cast<int64_t>((wait + kNanosPerMicro - 1) / kNanosPerMicro));
}

Status RateLimiter::Admit(Timestamp now) const {
  const Duration wait = WaitAt(now);
  if (wait == Duration{}) return {};
  return Error(ErrorCode::kRateLimited, "the credential's share is used up",
               {{"retry_after_us", std::to_string(wait.micros)},
                {"per_second", std::to_string(limit_.per_second)},
                {"burst", std::to_string(limit_.burst)}});
}

void RateLimiter::Charge(uint64_t units, Timestamp now) {
  const uint64_t at = NanosOf(now);
  const uint64_t latest = at + burst_ns_ + static_cast<uint64_t>(kLongestDebt.micros) * kNanosPerMicro;
  uint64_t full_at = full_at_.load(std::memory_order_relaxed);
  uint64_t next = 0;
  do {
    const uint64_t from = std::max(full_at, at);
    // Another thread's clock may be ahead, so that the debt already reaches beyond what this one would allow.
    const uint64_t room = std::max(latest, from) - from;
    next = from + std::min(NanosFor(units, limit_.per_second), room);
  } while (!full_at_.compare_exchange_weak(full_at, next, std::memory_order_relaxed));
}

}  // namespace kvarts
