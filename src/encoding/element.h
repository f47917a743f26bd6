// Element: one element of a tuple as a value, for code that does not know the elements of a key
// beforehand: tools, tests, and models whose schema is data. Code that knows them uses TupleWriter
// and TupleReader directly.
#pragma once

#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "encoding/decimal.h"
#include "encoding/tuple_codes.h"

namespace kvarts {

struct Element {
  struct Null {
    friend bool operator==(Null, Null) = default;
  };
  struct Text {
    Bytes value;
    friend bool operator==(const Text&, const Text&) = default;
  };
  struct Blob {
    Bytes value;
    friend bool operator==(const Blob&, const Blob&) = default;
  };
  struct Tail {
    Bytes value;
    friend bool operator==(const Tail&, const Tail&) = default;
  };
  using Tuple = std::vector<Element>;
  // Integers are one type: decoding gives an int64_t if the number fits, else a uint64_t.
  using Value = std::variant<Null, bool, int64_t, uint64_t, Decimal, double, Text, Blob, Uuid, Timestamp, Tuple, Tail>;

  Value value;
  Order order = Order::kAscending;

  ElementType type() const;
  // Whether they encode to the same bytes: NaN equals NaN, and -0.0 equals 0.0.
  friend bool operator==(const Element& a, const Element& b);
};

using Tuple = Element::Tuple;

}  // namespace kvarts
