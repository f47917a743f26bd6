#include "document/schema_numbers.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace kvarts {
namespace {

Decimal Of(std::string_view text) { return *Decimal::Parse(text); }

TEST(SchemaNumbersTest, WholeNumbersHaveNoFraction) {
  for (const char* text : {"0", "1", "-1", "1.0", "1E+125", "0.0"}) EXPECT_TRUE(IsWhole(Of(text))) << text;
  for (const char* text : {"0.1", "-1.5", "1E-130", "12345678901234567890.5"}) EXPECT_FALSE(IsWhole(Of(text))) << text;
}

TEST(SchemaNumbersTest, MultiplesOfTheLargestAndTheSmallest) {
  const char* most = "99999999999999999999999999999999999999";  // 38 digits
  EXPECT_TRUE(IsMultiple(Of(most), Of(most)));
  EXPECT_TRUE(IsMultiple(Of(most), Of("9")));
  EXPECT_FALSE(IsMultiple(Of(most), Of("10")));
  EXPECT_TRUE(IsMultiple(Of("9.9E+125"), Of("1E-130")));
  EXPECT_FALSE(IsMultiple(Of("1E-130"), Of("1E+125")));
  // 10^125 leaves 10 by 99…9, of which 10^38 leaves 1: 125 = 3 · 38 + 11.
  EXPECT_FALSE(IsMultiple(Of("1E+125"), Of(most)));
  EXPECT_TRUE(IsMultiple(Of("9E+125"), Of("3E-130")));
  EXPECT_FALSE(IsMultiple(Of("1E+125"), Of("7E-130")));
  EXPECT_TRUE(IsMultiple(Of("0"), Of("7")));
}

// Against integers, all of the same scale.
RC_GTEST_PROP(SchemaNumbersTest, IsWhatIntegersSay, (int64_t number, uint32_t of, bool times)) {
  const int64_t divisor = int64_t{of % 100'000} + 1;
  const int64_t dividend = times ? number / divisor * divisor : number;
  const int exponent = *rc::gen::inRange(-40, 40);
  const auto scaled = [&](int64_t value) {
    const auto magnitude = static_cast<uint64_t>(value < 0 ? -value : value);
    return *Decimal::FromParts(value < 0, magnitude, exponent);
  };
  RC_PRE(dividend != INT64_MIN);
  RC_ASSERT(IsMultiple(scaled(dividend), scaled(divisor)) == (dividend % divisor == 0));
}

}  // namespace
}  // namespace kvarts
