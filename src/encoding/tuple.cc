#include "encoding/tuple.h"

#include <cmath>
#include <utility>

namespace kvarts {
namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

Status CheckElements(std::span<const Element> elements, int depth) {
  if (depth > kMaxTupleDepth) {
    return Error(ErrorCode::kInvalidArgument, "tuples are nested too deep", {{"max", std::to_string(kMaxTupleDepth)}});
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    const Element& element = elements[i];
    if (element.type() == ElementType::kTail) {
      const bool last = depth == 0 && i + 1 == elements.size();
      if (!last || element.order != Order::kAscending) {
        return Error(ErrorCode::kInvalidArgument, "a tail is the ascending last element of a key");
      }
    } else if (const auto* nested = std::get_if<Tuple>(&element.value)) {
      KVARTS_CHECK_OK(CheckElements(*nested, depth + 1));
    }
  }
  return {};
}

void WriteElements(std::span<const Element> elements, TupleWriter<Bytes>* writer) {
  for (const Element& element : elements) {
    const Order order = element.order;
    std::visit(Overloaded{
                   [&](Element::Null) { writer->Null(order); },
                   [&](bool value) { writer->Bool(value, order); },
                   [&](int64_t value) { writer->Int(value, order); },
                   [&](uint64_t value) { writer->Uint(value, order); },
                   [&](const Decimal& value) { writer->Decimal(value, order); },
                   [&](double value) { writer->Double(value, order); },
                   [&](const Element::Text& text) { writer->Text(text.value, order); },
                   [&](const Element::Blob& blob) { writer->Bytes(blob.value, order); },
                   [&](const Uuid& value) { writer->Uuid(value, order); },
                   [&](Timestamp value) { writer->Time(value, order); },
                   [&](const Tuple& nested) {
                     writer->Begin(order);
                     WriteElements(nested, writer);
                     writer->End();
                   },
                   [&](const Element::Tail& tail) { writer->Tail(tail.value); },
               },
               element.value);
  }
}

}  // namespace

ElementType Element::type() const {
  return std::visit(Overloaded{
                        [](Null) { return ElementType::kNull; },
                        [](bool) { return ElementType::kBool; },
                        [](int64_t) { return ElementType::kInt; },
                        [](uint64_t) { return ElementType::kInt; },
                        [](const Decimal&) { return ElementType::kDecimal; },
                        [](double) { return ElementType::kDouble; },
                        [](const Text&) { return ElementType::kText; },
                        [](const Blob&) { return ElementType::kBytes; },
                        [](const Uuid&) { return ElementType::kUuid; },
                        [](Timestamp) { return ElementType::kTime; },
                        [](const Tuple&) { return ElementType::kTuple; },
                        [](const Tail&) { return ElementType::kTail; },
                    },
                    value);
}

bool operator==(const Element& a, const Element& b) {
  if (a.order != b.order) return false;
  return std::visit(Overloaded{
                        [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); },
                        [](int64_t x, uint64_t y) { return std::cmp_equal(x, y); },
                        [](uint64_t x, int64_t y) { return std::cmp_equal(x, y); },
                        []<class T>(const T& x, const T& y) { return x == y; },
                        [](const auto&, const auto&) { return false; },
                    },
                    a.value, b.value);
}

Status EncodeTuple(std::span<const Element> elements, Bytes* to) {
  KVARTS_CHECK_OK(CheckElements(elements, 0));
  TupleWriter writer(to);
  WriteElements(elements, &writer);
  return {};
}

Result<Bytes> EncodeTuple(std::span<const Element> elements) {
  Bytes key;
  KVARTS_CHECK_OK(EncodeTuple(elements, &key));
  return key;
}

Result<Tuple> DecodeTuple(BytesView key) {
  TupleReader reader(key);
  Tuple elements;
  while (!reader.AtEnd()) {
    KVARTS_TRY(Element element, reader.TakeElement());
    elements.push_back(std::move(element));
  }
  return elements;
}

KeyRange TuplePrefixRange(BytesView tuple) { return KeyRange::Prefix(tuple); }

KeyRange TupleExtensionRange(BytesView tuple) { return {KeyAfter(tuple), PrefixEnd(tuple)}; }

KeyRange TextPrefixRange(BytesView tuple, BytesView beginning, Order order) {
  Bytes prefix(tuple);
  TupleWriter(&prefix).TextPrefix(beginning, order);
  return KeyRange::Prefix(prefix);
}

KeyRange BytesPrefixRange(BytesView tuple, BytesView beginning, Order order) {
  Bytes prefix(tuple);
  TupleWriter(&prefix).BytesPrefix(beginning, order);
  return KeyRange::Prefix(prefix);
}

KeyRange TailPrefixRange(BytesView tuple, BytesView beginning) {
  Bytes prefix(tuple);
  TupleWriter(&prefix).Tail(beginning);
  return KeyRange::Prefix(prefix);
}

}  // namespace kvarts
