#include "base/version.h"

#include <gtest/gtest.h>

namespace kvarts {
namespace {

TEST(VersionTest, CarriesItsTime) {
  const Version version = Version::FromTime({123456});
  EXPECT_EQ(version.time(), Timestamp{123456});
  EXPECT_EQ(version.Next().time(), Timestamp{123456});
  EXPECT_EQ(Version::FromTime(kLastTimestamp).time(), kLastTimestamp);
  EXPECT_EQ(kNoVersion.time(), Timestamp{0});
}

TEST(VersionTest, LaterTimesAreLargerThanCountsWithinOne) {
  Version version = Version::FromTime({7});
  for (int i = 0; i < (1 << Version::kCountBits) - 1; ++i) version = version.Next();
  EXPECT_EQ(version.time(), Timestamp{7});
  EXPECT_LT(version, Version::FromTime({8}));
  EXPECT_EQ(version.Next(), Version::FromTime({8}));
}

TEST(VersionTest, AfterFollowsTheClockAndGrowsWhenItStandsStill) {
  const Version last = Version::FromTime({100});
  EXPECT_EQ(Version::After(last, {200}), Version::FromTime({200}));
  EXPECT_EQ(Version::After(last, {100}), last.Next());
  EXPECT_EQ(Version::After(last, {50}), last.Next());
  EXPECT_EQ(Version::After(kNoVersion, {0}).stamp, 1u);
}

TEST(VersionTest, FitsASignedColumnUntilTheLastTimestamp) {
  const uint64_t last = Version::FromTime(kLastTimestamp).stamp | ((1u << Version::kCountBits) - 1);
  EXPECT_EQ(last, static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
}

TEST(VersionTest, TextRoundTrips) {
  for (const uint64_t stamp : {uint64_t{0}, uint64_t{42}, ~uint64_t{0}}) {
    EXPECT_EQ(Version::Parse(Version{stamp}.ToString()), Version{stamp});
  }
}

TEST(VersionTest, OtherTextsAreNotVersions) {
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "1a", "0x1", "1.0", "18446744073709551616"}) {
    EXPECT_EQ(Version::Parse(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace kvarts
