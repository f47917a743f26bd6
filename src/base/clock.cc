#include "base/clock.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>

namespace kvarts {
namespace {

int64_t ReadMicros(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

// Wall clock minus monotonic clock. In this order, so that being interrupted in between makes it smaller: an offset
// that is too small is corrected by the next look, one that is too large would stay.
int64_t ReadOffset() {
  const int64_t wall = ReadMicros(CLOCK_REALTIME);
  return wall - ReadMicros(CLOCK_MONOTONIC);
}

}  // namespace

std::string Timestamp::ToString() const {
  if (*this == kNever) return "never";
  const auto seconds = static_cast<time_t>(micros / 1'000'000);
  tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return fmt::format("{}us", micros);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, micros % 1'000'000);
}

Result<Timestamp> ExpiryAfter(Timestamp now, Duration ttl) {
  if (ttl.micros <= 0) {
    return Error(ErrorCode::kInvalidArgument, "a time to live must be positive",
                 {{"ttl_us", std::to_string(ttl.micros)}});
  }
  if (now > kLastTimestamp || static_cast<uint64_t>(ttl.micros) > kLastTimestamp.micros - now.micros) {
    return Error(ErrorCode::kInvalidArgument, "a time to live must end before the year 2255",
                 {{"ttl_us", std::to_string(ttl.micros)}});
  }
  return Timestamp{now.micros + static_cast<uint64_t>(ttl.micros)};
}

SystemClock::SystemClock() {
  offset_ = ReadOffset();
  next_recheck_ = ReadMicros(CLOCK_MONOTONIC) + kRecheckMicros;
}

Timestamp SystemClock::Now() const {
  const int64_t monotonic = ReadMicros(CLOCK_MONOTONIC);
  int64_t offset = offset_.load(std::memory_order_relaxed);
  int64_t due = next_recheck_.load(std::memory_order_relaxed);
  if (monotonic >= due &&
      next_recheck_.compare_exchange_strong(due, monotonic + kRecheckMicros, std::memory_order_relaxed)) {
    const int64_t seen = ReadOffset();
    while (seen > offset && !offset_.compare_exchange_weak(offset, seen, std::memory_order_relaxed)) {
    }
    offset = std::max(offset, seen);
  }
  return {static_cast<uint64_t>(monotonic + offset)};
}

void ManualClock::Advance(Duration by) {
  if (by.micros > 0) now_.fetch_add(static_cast<uint64_t>(by.micros), std::memory_order_acq_rel);
}

void ManualClock::MoveTo(Timestamp to) {
  uint64_t now = now_.load(std::memory_order_acquire);
  while (now < to.micros && !now_.compare_exchange_weak(now, to.micros, std::memory_order_acq_rel)) {
  }
}

}  // namespace kvarts
