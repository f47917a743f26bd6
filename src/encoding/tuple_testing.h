// For tests: random tuples, and a model of their order that knows nothing of their bytes.
//
// The generators prefer values that meet at the edges: few different bytes, numbers around the
// limits, long runs of equal digits.
#pragma once

#include <rapidcheck.h>

#include <cmath>
#include <compare>
#include <limits>
#include <ostream>
#include <string>

#include "encoding/tuple.h"
#include "encoding/tuple_text.h"

namespace kvarts {

inline rc::Gen<Bytes> AnyBytes() {
  const auto meeting = rc::gen::element('\x00', '\x01', '\x02', 'a', 'b', '\xfe', '\xff');
  return rc::gen::oneOf(rc::gen::resize(4, rc::gen::container<Bytes>(meeting)),
                        rc::gen::resize(20, rc::gen::container<Bytes>(meeting)), rc::gen::arbitrary<Bytes>());
}

inline rc::Gen<int64_t> AnyInt() {
  // Around a power of two, of either sign.
  const auto edge =
      rc::gen::map(rc::gen::tuple(rc::gen::inRange(0, 64), rc::gen::inRange(-2, 3), rc::gen::arbitrary<bool>()),
                   [](const std::tuple<int, int, bool>& parts) {
                     const auto [bits, offset, negative] = parts;
                     const uint64_t value = (uint64_t{1} << bits) + static_cast<uint64_t>(int64_t{offset});
                     return static_cast<int64_t>(negative ? -value : value);
                   });
  return rc::gen::oneOf(rc::gen::arbitrary<int64_t>(), rc::gen::inRange<int64_t>(-3, 4), edge);
}

inline rc::Gen<uint64_t> AnyUint() {
  return rc::gen::map(AnyInt(), [](int64_t value) { return static_cast<uint64_t>(value); });
}

inline rc::Gen<Decimal> AnyDecimal() {
  const auto digits =
      rc::gen::resize(Decimal::kMaxDigits, rc::gen::container<std::string>(rc::gen::element('0', '1', '5', '9')));
  const auto exponent = rc::gen::oneOf(rc::gen::inRange(-3, 4), rc::gen::inRange(-170, 130));
  const auto text = rc::gen::map(rc::gen::tuple(rc::gen::arbitrary<bool>(), digits, exponent),
                                 [](const std::tuple<bool, std::string, int>& parts) {
                                   const auto& [negative, digits_of, exponent_of] = parts;
                                   const std::string coefficient = digits_of.substr(0, Decimal::kMaxDigits);
                                   return (negative ? "-" : "") + coefficient + "0e" + std::to_string(exponent_of);
                                 });
  const auto fits =
      rc::gen::suchThat(text, [](const std::string& candidate) { return Decimal::Parse(candidate).has_value(); });
  return rc::gen::map(fits, [](const std::string& number) { return *Decimal::Parse(number); });
}

inline rc::Gen<double> AnyDouble() {
  using Limits = std::numeric_limits<double>;
  return rc::gen::oneOf(
      rc::gen::arbitrary<double>(),
      rc::gen::map(rc::gen::arbitrary<uint64_t>(), [](uint64_t bits) { return std::bit_cast<double>(bits); }),
      rc::gen::element(0.0, -0.0, 1.0, -1.0, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                       -Limits::quiet_NaN(), Limits::signaling_NaN(), Limits::denorm_min(), -Limits::denorm_min(),
                       Limits::max(), Limits::lowest()));
}

inline rc::Gen<Uuid> AnyUuid() {
  return rc::gen::map(rc::gen::tuple(AnyUint(), AnyUint()), [](const std::tuple<uint64_t, uint64_t>& halves) {
    Uuid uuid;
    auto* out = reinterpret_cast<char*>(uuid.bytes.data());
    StoreBig(out, std::get<0>(halves));
    StoreBig(out + 8, std::get<1>(halves));
    return uuid;
  });
}

inline rc::Gen<Order> AnyOrder() { return rc::gen::element(Order::kAscending, Order::kDescending); }

rc::Gen<Tuple> AnyTuple(int depth);

// A value of this type, which is not a tail.
inline rc::Gen<Element::Value> AnyValue(ElementType type, int depth) {
  const auto cast = [](const auto& generator) { return rc::gen::cast<Element::Value>(generator); };
  switch (type) {
    case ElementType::kNull:
      return rc::gen::just(Element::Value(Element::Null{}));
    case ElementType::kBool:
      return cast(rc::gen::arbitrary<bool>());
    case ElementType::kInt:
      return rc::gen::oneOf(cast(AnyInt()), cast(AnyUint()));
    case ElementType::kDecimal:
      return cast(AnyDecimal());
    case ElementType::kDouble:
      return cast(AnyDouble());
    case ElementType::kText:
      return cast(rc::gen::construct<Element::Text>(AnyBytes()));
    case ElementType::kBytes:
      return cast(rc::gen::construct<Element::Blob>(AnyBytes()));
    case ElementType::kUuid:
      return cast(AnyUuid());
    case ElementType::kTime:
      return cast(rc::gen::construct<Timestamp>(AnyUint()));
    case ElementType::kTuple:
    case ElementType::kTail:
      break;
  }
  return cast(AnyTuple(depth - 1));
}

inline rc::Gen<ElementType> AnyType(int depth) {
  const int last = static_cast<int>(depth > 0 ? ElementType::kTuple : ElementType::kTime);
  return rc::gen::map(rc::gen::inRange(0, last + 1), [](int type) { return static_cast<ElementType>(type); });
}

inline rc::Gen<Element> AnyElement(int depth) {
  return rc::gen::mapcat(AnyType(depth), [depth](ElementType type) {
    return rc::gen::construct<Element>(AnyValue(type, depth), AnyOrder());
  });
}

// Up to four elements, nested up to `depth` deep.
inline rc::Gen<Tuple> AnyTuple(int depth) {
  return rc::gen::mapcat(rc::gen::inRange<size_t>(0, 5),
                         [depth](size_t size) { return rc::gen::container<Tuple>(size, AnyElement(depth)); });
}

// A tuple that may have a tail.
inline rc::Gen<Tuple> AnyKeyTuple(int depth = 2) {
  const auto with_tail = rc::gen::map(rc::gen::tuple(AnyTuple(depth), AnyBytes()), [](std::tuple<Tuple, Bytes> parts) {
    auto& [tuple, tail] = parts;
    tuple.push_back(Element{Element::Tail{std::move(tail)}});
    return std::move(tuple);
  });
  return rc::gen::oneOf(AnyTuple(depth), with_tail);
}

// --- The model: how tuples compare, from the rules in FORMAT.md alone.

// As on paper: by the digits before the point, then by those behind it.
inline std::strong_ordering ModelCompareDecimals(const Decimal& a, const Decimal& b) {
  struct Paper {
    explicit Paper(const Decimal& decimal) {
      const std::string text = decimal.ToPlainString();
      const size_t begin = text.starts_with('-') ? 1 : 0;
      const size_t point = std::min(text.find('.'), text.size());
      whole = text.substr(begin, point - begin);
      fraction = point < text.size() ? text.substr(point + 1) : "";
      whole.insert(0, 200 - whole.size(), '0');
      negative = begin == 1;
    }
    std::string whole;
    std::string fraction;
    bool negative;
  };
  const Paper x(a);
  const Paper y(b);
  if (x.negative != y.negative) return x.negative ? std::strong_ordering::less : std::strong_ordering::greater;
  auto order = x.whole <=> y.whole;
  if (order == 0) order = x.fraction <=> y.fraction;
  return x.negative ? 0 <=> order : order;
}

inline std::strong_ordering ModelCompareDoubles(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) <=> std::isnan(b);
  if (a == b) return std::strong_ordering::equal;
  return a < b ? std::strong_ordering::less : std::strong_ordering::greater;
}

std::strong_ordering ModelCompare(const Tuple& a, const Tuple& b);

struct ModelCompareValues {
  __extension__ using Wide = __int128;

  template <class A, class B>
  std::strong_ordering operator()(const A& a, const B& b) const {
    if constexpr (std::is_same_v<A, bool> && std::is_same_v<B, bool>) {
      return a <=> b;
    } else if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
      return Wide{a} <=> Wide{b};
    } else if constexpr (!std::is_same_v<A, B>) {
      return std::strong_ordering::equal;  // not reached: of different types
    } else if constexpr (std::is_same_v<A, Element::Null>) {
      return std::strong_ordering::equal;
    } else if constexpr (std::is_same_v<A, Decimal>) {
      return ModelCompareDecimals(a, b);
    } else if constexpr (std::is_same_v<A, double>) {
      return ModelCompareDoubles(a, b);
    } else if constexpr (std::is_same_v<A, Uuid> || std::is_same_v<A, Timestamp>) {
      return a <=> b;
    } else if constexpr (std::is_same_v<A, Tuple>) {
      return ModelCompare(a, b);
    } else {
      return a.value <=> b.value;  // text, bytes and tail
    }
  }
};

inline std::strong_ordering ModelCompare(const Element& a, const Element& b) {
  if (a.order != b.order) {
    return a.order == Order::kAscending ? std::strong_ordering::less : std::strong_ordering::greater;
  }
  const auto ascending =
      a.type() != b.type() ? a.type() <=> b.type() : std::visit(ModelCompareValues(), a.value, b.value);
  return a.order == Order::kAscending ? ascending : 0 <=> ascending;
}

inline std::strong_ordering ModelCompare(const Tuple& a, const Tuple& b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    const auto order = ModelCompare(a[i], b[i]);
    if (order != 0) return order;
  }
  return a.size() <=> b.size();
}

// How failures show elements.
inline void showValue(const Element& element, std::ostream& out) {
  out << TupleToString(*EncodeTuple(std::span(&element, 1)));
}

}  // namespace kvarts
