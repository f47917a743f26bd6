// Clocks never go back, and expiry is exact at its limits.
#include "base/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace kvarts {
namespace {

uint64_t WallMicros() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

TEST(TimestampTest, PrintsAsUtc) {
  EXPECT_EQ(Timestamp{0}.ToString(), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(Timestamp{1'783'246'530'000'001}.ToString(), "2026-07-05T10:15:30.000001Z");
  EXPECT_EQ(kLastTimestamp.ToString(), "2255-06-05T23:47:34.740991Z");
  EXPECT_EQ(kNever.ToString(), "never");
  EXPECT_EQ(Timestamp{kNever.micros - 1}.ToString(), "586524-01-19T08:01:49.551614Z");
}

TEST(DurationTest, CountsMicroseconds) {
  EXPECT_EQ(Duration::Micros(5).micros, 5);
  EXPECT_EQ(Duration::Millis(5).micros, 5'000);
  EXPECT_EQ(Duration::Seconds(5).micros, 5'000'000);
  EXPECT_LT(Duration::Millis(999), Duration::Seconds(1));
}

TEST(ExpiryTest, IsTheInstantAfterTheTimeToLive) {
  EXPECT_EQ(ExpiryAfter({1000}, Duration::Micros(1))->micros, 1001u);
  EXPECT_EQ(ExpiryAfter({0}, Duration::Seconds(3))->micros, 3'000'000u);
}

TEST(ExpiryTest, TimesToLiveThatAreNotPositiveAreRefused) {
  for (const int64_t micros : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    const auto expiry = ExpiryAfter({1000}, Duration::Micros(micros));
    ASSERT_FALSE(expiry.has_value());
    EXPECT_EQ(expiry.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(expiry.error().field("ttl_us"), std::to_string(micros));
  }
}

TEST(ExpiryTest, EndsAtTheLastTimestampAtTheLatest) {
  const Timestamp now{5000};
  const auto room = static_cast<int64_t>(kLastTimestamp.micros - now.micros);
  EXPECT_EQ(*ExpiryAfter(now, Duration::Micros(room - 1)), Timestamp{kLastTimestamp.micros - 1});
  EXPECT_EQ(*ExpiryAfter(now, Duration::Micros(room)), kLastTimestamp);
  EXPECT_FALSE(ExpiryAfter(now, Duration::Micros(room + 1)).has_value());
  EXPECT_FALSE(ExpiryAfter(now, {std::numeric_limits<int64_t>::max()}).has_value());
}

TEST(ExpiryTest, NothingExpiresAfterTheEndOfTime) {
  EXPECT_FALSE(ExpiryAfter(kLastTimestamp, Duration::Micros(1)).has_value());
  EXPECT_FALSE(ExpiryAfter({kLastTimestamp.micros + 1}, Duration::Micros(1)).has_value());
  EXPECT_FALSE(ExpiryAfter(kNever, Duration::Micros(1)).has_value());
}

TEST(SystemClockTest, ShowsTheWallClocksTime) {
  const SystemClock clock;
  const uint64_t before = WallMicros();
  const uint64_t now = clock.Now().micros;
  const uint64_t after = WallMicros();
  constexpr uint64_t kSlackMicros = 1'000'000;  // the wall clock may be stepped meanwhile
  EXPECT_GE(now + kSlackMicros, before);
  EXPECT_LE(now, after + kSlackMicros);
}

TEST(SystemClockTest, NeverGoesBackInAnyThread) {
  const SystemClock clock;
  std::atomic<uint64_t> newest{0};
  std::atomic<int> steps_back{0};
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (std::chrono::steady_clock::now() < end) {
        // What another thread saw before this call must not be later than what it returns.
        const uint64_t seen = newest.load();
        const uint64_t now = clock.Now().micros;
        if (now < seen) ++steps_back;
        uint64_t expected = seen;
        while (expected < now && !newest.compare_exchange_weak(expected, now)) {
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(steps_back, 0);
}

TEST(ManualClockTest, MovesWhenToldAndNeverBack) {
  ManualClock clock({1000});
  EXPECT_EQ(clock.Now(), Timestamp{1000});
  clock.Advance(Duration::Micros(5));
  EXPECT_EQ(clock.Now(), Timestamp{1005});
  clock.Advance(Duration::Micros(-5));
  EXPECT_EQ(clock.Now(), Timestamp{1005});
  clock.MoveTo({2000});
  EXPECT_EQ(clock.Now(), Timestamp{2000});
  clock.MoveTo({1999});
  EXPECT_EQ(clock.Now(), Timestamp{2000});
}

TEST(TimestampTest, IsReadBackFromItsText) {
  for (const Timestamp time : {Timestamp{0}, Timestamp{1}, Timestamp{1'783'246'530'123'456}, kLastTimestamp}) {
    EXPECT_EQ(Timestamp::Parse(time.ToString()), time) << time.ToString();
  }
  EXPECT_EQ(Timestamp::Parse("2026-07-05T10:15:30.5Z"),
            Timestamp{Timestamp::Parse("2026-07-05T10:15:30Z")->micros + 500'000});
  for (const std::string_view text :
       {"", "Z", "2026-07-05T10:15:30", "2026-07-05 10:15:30Z", "2026-13-05T10:15:30Z", "2026-02-30T10:15:30Z",
        "2026-07-05T24:15:30Z", "2026-07-05T10:15:60Z", "2026-07-05T10:15:30.Z", "2026-07-05T10:15:30.1234567Z",
        "2026-07-05T10:15:30.-1Z", "1969-12-31T23:59:59Z"}) {
    EXPECT_EQ(Timestamp::Parse(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace kvarts
