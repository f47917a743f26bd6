// Documents: typed values, as JSON and DynamoDB have them, without loss. A number is a Decimal, exact; there are
// binaries, and sets of texts, numbers or binaries.
//
// A document is bytes: CBOR (RFC 8949) of which every value has one encoding, so that two are equal exactly when their
// bytes are, and of a map the fields are found without reading the others. FORMAT.md has the rules. It is written by
// DocumentWriter and read through a DocumentView where it lies; there is no tree of it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "encoding/cbor.h"
#include "encoding/decimal.h"

namespace kvarts {

// In the order in which values of different kinds compare.
enum class DocumentKind : uint8_t {
  kNull,
  kBool,
  kNumber,
  kText,
  kBinary,
  kList,
  kMap,
  kTextSet,
  kNumberSet,
  kBinarySet,
};

// How many lists, maps and sets may be inside each other.
inline constexpr size_t kMaxDocumentDepth = 64;

// The magnitude of a number that is written as an integer and not as a decimal fraction: from -2^64 to 2^64 - 1.
std::optional<Decimal::Coefficient> PlainInteger(const Decimal& number);

// Names sort by their length first: that is the order of their encodings.
std::strong_ordering CompareNames(std::string_view a, std::string_view b);

// A value in bytes that it does not own. They are those of a document, or of a part of one: what comes from outside
// goes through CheckDocument first. Of other bytes nothing sensible is said, but none behind them are read. The
// accessors are for values of their kind.
class DocumentView {
 public:
  explicit DocumentView(BytesView begins_with) : from_(begins_with) {}

  DocumentKind kind() const;
  // The value itself, without what comes behind it.
  BytesView bytes() const;

  bool Bool() const;
  Decimal Number() const;
  std::string_view Text() const;
  BytesView Binary() const;
  // Of a list or set, its elements; of a map, its fields.
  size_t size() const;
  // on_element(DocumentView) for each of a list or set, in order.
  template <class OnElement>
  void ForEachElement(OnElement&& on_element) const;
  // on_field(std::string_view name, DocumentView) for each of a map, in the order of names.
  template <class OnField>
  void ForEachField(OnField&& on_field) const;
  // Nothing when a list is not so long, or a map has no such field.
  std::optional<DocumentView> At(size_t index) const;
  std::optional<DocumentView> Find(std::string_view name) const;

  friend bool operator==(const DocumentView& a, const DocumentView& b) { return a.bytes() == b.bytes(); }
  // By kind; numbers, texts and binaries by value, false before true, lists element by element. Maps and sets compare
  // by their bytes, which is some order.
  friend std::strong_ordering operator<=>(const DocumentView& a, const DocumentView& b);

 private:
  // The head of a list, map or set, behind its tag.
  cbor::Head OpenSeveral(BytesView* rest) const;

  BytesView from_;
};

// That the bytes are one document, encoded as DocumentWriter does it, and no deeper than kMaxDocumentDepth. The error
// is `corruption`, with what is wrong and at which byte.
Status CheckDocument(BytesView bytes);

template <class OnElement>
void DocumentView::ForEachElement(OnElement&& on_element) const {
  BytesView rest;
  for (uint64_t left = OpenSeveral(&rest).argument; left != 0; --left) {
    const DocumentView element(rest);
    on_element(element);
    cbor::Skip(&rest);
  }
}

template <class OnField>
void DocumentView::ForEachField(OnField&& on_field) const {
  BytesView rest;
  for (uint64_t left = OpenSeveral(&rest).argument; left != 0; --left) {
    const std::string_view name = cbor::TakeString(&rest);
    const DocumentView value(rest);
    on_field(name, value);
    cbor::Skip(&rest);
  }
}

}  // namespace kvarts
