// Buckets fill with time, are charged afterwards, and owe what they do not hold.
#include "model/access/rate_limiter.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace kvarts {
namespace {

constexpr Timestamp kStart{1'700'000'000'000'000};

Timestamp At(int64_t micros) { return {kStart.micros + static_cast<uint64_t>(micros)}; }

bool Admitted(const RateLimiter& limiter, Timestamp now) { return limiter.Admit(now).has_value(); }

TEST(UnitsTest, ARequestCostsOneAndWhatItDid) {
  EXPECT_EQ(UnitsOf({}), 1u);
  Cost cost;
  cost.read = {.keys = 3, .bytes = 8191, .skipped = 19};
  EXPECT_EQ(UnitsOf(cost), 1u + 3 + 1 + 1);
  cost.read = {.keys = 3, .bytes = 8192, .skipped = 20};
  EXPECT_EQ(UnitsOf(cost), 1u + 3 + 2 + 2);
  cost.keys_written = 2;
  cost.bytes_written = 1023;
  EXPECT_EQ(UnitsOf(cost), 1u + 3 + 2 + 2 + 4);
  cost.bytes_written = 1024;
  EXPECT_EQ(UnitsOf(cost), 1u + 3 + 2 + 2 + 4 + 1);
  // Twice what is read, and nothing else.
  cost.strong = true;
  EXPECT_EQ(UnitsOf(cost), 1u + 2 * (3 + 2 + 2) + 4 + 1);
}

TEST(RateLimiterTest, ABurstIsThereAtOnceAndNoMore) {
  RateLimiter limiter({.per_second = 10, .burst = 5});
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(Admitted(limiter, kStart)) << i;
    limiter.Charge(1, kStart);
  }
  EXPECT_FALSE(Admitted(limiter, kStart));
}

TEST(RateLimiterTest, IsFilledAtItsRate) {
  RateLimiter limiter({.per_second = 10, .burst = 5});
  limiter.Charge(5, kStart);
  EXPECT_EQ(limiter.WaitAt(kStart), Duration::Millis(100));
  EXPECT_FALSE(Admitted(limiter, kStart));
  EXPECT_TRUE(Admitted(limiter, At(100'000)));
  limiter.Charge(1, At(100'000));
  EXPECT_FALSE(Admitted(limiter, At(100'000)));
  // Never more than the burst, however long it is.
  for (int i = 0; i < 5; ++i) limiter.Charge(1, At(1'000'000'000));
  EXPECT_FALSE(Admitted(limiter, At(1'000'000'000)));
}

TEST(RateLimiterTest, AnExpensiveRequestIsPaidOffBeforeTheNext) {
  RateLimiter limiter({.per_second = 100, .burst = 10});
  EXPECT_TRUE(Admitted(limiter, kStart));
  limiter.Charge(1010, kStart);
  const Status refused = limiter.Admit(At(1'000'000));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), ErrorCode::kRateLimited);
  EXPECT_EQ(refused.error().field("retry_after_us"), "9010000");
  EXPECT_FALSE(Admitted(limiter, At(10'000'000)));
  EXPECT_TRUE(Admitted(limiter, At(10'010'000)));
}

TEST(RateLimiterTest, WhoWaitsAsToldIsAdmitted) {
  for (const RateLimit limit : {RateLimit{1, 1}, RateLimit{3, 7}, RateLimit{999'999, 1}, RateLimit{UINT32_MAX, 1},
                                RateLimit{1, UINT32_MAX}, RateLimit{UINT32_MAX, UINT32_MAX}}) {
    RateLimiter limiter(limit);
    Timestamp now = kStart;
    for (const uint64_t units : {uint64_t{1}, uint64_t{limit.burst}, uint64_t{17}, uint64_t{1} << 33}) {
      EXPECT_TRUE(Admitted(limiter, now)) << limit.per_second << " " << limit.burst << " " << units;
      limiter.Charge(units, now);
      now.micros += static_cast<uint64_t>(limiter.WaitAt(now).micros);
    }
  }
}

TEST(RateLimiterTest, NobodyIsLockedOutForEver) {
  RateLimiter limiter({.per_second = 1, .burst = 1});
  for (int i = 0; i < 3; ++i) limiter.Charge(UINT64_MAX, kStart);
  const Duration longest{RateLimiter::kLongestDebt.micros + 1'000'000};
  EXPECT_EQ(limiter.WaitAt(kStart), longest);
  EXPECT_TRUE(Admitted(limiter, At(longest.micros)));
}

TEST(RateLimiterTest, AClockThatStepsBackIsNoRefill) {
  RateLimiter limiter({.per_second = 10, .burst = 5});
  limiter.Charge(5, At(1'000'000));
  EXPECT_FALSE(Admitted(limiter, kStart));
  limiter.Charge(1, kStart);
  EXPECT_FALSE(Admitted(limiter, At(1'100'000)));
  EXPECT_TRUE(Admitted(limiter, At(1'200'000)));
}

TEST(RateLimiterTest, TheEndOfTimeIsNoOverflow) {
  RateLimiter limiter({.per_second = 1, .burst = UINT32_MAX});
  for (const Timestamp now : {kLastTimestamp, kNever}) {
    EXPECT_TRUE(Admitted(limiter, now));
    limiter.Charge(1, now);
  }
  limiter.Charge(UINT64_MAX, kNever);
  EXPECT_FALSE(Admitted(limiter, kNever));
}

TEST(RateLimiterTest, NoChargeIsLostBetweenThreads) {
  RateLimiter limiter({.per_second = 1, .burst = 4000});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) limiter.Charge(1, kStart);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(limiter.WaitAt(kStart), Duration::Seconds(1));
}

}  // namespace
}  // namespace kvarts
