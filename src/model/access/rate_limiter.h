// RateLimiter: a share of the store's work for one credential, charged by what requests cost.
//
// A bucket holds up to `burst` units and is filled at `per_second`. A request is admitted while there is something in
// the bucket and charged when it is done, because only then is it known what it cost; so the bucket may go below zero,
// and an expensive request is paid off before the next. Requests that are under way at the same time are all admitted
// at what the bucket holds then: how many these can be is for whoever bounds them.
//
// The bucket is one number, the time at which it will be full again: what is in it follows from that and the clock.
// Safe from any thread, without a lock. Time is given by the caller and may step back between threads.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "core/context.h"

namespace kvarts {

struct RateLimit {
  uint32_t per_second = 0;  // units; at least 1
  uint32_t burst = 0;       // units; at least 1

  friend bool operator==(const RateLimit&, const RateLimit&) = default;
};

// What a request is charged: one for itself, one for each key read, 4 KiB read and 10 tombstones stepped over, two for
// each key written and one for each KiB written. What is read strongly, where replicas could have shown something
// older, counts double.
uint64_t UnitsOf(const Cost& cost);

class RateLimiter {
 public:
  // However much a request cost, its debt ends after this: nobody is locked out for longer.
  static constexpr Duration kLongestDebt = Duration::Seconds(3600);

  explicit RateLimiter(const RateLimit& limit);

  const RateLimit& limit() const { return limit_; }

  // How long until a request is admitted: zero when it is now. At least a unit is there by then.
  Duration WaitAt(Timestamp now) const;
  // `rate_limited` when the bucket is empty, with the time after which to come back in `retry_after_us`.
  Status Admit(Timestamp now) const;
  void Charge(uint64_t units, Timestamp now);

 private:
  const RateLimit limit_;
  // In nanoseconds: so that one unit is something at any rate.
  const uint64_t burst_ns_;           // how long filling it takes
  std::atomic<uint64_t> full_at_{0};  // since 1970
};

}  // namespace kvarts
