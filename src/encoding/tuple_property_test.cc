// What must hold for all tuples: byte order is tuple order, every key decodes to what was encoded,
// and nothing else decodes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <functional>

#include "encoding/tuple.h"
#include "encoding/tuple_testing.h"

namespace kvarts {
namespace {

using Encoder = std::function<Bytes(const Tuple&)>;

Bytes Encoded(const Tuple& tuple) { return EncodeTuple(tuple).value(); }

// Tuples that have something to do with each other: random ones, and ones that share beginnings.
std::vector<Tuple> RelatedTuples() {
  auto tuples = *rc::gen::container<std::vector<Tuple>>(6, AnyKeyTuple());
  const size_t roots = tuples.size();
  for (size_t i = 0; i < roots; ++i) {
    const Tuple other = *AnyKeyTuple(1);
    Tuple mixed = tuples[i];
    if (!mixed.empty() && mixed.back().type() == ElementType::kTail) mixed.pop_back();
    if (!mixed.empty() && *rc::gen::arbitrary<bool>()) mixed.pop_back();
    mixed.insert(mixed.end(), other.begin(), other.end());
    tuples.push_back(std::move(mixed));
  }
  return tuples;
}

// Rows of one table: the same types and directions at the same places.
std::vector<Tuple> RowsOfOneSchema() {
  const auto schema =
      *rc::gen::container<std::vector<std::pair<ElementType, Order>>>(3, rc::gen::pair(AnyType(1), AnyOrder()));
  std::vector<Tuple> rows(8);
  for (Tuple& row : rows) {
    for (const auto& [type, order] : schema) row.push_back(Element{*AnyValue(type, 1), order});
  }
  return rows;
}

// Rows whose first value has any length and is often the beginning of another's: what ends it, and
// what stands behind it, decides.
std::vector<Tuple> RowsThatBeginAlike() {
  const auto byte = rc::gen::element('\x00', '\x01', '\x02', '\xff');
  const auto first_order = *AnyOrder();
  const bool is_text = *rc::gen::arbitrary<bool>();
  const auto [second_type, second_order] = *rc::gen::pair(AnyType(1), AnyOrder());
  std::vector<Tuple> rows(8);
  for (Tuple& row : rows) {
    Bytes value = *rc::gen::resize(2, rc::gen::container<Bytes>(byte));
    row.push_back(is_text ? Element{Element::Text{std::move(value)}, first_order}
                          : Element{Element::Blob{std::move(value)}, first_order});
    row.push_back(Element{*AnyValue(second_type, 1), second_order});
  }
  return rows;
}

void AssertOrdered(const std::vector<Tuple>& tuples, const Encoder& encode) {
  std::vector<Bytes> keys;
  for (const Tuple& tuple : tuples) keys.push_back(encode(tuple));
  for (size_t i = 0; i < tuples.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const auto expected = ModelCompare(tuples[i], tuples[j]);
      if ((keys[i] <=> keys[j]) != expected) {
        RC_LOG() << rc::toString(tuples[i]) << " and " << rc::toString(tuples[j]);
        RC_FAIL("byte order is not tuple order");
      }
    }
  }
}

RC_GTEST_PROP(TuplePropertyTest, ByteOrderIsTupleOrder, ()) { AssertOrdered(RelatedTuples(), Encoded); }

RC_GTEST_PROP(TuplePropertyTest, ByteOrderIsRowOrder, ()) { AssertOrdered(RowsOfOneSchema(), Encoded); }

RC_GTEST_PROP(TuplePropertyTest, ByteOrderIsRowOrderWhenRowsBeginAlike, ()) {
  AssertOrdered(RowsThatBeginAlike(), Encoded);
}

RC_GTEST_PROP(TuplePropertyTest, EveryTupleDecodesToItself, ()) {
  const Tuple tuple = *AnyKeyTuple(3);
  const auto decoded = DecodeTuple(Encoded(tuple));
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(*decoded == tuple);
}

RC_GTEST_PROP(TuplePropertyTest, EqualElementsAreThoseWithEqualBytes, ()) {
  const Element a = *AnyElement(1);
  const Element b = *AnyElement(1);
  RC_ASSERT((a == b) == (Encoded({a}) == Encoded({b})));
}

// What the decoder accepts is exactly what the encoder writes for it.
void AssertRefusedOrCanonical(BytesView key) {
  const auto decoded = DecodeTuple(key);
  if (!decoded.has_value()) {
    RC_ASSERT(decoded.error().code() == ErrorCode::kCorruption);
    return;
  }
  RC_ASSERT(Encoded(*decoded) == key);
}

RC_GTEST_PROP(TuplePropertyTest, EveryBeginningOfAKeyIsATupleOrRefused, ()) {
  const Bytes key = Encoded(*AnyKeyTuple(3));
  for (size_t size = 0; size <= key.size(); ++size) {
    AssertRefusedOrCanonical(BytesView(key).substr(0, size));
  }
}

RC_GTEST_PROP(TuplePropertyTest, DamagedKeysAreRefusedOrCanonical, ()) {
  Bytes key = Encoded(*AnyKeyTuple(3));
  for (int i = 0; i < 20 && !key.empty(); ++i) {
    key[*rc::gen::inRange<size_t>(0, key.size())] =
        *rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::element('\x00', '\x01', '\x50', '\xaf', '\xff'));
    AssertRefusedOrCanonical(key);
  }
}

RC_GTEST_PROP(TuplePropertyTest, AnyBytesAreRefusedOrCanonical, (const Bytes& key)) { AssertRefusedOrCanonical(key); }

RC_GTEST_PROP(TuplePropertyTest, NoElementIsTheBeginningOfAnother, ()) {
  const Tuple elements = *rc::gen::container<Tuple>(12, AnyElement(1));
  for (const Element& a : elements) {
    for (const Element& b : elements) {
      RC_ASSERT(a == b || !Encoded({b}).starts_with(Encoded({a})));
    }
  }
}

RC_GTEST_PROP(TuplePropertyTest, ThePrefixRangeOfATupleHoldsWhatExtendsIt, ()) {
  const std::vector<Tuple> tuples = RelatedTuples();
  for (const Tuple& tuple : tuples) {
    if (!tuple.empty() && tuple.back().type() == ElementType::kTail) continue;
    const KeyRange range = TuplePrefixRange(Encoded(tuple));
    const KeyRange strict = TupleExtensionRange(Encoded(tuple));
    for (const Tuple& other : tuples) {
      const bool extends = other.size() >= tuple.size() && std::equal(tuple.begin(), tuple.end(), other.begin());
      RC_ASSERT(range.Contains(Encoded(other)) == extends);
      RC_ASSERT(strict.Contains(Encoded(other)) == (extends && other.size() > tuple.size()));
    }
  }
}

RC_GTEST_PROP(TuplePropertyTest, TextPrefixRangesHoldTextsWithTheBeginning, ()) {
  const Bytes before = Encoded(*AnyTuple(1));
  const Bytes beginning = *AnyBytes();
  const Bytes value =
      *rc::gen::oneOf(AnyBytes(), rc::gen::map(AnyBytes(), [&](const Bytes& rest) { return beginning + rest; }));
  const Order order = *AnyOrder();
  const Bytes after = Encoded(*AnyKeyTuple(1));
  const bool expected = value.starts_with(beginning);

  Bytes text = before;
  TupleWriter(&text).Text(value, order);
  RC_ASSERT(TextPrefixRange(before, beginning, order).Contains(text + after) == expected);
  RC_ASSERT(!BytesPrefixRange(before, beginning, order).Contains(text + after));
  Bytes bytes = before;
  TupleWriter(&bytes).Bytes(value, order);
  RC_ASSERT(BytesPrefixRange(before, beginning, order).Contains(bytes + after) == expected);
  Bytes tail = before;
  TupleWriter(&tail).Tail(value);
  RC_ASSERT(TailPrefixRange(before, beginning).Contains(tail) == expected);
}

RC_GTEST_PROP(TuplePropertyTest, SkippingEndsWhereTakingDoes, ()) {
  const Bytes key = Encoded(*AnyKeyTuple(3));
  TupleReader taking(key);
  TupleReader skipping(key);
  while (!taking.AtEnd()) {
    RC_ASSERT(taking.TakeElement().has_value());
    RC_ASSERT(skipping.Skip().has_value());
    RC_ASSERT(taking.position() == skipping.position());
  }
  RC_ASSERT(skipping.AtEnd());
}

RC_GTEST_PROP(TuplePropertyTest, SkippingDamagedKeysStaysInside, ()) {
  Bytes key = Encoded(*AnyKeyTuple(3));
  if (!key.empty()) key[*rc::gen::inRange<size_t>(0, key.size())] = *rc::gen::arbitrary<char>();
  TupleReader reader(key);
  while (!reader.AtEnd() && reader.Skip().has_value()) RC_ASSERT(reader.position() <= key.size());
}

RC_GTEST_PROP(TuplePropertyTest, BothKindsOfBuffersGetTheSameBytes, ()) {
  const int64_t number = *AnyInt();
  const Bytes text = *AnyBytes();
  const double real = *AnyDouble();
  const Uuid uuid = *AnyUuid();
  const Decimal decimal = *AnyDecimal();
  const auto write = [&](auto* to) {
    TupleWriter(to).Int(number).Text(text).Begin(Order::kDescending).Double(real).End();
    TupleWriter(to).Uuid(uuid, Order::kDescending).Decimal(decimal).Tail(text);
  };
  Bytes bytes;
  KeyBuffer buffer;
  write(&bytes);
  write(&buffer);
  RC_ASSERT(buffer.view() == bytes);
}

RC_GTEST_PROP(TuplePropertyTest, TheTextOfATupleParsesBack, ()) {
  const Bytes key = Encoded(*AnyKeyTuple(3));
  const auto parsed = ParseTuple(TupleToString(key));
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(*parsed == key);
}

// The checks above must be able to fail: the order check finds each of these faults.

bool OrderCheckPasses(const Encoder& encode) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.disableShrinking = true;
  const auto order = [&] {
    AssertOrdered(RelatedTuples(), encode);
    AssertOrdered(RowsOfOneSchema(), encode);
    AssertOrdered(RowsThatBeginAlike(), encode);
  };
  const auto result = rc::detail::checkTestable(order, rc::detail::TestMetadata(), params);
  return result.is<rc::detail::SuccessResult>();
}

// Encodes the elements one by one, each through `change`.
Encoder WithFault(const std::function<void(const Element&, Bytes*)>& change) {
  return [change](const Tuple& tuple) {
    Bytes key;
    for (const Element& element : tuple) {
      Bytes bytes = Encoded({element});
      change(element, &bytes);
      key.append(bytes);
    }
    return key;
  };
}

TEST(PlantedFaultTest, WithoutAFaultTheCheckPasses) {
  EXPECT_TRUE(OrderCheckPasses(WithFault([](const Element&, Bytes*) {})));
}

TEST(PlantedFaultTest, LittleEndianIntegersAreFound) {
  EXPECT_FALSE(OrderCheckPasses(WithFault([](const Element& element, Bytes* bytes) {
    if (element.type() == ElementType::kInt) std::reverse(bytes->begin() + 1, bytes->end());
  })));
}

TEST(PlantedFaultTest, DescendingThatOnlyChangesTheCodeIsFound) {
  EXPECT_FALSE(OrderCheckPasses(WithFault([](const Element& element, Bytes* bytes) {
    if (element.order == Order::kAscending) return;
    for (size_t i = 1; i < bytes->size(); ++i) (*bytes)[i] = static_cast<char>(~(*bytes)[i]);
  })));
}

TEST(PlantedFaultTest, TextWithoutEscapesIsFound) {
  EXPECT_FALSE(OrderCheckPasses(WithFault([](const Element& element, Bytes* bytes) {
    const auto* text = std::get_if<Element::Text>(&element.value);
    if (text == nullptr || element.order == Order::kDescending) return;
    bytes->replace(1, bytes->size() - 2, text->value);
  })));
}

TEST(PlantedFaultTest, TextWithoutAnEndIsFound) {
  EXPECT_FALSE(OrderCheckPasses(WithFault([](const Element& element, Bytes* bytes) {
    if (element.type() == ElementType::kText) bytes->pop_back();
  })));
}

}  // namespace
}  // namespace kvarts
