#include "base/clock.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>

namespace kvarts {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

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

std::optional<Timestamp> Timestamp::Parse(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  if (text.size() <= kForm.size() || text.back() != 'Z') return std::nullopt;
  for (size_t i = 0; i < kForm.size(); ++i) {
    if (kForm[i] == '0' ? !IsDigit(text[i]) : text[i] != kForm[i]) return std::nullopt;
  }
  const std::string_view fraction = text.substr(kForm.size(), text.size() - kForm.size() - 1);
  if (!fraction.empty() && (fraction.size() < 2 || fraction.size() > 7 || fraction[0] != '.')) return std::nullopt;
  uint64_t micros = 0;
  for (size_t i = 1; i <= 6; ++i) {
    const char digit = i < fraction.size() ? fraction[i] : '0';
    if (!IsDigit(digit)) return std::nullopt;
    micros = micros * 10 + static_cast<uint64_t>(digit - '0');
  }
  const auto two = [&](size_t at) { return static_cast<unsigned>((text[at] - '0') * 10 + (text[at + 1] - '0')); };
  const std::chrono::year_month_day day{std::chrono::year(static_cast<int>(two(0) * 100 + two(2))),
                                        std::chrono::month(two(5)), std::chrono::day(two(8))};
  if (!day.ok() || two(11) > 23 || two(14) > 59 || two(17) > 59) return std::nullopt;
  const int64_t days = std::chrono::sys_days(day).time_since_epoch().count();
  if (days < 0) return std::nullopt;
  const uint64_t seconds = static_cast<uint64_t>(days) * 86'400 + two(11) * 3600 + two(14) * 60 + two(17);
  return Timestamp{seconds * 1'000'000 + micros};
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
