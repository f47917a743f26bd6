#include "document/schema_numbers.h"

namespace kvarts {
namespace {

using Coefficient = Decimal::Coefficient;

// Of two numbers below the modulus, which is below 10^38: twice that fits.
Coefficient AddModulo(Coefficient a, Coefficient b, Coefficient modulus) {
  const Coefficient sum = a + b;
  return sum >= modulus ? sum - modulus : sum;
}

// Ten times as much would not fit, so it is made of sums.
Coefficient TenfoldModulo(Coefficient number, Coefficient modulus) {
  const Coefficient twice = AddModulo(number, number, modulus);
  const Coefficient four_times = AddModulo(twice, twice, modulus);
  const Coefficient five_times = AddModulo(four_times, number, modulus);
  return AddModulo(five_times, five_times, modulus);
}

}  // namespace

bool IsMultiple(const Decimal& number, const Decimal& of) {
  if (number.IsZero()) return true;
  // Coefficients end in no zero, so nothing makes up for a smaller exponent.
  if (number.exponent() < of.exponent()) return false;
  Coefficient rest = number.coefficient() % of.coefficient();
  for (int i = of.exponent(); i < number.exponent() && rest != 0; ++i) rest = TenfoldModulo(rest, of.coefficient());
  return rest == 0;
}

}  // namespace kvarts
