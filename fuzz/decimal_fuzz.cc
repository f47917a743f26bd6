// Any text is refused as a number, or prints in a form that parses to the same number and prints the
// same again; keys carry it unchanged.
// links: kvarts_encoding
#include <cstdint>

#include "encoding/decimal.h"
#include "encoding/tuple.h"
#include "support/expect.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kvarts;  // NOLINT: a target has one subject
  const auto decimal = Decimal::Parse({reinterpret_cast<const char*>(data), size});
  if (!decimal.has_value()) return 0;

  const std::string printed = decimal->ToString();
  const auto again = Decimal::Parse(printed);
  Expect(again.has_value() && *again == *decimal, "what is printed parses to the same number");
  Expect(again->ToString() == printed, "the printed form is canonical");
  const auto plain = Decimal::Parse(decimal->ToPlainString());
  Expect(plain.has_value() && *plain == *decimal, "the plain form parses to the same number");
  Expect((*decimal <=> *again) == 0, "a number equals itself");
  if (const auto integer = decimal->ToInt()) {
    Expect(Decimal::FromInt(*integer) == *decimal, "an integer is the same number");
  }

  const auto same = Decimal::Sum(*decimal, Decimal());
  Expect(same.has_value() && *same == *decimal, "a number and nothing is the number");
  if (const auto twice = Decimal::Sum(*decimal, *decimal)) {
    const auto back = Decimal::Sum(*twice, -*decimal);
    Expect(back.has_value() && *back == *decimal, "what is added can be taken away");
  }

  Bytes key;
  TupleWriter(&key).Decimal(*decimal).Decimal(*decimal, Order::kDescending);
  TupleReader reader(key);
  const auto ascending = reader.TakeDecimal();
  const auto descending = reader.TakeDecimal(Order::kDescending);
  Expect(ascending.has_value() && *ascending == *decimal, "a key carries the number");
  Expect(descending.has_value() && *descending == *decimal, "a descending key carries the number");
  return 0;
}
