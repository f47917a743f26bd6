#include "encoding/decimal.h"

#include <algorithm>
#include <array>

namespace kvarts {
namespace {

using Coefficient = Decimal::Coefficient;

// Where a written exponent stops growing: sums with counts of digits cannot overflow, and no text
// has so many digits that they could bring it back into range.
constexpr int64_t kExponentCap = int64_t{1} << 60;

constexpr int kLeastPlainExponent = -6;
constexpr int kMostPlainExponent = Decimal::kMaxDigits - 1;

constexpr auto kPowersOfTen = [] {
  std::array<Coefficient, Decimal::kMaxDigits + 1> powers{};
  Coefficient power = 1;
  for (Coefficient& entry : powers) {
    entry = power;
    power *= 10;
  }
  return powers;
}();

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

Error NumberError(const char* text) { return Error(ErrorCode::kInvalidArgument, text); }

std::string DigitsOf(Coefficient coefficient) {
  std::string reversed;
  for (; coefficient != 0; coefficient /= 10) {
    reversed.push_back(static_cast<char>('0' + static_cast<int>(coefficient % 10)));
  }
  return {reversed.rbegin(), reversed.rend()};
}

// Reads the text of a number from left to right. Zeros are held back until another digit follows,
// so that leading and trailing ones do not count as significant.
class NumberScanner {
 public:
  explicit NumberScanner(std::string_view text) : rest_(text) {}

  Result<Decimal> Scan() {
    const bool negative = TakeSign();
    TakeDigits();
    if (TakeAny(".")) {
      const size_t before = rest_.size();
      TakeDigits();
      fraction_digits_ = static_cast<int64_t>(before - rest_.size());
    }
    if (!any_digit_ || !TakeExponent() || !rest_.empty()) return NumberError(Decimal::kNotANumber);
    if (digit_count_ > Decimal::kMaxDigits) return NumberError(Decimal::kTooManyDigits);
    return Decimal::FromParts(negative, coefficient_, held_zeros_ - fraction_digits_ + exponent_);
  }

 private:
  bool TakeAny(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_.front()) == any_of.npos) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool TakeSign() {
    const bool negative = !rest_.empty() && rest_.front() == '-';
    TakeAny("+-");
    return negative;
  }

  void TakeDigits() {
    for (; !rest_.empty() && IsDigit(rest_.front()); rest_.remove_prefix(1)) {
      any_digit_ = true;
      const int digit = rest_.front() - '0';
      if (digit != 0) {
        TakeSignificant(digit);
      } else if (digit_count_ > 0) {
        ++held_zeros_;
      }
    }
  }

  void TakeSignificant(int digit) {
    digit_count_ += held_zeros_ + 1;
    if (digit_count_ <= Decimal::kMaxDigits) {
      coefficient_ = coefficient_ * kPowersOfTen[static_cast<size_t>(held_zeros_)] * 10 + static_cast<unsigned>(digit);
    }
    held_zeros_ = 0;
  }

  // False when there is an exponent without digits.
  bool TakeExponent() {
    if (!TakeAny("eE")) return true;
    const bool negative = TakeSign();
    if (rest_.empty() || !IsDigit(rest_.front())) return false;
    for (; !rest_.empty() && IsDigit(rest_.front()); rest_.remove_prefix(1)) {
      if (exponent_ < kExponentCap / 10) exponent_ = exponent_ * 10 + (rest_.front() - '0');
    }
    if (negative) exponent_ = -exponent_;
    return true;
  }

  std::string_view rest_;
  bool any_digit_ = false;
  Coefficient coefficient_ = 0;
  int64_t digit_count_ = 0;      // of the coefficient; counted on when it no longer fits
  int64_t held_zeros_ = 0;       // seen behind the coefficient's last digit
  int64_t fraction_digits_ = 0;  // seen behind the point
  int64_t exponent_ = 0;
};

}  // namespace

Decimal Decimal::FromInt(int64_t value) {
  const bool negative = value < 0;
  const uint64_t magnitude = negative ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return *FromParts(negative, magnitude, 0);  // 19 digits always fit
}

Result<Decimal> Decimal::FromParts(bool negative, Coefficient coefficient, int64_t exponent) {
  Decimal decimal;
  if (coefficient == 0) return decimal;
  int64_t dropped = 0;
  for (; coefficient % 10 == 0; coefficient /= 10) ++dropped;
  if (coefficient >= kPowersOfTen[kMaxDigits]) return NumberError(kTooManyDigits);
  decimal.coefficient_ = coefficient;
  decimal.negative_ = negative;
  // Compared without adding to the exponent, which may be any.
  const int64_t shift = dropped + decimal.DigitCount() - 1;
  if (exponent > kMaxLeadingExponent - shift) return NumberError(kTooLarge);
  if (exponent < kMinLeadingExponent - shift) return NumberError(kTooSmall);
  decimal.exponent_ = static_cast<int16_t>(exponent + dropped);
  return decimal;
}

Result<Decimal> Decimal::Parse(std::string_view text) { return NumberScanner(text).Scan(); }

int Decimal::DigitCount() const {
  int count = 0;
  if (coefficient_ >= kPowersOfTen[19]) count = 19;
  while (count < kMaxDigits && coefficient_ >= kPowersOfTen[static_cast<size_t>(count)]) ++count;
  return count;
}

Decimal::Coefficient Decimal::AlignedDigits() const {
  return coefficient_ * kPowersOfTen[static_cast<size_t>(kMaxDigits - DigitCount())];
}

std::string Decimal::ToString() const {
  if (IsZero()) return "0";
  const int leading = LeadingExponent();
  if (leading >= kLeastPlainExponent && leading <= kMostPlainExponent) return ToPlainString();
  std::string out = DigitsOf(coefficient_);
  if (out.size() > 1) out.insert(1, ".");
  if (negative_) out.insert(0, "-");
  return out + (leading < 0 ? "E-" : "E+") + std::to_string(leading < 0 ? -leading : leading);
}

std::string Decimal::ToPlainString() const {
  if (IsZero()) return "0";
  std::string out = DigitsOf(coefficient_);
  if (exponent_ >= 0) {
    out.append(static_cast<size_t>(exponent_), '0');
  } else {
    const auto fraction = static_cast<size_t>(-exponent_);
    if (out.size() <= fraction) out.insert(0, fraction + 1 - out.size(), '0');
    out.insert(out.size() - fraction, ".");
  }
  if (negative_) out.insert(0, "-");
  return out;
}

std::optional<int64_t> Decimal::ToInt() const {
  constexpr int kInt64Digits = 19;
  if (IsZero()) return 0;
  if (exponent_ < 0 || LeadingExponent() >= kInt64Digits) return std::nullopt;
  const Coefficient magnitude = coefficient_ * kPowersOfTen[static_cast<size_t>(exponent_)];
  constexpr Coefficient kLimit = Coefficient{1} << 63;
  if (negative_ ? magnitude > kLimit : magnitude >= kLimit) return std::nullopt;
  const auto bits = static_cast<uint64_t>(magnitude);
  return static_cast<int64_t>(negative_ ? -bits : bits);
}

Decimal Decimal::operator-() const {
  Decimal negated = *this;
  negated.negative_ = !negative_ && !IsZero();
  return negated;
}

Result<Decimal> Decimal::Sum(const Decimal& a, const Decimal& b) {
  if (a.IsZero()) return b;
  if (b.IsZero()) return a;
  const Decimal& larger = (a.negative_ ? -a : a) < (b.negative_ ? -b : b) ? b : a;
  const Decimal& smaller = &larger == &a ? b : a;
  const int lowest = std::min(a.exponent_, b.exponent_);
  // Digit by digit, since one more than the coefficient has may cancel out. Of more than that the first and the last
  // do not: the smaller number is below the second.
  constexpr int kDigits = kMaxDigits + 1;
  if (larger.LeadingExponent() - lowest >= kDigits) return NumberError(kTooManyDigits);
  std::array<int, kDigits + 1> digits{};
  const auto add = [&](const Decimal& number, int sign) {
    size_t at = static_cast<size_t>(number.exponent_ - lowest);
    for (Coefficient left = number.coefficient_; left != 0; left /= 10)
      digits[at++] += sign * static_cast<int>(left % 10);
  };
  add(larger, 1);
  add(smaller, larger.negative_ == smaller.negative_ ? 1 : -1);
  for (size_t i = 0; i < kDigits; ++i) {
    const int carry = digits[i] < 0 ? -1 : digits[i] / 10;
    digits[i] -= 10 * carry;
    digits[i + 1] += carry;
  }
  const auto first = std::ranges::find_if(digits, [](int digit) { return digit != 0; });
  if (first == digits.end()) return Decimal();
  const auto last = std::find_if(digits.rbegin(), digits.rend(), [](int digit) { return digit != 0; }).base();
  if (last - first > kMaxDigits) return NumberError(kTooManyDigits);
  Coefficient coefficient = 0;
  for (auto digit = last; digit != first;) coefficient = coefficient * 10 + static_cast<unsigned>(*--digit);
  return FromParts(larger.negative_, coefficient, lowest + (first - digits.begin()));
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  if (a.negative_ != b.negative_) return b.negative_ <=> a.negative_;
  const auto magnitudes = [](const Decimal& x, const Decimal& y) {
    if (x.IsZero() || y.IsZero()) return y.IsZero() <=> x.IsZero();
    const auto leading = x.LeadingExponent() <=> y.LeadingExponent();
    return leading != 0 ? leading : x.AlignedDigits() <=> y.AlignedDigits();
  };
  return a.negative_ ? magnitudes(b, a) : magnitudes(a, b);
}

std::ostream& operator<<(std::ostream& out, const Decimal& decimal) { return out << decimal.ToString(); }

}  // namespace kvarts
