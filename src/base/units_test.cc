#include "base/units.h"

#include <gtest/gtest.h>

namespace kvarts {
namespace {

TEST(Units, ParsesSizes) {
  EXPECT_EQ(ParseSize("4096").value_or(0), 4096U);
  EXPECT_EQ(ParseSize("64MiB").value_or(0), 64U << 20);
  EXPECT_EQ(ParseSize("64mib").value_or(0), 64U << 20);
  EXPECT_EQ(ParseSize("2GB").value_or(0), 2'000'000'000U);
  for (const char* wrong : {"", "MiB", "64M", "64 MiB", "-1", "1.5GiB", "99999999999999999999", "99999999999TiB"}) {
    EXPECT_FALSE(ParseSize(wrong)) << wrong;
  }
}

TEST(Units, ParsesDurationsAndNumbers) {
  EXPECT_EQ(ParseDuration("60")->micros, 60'000'000);
  EXPECT_EQ(ParseDuration("500ms")->micros, 500'000);
  EXPECT_EQ(ParseDuration("7d")->micros, 7 * 86'400'000'000);
  EXPECT_EQ(ParseDuration("-5")->micros, -5'000'000);
  for (const char* wrong : {"", "s", "5x", "5 m", "1.5h", "9223372036854775807d"}) {
    EXPECT_FALSE(ParseDuration(wrong)) << wrong;
  }
  EXPECT_EQ(ParseInteger("-9223372036854775808").value_or(0), INT64_MIN);
  EXPECT_EQ(ParseInteger("+5").value_or(0), 5);
  EXPECT_FALSE(ParseInteger("+-5"));
  EXPECT_FALSE(ParseInteger("9223372036854775808"));
  EXPECT_FALSE(ParseCount("-1"));
}

TEST(Units, WritesWhatItReads) {
  for (const uint64_t bytes : std::initializer_list<uint64_t>{0, 1, 1500, 1024, 64 << 20, 3ULL << 40, UINT64_MAX}) {
    EXPECT_EQ(ParseSize(SizeText(bytes)).value_or(7), bytes) << SizeText(bytes);
  }
  EXPECT_EQ(SizeText(64 << 20), "64MiB");
  EXPECT_EQ(SizeText(1500), "1500B");
  EXPECT_EQ(SizeText(0), "0B");
  for (const int64_t ms : {0, 1, 100, 1000, 1500, 60'000, 75'000, 3'600'000, 86'400'000, -5000}) {
    EXPECT_EQ(ParseDuration(DurationText(Duration::Millis(ms)))->micros, ms * 1000)
        << DurationText(Duration::Millis(ms));
  }
  EXPECT_EQ(DurationText(Duration::Seconds(75)), "75s");
  EXPECT_EQ(DurationText(Duration::Seconds(3600)), "1h");
  EXPECT_EQ(DurationText(Duration::Millis(100)), "100ms");
  EXPECT_EQ(DurationText(Duration{}), "0s");
}

}  // namespace
}  // namespace kvarts
