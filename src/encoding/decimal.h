// Decimal: an exact decimal number, as money and DynamoDB need it: zero, or up to 38 significant
// digits with a magnitude from 1E-130 to 9.99…E+125. No floating point is involved anywhere.
//
// A number is sign × coefficient × 10^exponent, always in canonical form: the coefficient has no
// trailing zeros, and there is one zero, which has no sign. So 1.50 and 1.5 are the same Decimal
// in every respect, and equality is equality of the fields. Nothing is ever rounded: what does not
// fit is refused.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kvarts {

class Decimal {
 public:
  __extension__ using Coefficient = unsigned __int128;

  static constexpr int kMaxDigits = 38;
  // The exponent of the leading digit of every number but zero: 5E-130 and 0.5E-129 have -130.
  static constexpr int kMinLeadingExponent = -130;
  static constexpr int kMaxLeadingExponent = 125;

  // What an error of Parse or FromParts says; its code is kInvalidArgument.
  static constexpr const char* kNotANumber = "not a decimal number";
  static constexpr const char* kTooManyDigits = "a number has at most 38 significant digits";
  static constexpr const char* kTooLarge = "the magnitude of a number is less than 1E+126";
  static constexpr const char* kTooSmall = "the magnitude of a number is at least 1E-130, or zero";

  Decimal() = default;  // zero
  static Decimal FromInt(int64_t value);
  // ± coefficient × 10^exponent, brought into canonical form.
  static Result<Decimal> FromParts(bool negative, Coefficient coefficient, int64_t exponent);
  // Optional sign, digits with at most one point among or around them, optional exponent:
  // "-12", "+.5", "12.", "1.25e-7". Nothing else, and no spaces.
  static Result<Decimal> Parse(std::string_view text);

  // Plain when the leading exponent is in -6 … 37 ("-0.0015"), else scientific ("1.5E+40").
  std::string ToString() const;
  // Always plain, with as many zeros as it takes.
  std::string ToPlainString() const;
  // The same number as an integer, if it is one and fits.
  std::optional<int64_t> ToInt() const;

  bool IsZero() const { return coefficient_ == 0; }
  bool IsNegative() const { return negative_; }
  Coefficient coefficient() const { return coefficient_; }
  int exponent() const { return exponent_; }
  // How many digits the coefficient has; zero has none.
  int DigitCount() const;
  // The exponent of the leading digit; only for numbers other than zero.
  int LeadingExponent() const { return exponent_ + DigitCount() - 1; }
  // The digits with zeros behind them, 38 in all: numbers of one sign and one leading exponent
  // are ordered by it.
  Coefficient AlignedDigits() const;

  Decimal operator-() const;
  // The exact sum, if it is a Decimal.
  static Result<Decimal> Sum(const Decimal& a, const Decimal& b);

  friend bool operator==(const Decimal&, const Decimal&) = default;
  // By value.
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);

 private:
  Coefficient coefficient_ = 0;
  int16_t exponent_ = 0;
  bool negative_ = false;
};

std::ostream& operator<<(std::ostream& out, const Decimal& decimal);

}  // namespace kvarts
