#include "base/uuid.h"

#include <gtest/gtest.h>

#include <set>

namespace kvarts {
namespace {

constexpr Timestamp kTime{1'783'246'530'123'456};

TEST(UuidTest, Version7HasTheLayoutOfTheStandard) {
  const Uuid uuid = Uuid::Version7(kTime, ~uint64_t{0});
  // 48 bits of milliseconds, the version, 12 bits of the fraction (0.456 × 4096), the variant.
  EXPECT_EQ(uuid.ToString(), "019f31c6-a64b-774b-bfff-ffffffffffff");
  const Uuid other = Uuid::Version7(kTime, 0);
  EXPECT_EQ(other.ToString(), "019f31c6-a64b-774b-8000-000000000000");
  EXPECT_EQ(other.bytes[6] >> 4, 7);
  EXPECT_EQ(other.bytes[8] >> 6, 2);
}

TEST(UuidTest, LaterOnesAreLargerFromMicrosecondToMicrosecond) {
  for (uint64_t micros = kTime.micros; micros < kTime.micros + 3000; ++micros) {
    // The worst case: all random bits set in the earlier one, none in the later one.
    const Uuid earlier = Uuid::Version7({micros}, ~uint64_t{0});
    const Uuid later = Uuid::Version7({micros + 1}, 0);
    ASSERT_LT(earlier, later) << micros;
    ASSERT_LT(earlier.ToString(), later.ToString());
  }
}

TEST(UuidTest, OnesOfTheSameInstantDiffer) {
  std::set<Uuid> uuids;
  for (int i = 0; i < 1000; ++i) uuids.insert(Uuid::Version7(kTime));
  EXPECT_EQ(uuids.size(), 1000u);
}

TEST(UuidTest, TextRoundTrips) {
  const Uuid uuid = Uuid::Version7(kTime);
  EXPECT_EQ(Uuid::Parse(uuid.ToString()), uuid);
  EXPECT_EQ(Uuid::Parse("0190B7E2-7CB0-7123-8456-0123456789AB")->ToString(), "0190b7e2-7cb0-7123-8456-0123456789ab");
}

TEST(UuidTest, OtherTextsAreNotUuids) {
  for (const char* text : {"", "0190b7e2", "0190b7e27cb071238456-0123456789ab", "0190b7e2-7cb0-7123-8456-0123456789a",
                           "0190b7e2-7cb0-7123-8456-0123456789abc", "0190b7e2-7cb0-7123-8456-0123456789ag",
                           "0190b7e2_7cb0_7123_8456_0123456789ab", "0190b7e-27cb0-7123-8456-0123456789ab",
                           "{190b7e2-7cb0-7123-8456-0123456789a}"}) {
    EXPECT_EQ(Uuid::Parse(text), std::nullopt) << text;
  }
}

TEST(UuidTest, RandomBitsAreNotConstant) { EXPECT_NE(RandomBits(), RandomBits()); }

}  // namespace
}  // namespace kvarts
