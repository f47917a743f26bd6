#include "encoding/decimal.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

#include "encoding/tuple_testing.h"

namespace kvarts {
namespace {

const std::string kNines(Decimal::kMaxDigits, '9');

std::string Canonical(std::string_view text) {
  const auto decimal = Decimal::Parse(text);
  return decimal.has_value() ? decimal->ToString() : std::string(decimal.error().text());
}

TEST(DecimalTest, OneFormForEachNumber) {
  EXPECT_EQ(Canonical("1.50"), "1.5");
  EXPECT_EQ(Canonical("0001.5"), "1.5");
  EXPECT_EQ(Canonical("+15e-1"), "1.5");
  EXPECT_EQ(Canonical("0.15E1"), "1.5");
  EXPECT_EQ(Canonical(".5"), "0.5");
  EXPECT_EQ(Canonical("5."), "5");
  EXPECT_EQ(Canonical("-12"), "-12");
  EXPECT_EQ(Canonical("1200"), "1200");
  EXPECT_EQ(*Decimal::Parse("1.50"), *Decimal::Parse("15e-1"));
}

TEST(DecimalTest, OneZeroWithoutASign) {
  for (const char* text : {"0", "-0", "+0.000", "0e5", "-0e-999999999999999999999", ".0", "0."}) {
    ASSERT_EQ(Canonical(text), "0") << text;
    EXPECT_TRUE(Decimal::Parse(text)->IsZero());
    EXPECT_FALSE(Decimal::Parse(text)->IsNegative());
    EXPECT_EQ(*Decimal::Parse(text), Decimal());
  }
}

TEST(DecimalTest, WhatIsNotANumberIsRefused) {
  for (const char* text : {"",   "-",  "+",    ".",     "e5",  "1e",  "1e+", "1e5.",     "1.2.3", "--1", "1-",
                           " 1", "1 ", "0x10", "1_000", "1,5", "nan", "inf", "Infinity", "-.e1",  "１"}) {
    EXPECT_EQ(Canonical(text), Decimal::kNotANumber) << text;
  }
  EXPECT_EQ(Canonical(std::string_view("1\0", 2)), Decimal::kNotANumber);
  EXPECT_EQ(Decimal::Parse("x").error().code(), ErrorCode::kInvalidArgument);
}

TEST(DecimalTest, ThirtyEightDigitsFitAndNotOneMore) {
  EXPECT_EQ(Canonical(kNines), kNines);
  EXPECT_EQ(Canonical(kNines + "9"), Decimal::kTooManyDigits);
  EXPECT_EQ(Canonical("0." + kNines + "1"), Decimal::kTooManyDigits);
  EXPECT_EQ(Canonical("1" + std::string(37, '0') + "1"), Decimal::kTooManyDigits);
  // Zeros at either end are not significant, however many.
  EXPECT_EQ(Canonical(std::string(1000, '0') + kNines + "." + std::string(1000, '0')), kNines);
  EXPECT_EQ(Canonical("1" + std::string(100, '0')), "1E+100");
}

TEST(DecimalTest, MagnitudesHaveLimits) {
  EXPECT_EQ(Canonical("9.9999999999999999999999999999999999999E+125"), "9.9999999999999999999999999999999999999E+125");
  EXPECT_EQ(Canonical("1e126"), Decimal::kTooLarge);
  EXPECT_EQ(Canonical("-10e125"), Decimal::kTooLarge);
  EXPECT_EQ(Canonical("0.1e126"), "1E+125");
  EXPECT_EQ(Canonical("1e-130"), "1E-130");
  EXPECT_EQ(Canonical("1.5e-130"), "1.5E-130");
  EXPECT_EQ(Canonical("9.9e-131"), Decimal::kTooSmall);
  EXPECT_EQ(Canonical("1e99999999999999999999999999"), Decimal::kTooLarge);
  EXPECT_EQ(Canonical("-1e-99999999999999999999999999"), Decimal::kTooSmall);
  EXPECT_EQ(Canonical("1e-9223372036854775808"), Decimal::kTooSmall);
}

TEST(DecimalTest, ALongTextIsStillTheNumberItSays) {
  EXPECT_EQ(Canonical("0." + std::string(500, '0') + "25e501"), "2.5");
  EXPECT_EQ(Canonical("25" + std::string(500, '0') + "e-501"), "2.5");
}

TEST(DecimalTest, PartsAreBroughtIntoCanonicalForm) {
  EXPECT_EQ(Decimal::FromParts(true, 1500, -3)->ToString(), "-1.5");
  EXPECT_EQ(Decimal::FromParts(true, 0, 77), Decimal());
  EXPECT_EQ(Decimal::FromParts(false, ~Decimal::Coefficient{0}, 0).error().text(), Decimal::kTooManyDigits);
  EXPECT_EQ(Decimal::FromParts(false, 1, std::numeric_limits<int64_t>::max()).error().text(), Decimal::kTooLarge);
  EXPECT_EQ(Decimal::FromParts(false, 1, std::numeric_limits<int64_t>::min()).error().text(), Decimal::kTooSmall);
}

TEST(DecimalTest, PrintsPlainWhenShort) {
  EXPECT_EQ(Canonical("1e37"), "1" + std::string(37, '0'));
  EXPECT_EQ(Canonical("1e38"), "1E+38");
  EXPECT_EQ(Canonical("12e37"), "1.2E+38");
  EXPECT_EQ(Canonical("0.000001"), "0.000001");
  EXPECT_EQ(Canonical("-0.0000001"), "-1E-7");
  EXPECT_EQ(Canonical("123.456"), "123.456");
}

TEST(DecimalTest, PlainHasAllTheZeros) {
  EXPECT_EQ(Decimal::Parse("-1.5e-10")->ToPlainString(), "-0.00000000015");
  EXPECT_EQ(Decimal::Parse("1.5e40")->ToPlainString(), "15" + std::string(39, '0'));
  EXPECT_EQ(Decimal().ToPlainString(), "0");
}

TEST(DecimalTest, IntegersBothWays) {
  for (const int64_t value : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{1'000'000},
                              std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
    EXPECT_EQ(Decimal::FromInt(value).ToString(), std::to_string(value));
    EXPECT_EQ(Decimal::FromInt(value).ToInt(), value);
  }
}

TEST(DecimalTest, OtherNumbersAreNotIntegers) {
  for (const char* text : {"0.5", "-1e-130", "9223372036854775808", "-9223372036854775809", "1e19", "1e125",
                           "99999999999999999999999999999999999999"}) {
    EXPECT_EQ(Decimal::Parse(text)->ToInt(), std::nullopt) << text;
  }
  EXPECT_EQ(Decimal::Parse("9e18")->ToInt(), 9'000'000'000'000'000'000);
}

TEST(DecimalTest, ComparesByValue) {
  const char* ascending[] = {"-1e125", "-10",  "-9.5",      "-0.1", "-1e-130", "0",    "1e-130",
                             "0.0999", "0.1",  "0.10001",   "1",    "9.9",     "10",   "10.1",
                             "99",     "1e10", "1.0001e10", "2e10", "1e125",   "9e125"};
  for (size_t i = 0; i < std::size(ascending); ++i) {
    for (size_t j = 0; j < std::size(ascending); ++j) {
      EXPECT_EQ(*Decimal::Parse(ascending[i]) <=> *Decimal::Parse(ascending[j]), i <=> j)
          << ascending[i] << " " << ascending[j];
    }
  }
}

TEST(DecimalTest, SumsAreExactOrRefused) {
  const std::string nines(38, '9');
  const std::vector<std::array<std::string, 3>> cases = {
      {"0", "0", "0"},
      {"1.5", "0", "1.5"},
      {"1.5", "-1.5", "0"},
      {"0.1", "0.2", "0.3"},
      {"99", "1", "100"},
      {"-5", "3", "-2"},
      {"1E+38", "-1", nines},
      {nines, "1", "1E+38"},
      {nines, nines, Decimal::kTooManyDigits},
      {"1E+37", "0.1", Decimal::kTooManyDigits},
      {"1E+125", "1E-130", Decimal::kTooManyDigits},
      {"1E+39", "-1", Decimal::kTooManyDigits},
      {"9.9E+125", "1E+124", Decimal::kTooLarge},
      {"1.1E-130", "-1E-130", Decimal::kTooSmall},
  };
  for (const auto& [a, b, expected] : cases) {
    for (const bool swapped : {false, true}) {
      const Decimal first = *Decimal::Parse(swapped ? b : a);
      const Decimal second = *Decimal::Parse(swapped ? a : b);
      const auto sum = Decimal::Sum(first, second);
      const auto negative = Decimal::Sum(-first, -second);
      if (const auto number = Decimal::Parse(expected)) {
        ASSERT_TRUE(sum.has_value()) << a << " + " << b << ": " << sum.error();
        EXPECT_EQ(*sum, *number) << a << " + " << b;
        EXPECT_EQ(*negative, -*number);
      } else {
        ASSERT_FALSE(sum.has_value()) << a << " + " << b;
        EXPECT_EQ(sum.error().text(), expected);
        EXPECT_FALSE(negative.has_value());
      }
    }
  }
}

RC_GTEST_PROP(DecimalTest, SumsOfIntegersAreAsTheyAre, (int32_t a, int32_t b)) {
  RC_ASSERT(*Decimal::Sum(Decimal::FromInt(a), Decimal::FromInt(b)) == Decimal::FromInt(int64_t{a} + b));
}

RC_GTEST_PROP(DecimalTest, TextRoundTrips, ()) {
  const Decimal decimal = *AnyDecimal();
  RC_ASSERT(*Decimal::Parse(decimal.ToString()) == decimal);
  RC_ASSERT(*Decimal::Parse(decimal.ToPlainString()) == decimal);
}

RC_GTEST_PROP(DecimalTest, IntegersCompareAsTheyDo, (int64_t a, int64_t b)) {
  RC_ASSERT((Decimal::FromInt(a) <=> Decimal::FromInt(b)) == (a <=> b));
}

RC_GTEST_PROP(DecimalTest, ComparesLikeTheDigitsOnPaper, ()) {
  const Decimal a = *AnyDecimal();
  const Decimal b = *AnyDecimal();
  RC_ASSERT((a <=> b) == ModelCompareDecimals(a, b));
  RC_ASSERT((a == b) == (ModelCompareDecimals(a, b) == 0));
}

}  // namespace
}  // namespace kvarts
