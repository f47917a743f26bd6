// What schemas ask of decimals, and counts in them.
#pragma once

#include "encoding/decimal.h"

namespace kvarts {

// Without a fraction: 1.0 is whole, and 1E+30.
inline bool IsWhole(const Decimal& number) { return number.exponent() >= 0; }

// Whether the quotient is whole, exactly. `of` is not zero.
bool IsMultiple(const Decimal& number, const Decimal& of);

}  // namespace kvarts
