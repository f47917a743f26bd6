#include "encoding/document.h"

#include <algorithm>

#include "base/utf8.h"

namespace kvarts {
namespace {

using cbor::Head;
using cbor::Major;

constexpr size_t kMaxBignumBytes = 16;

// Takes the integer off the front: a coefficient and its sign. False for anything else, and what no decimal holds.
bool TakeInteger(BytesView* from, bool* negative, Decimal::Coefficient* magnitude) {
  Head head = cbor::ReadHead(*from);
  if (head.size == 0) return false;
  from->remove_prefix(head.size);
  *negative = head.major == Major::kNegative;
  if (head.major == Major::kUnsigned || head.major == Major::kNegative) {
    *magnitude = Decimal::Coefficient{head.argument} + (*negative ? 1 : 0);
    return true;
  }
  if (head.major != Major::kTag || head.argument < cbor::kBignum || head.argument > cbor::kNegativeBignum) return false;
  *negative = head.argument == cbor::kNegativeBignum;
  head = cbor::ReadHead(*from);
  // Below nine bytes it would be no bignum.
  if (head.size == 0 || head.major != Major::kBytes || head.argument <= sizeof(uint64_t)) return false;
  if (head.argument > kMaxBignumBytes || from->size() - head.size < head.argument) return false;
  const BytesView digits = from->substr(head.size, head.argument);
  if (digits.front() == '\0') return false;
  from->remove_prefix(head.size + head.argument);
  Decimal::Coefficient value = 0;
  for (const char byte : digits) value = (value << 8) | static_cast<uint8_t>(byte);
  // A negative one is -1 - n.
  *magnitude = value + (*negative ? 1 : 0);
  return *magnitude != 0;
}

// Takes the number off the front.
Result<Decimal> TakeNumber(BytesView* from) {
  const Error damaged(ErrorCode::kCorruption, "no number of a document");
  bool negative = false;
  Decimal::Coefficient magnitude = 0;
  const Head head = cbor::ReadHead(*from);
  if (head.major == Major::kUnsigned || head.major == Major::kNegative) {
    if (!TakeInteger(from, &negative, &magnitude)) return damaged;
    return Decimal::FromParts(negative, magnitude, 0);
  }
  if (head.size == 0 || head.major != Major::kTag || head.argument != cbor::kDecimalFraction) return damaged;
  from->remove_prefix(head.size);
  const Head array = cbor::ReadHead(*from);
  if (array.size == 0 || array.major != Major::kArray || array.argument != 2) return damaged;
  from->remove_prefix(array.size);
  bool down = false;
  Decimal::Coefficient exponent = 0;
  if (!TakeInteger(from, &down, &exponent) || exponent > 1'000) return damaged;
  if (!TakeInteger(from, &negative, &magnitude) || magnitude == 0 || magnitude % 10 == 0) return damaged;
  auto number =
      Decimal::FromParts(negative, magnitude, down ? -static_cast<int64_t>(exponent) : static_cast<int64_t>(exponent));
  if (!number.has_value() || PlainInteger(*number)) return damaged;
  return number;
}

DocumentKind SetOf(DocumentKind element) {
  switch (element) {
    case DocumentKind::kText:
      return DocumentKind::kTextSet;
    case DocumentKind::kNumber:
      return DocumentKind::kNumberSet;
    default:
      return DocumentKind::kBinarySet;
  }
}

// Whether an element that begins so may be one of a set: a number, a text or a binary.
bool IsOfSets(const Head& head) {
  if (head.major == Major::kTag) return head.argument == cbor::kDecimalFraction;
  return head.major < Major::kArray;
}

// Of an element of a set.
DocumentKind KindOfElement(const Head& head) {
  if (head.major == Major::kText) return DocumentKind::kText;
  return head.major == Major::kBytes ? DocumentKind::kBinary : DocumentKind::kNumber;
}

// Reads any bytes as a document, to the first thing that is wrong.
class Checker {
 public:
  explicit Checker(BytesView bytes) : bytes_(bytes), rest_(bytes) {}

  Status Run() {
    const char* why = Value(0);
    if (why == nullptr && !rest_.empty()) why = "something is behind it";
    if (why == nullptr) return {};
    return Error(ErrorCode::kCorruption, "the document is damaged",
                 {{"why", why}, {"at", std::to_string(bytes_.size() - rest_.size())}});
  }

 private:
  // What is wrong, or null.
  const char* Value(size_t depth);
  const char* Simple(uint64_t argument);
  const char* String(const Head& head);
  const char* List(uint64_t count, size_t depth);
  const char* Map(uint64_t count, size_t depth);
  const char* Set();

  const BytesView bytes_;
  BytesView rest_;
};

const char* Checker::Value(size_t depth) {
  const Head head = cbor::ReadHead(rest_);
  if (head.size == 0) return "no head";
  switch (head.major) {
    case Major::kUnsigned:
    case Major::kNegative:
      return TakeNumber(&rest_).has_value() ? nullptr : "no number";
    case Major::kBytes:
    case Major::kText:
      return String(head);
    case Major::kArray:
    case Major::kMap:
      if (depth == kMaxDocumentDepth) return "too deep";
      rest_.remove_prefix(head.size);
      return head.major == Major::kArray ? List(head.argument, depth + 1) : Map(head.argument, depth + 1);
    case Major::kTag:
      if (head.argument == cbor::kDecimalFraction) return TakeNumber(&rest_).has_value() ? nullptr : "no number";
      if (head.argument != cbor::kSet) return "an unknown tag";
      if (depth == kMaxDocumentDepth) return "too deep";
      rest_.remove_prefix(head.size);
      return Set();
    case Major::kSimple:
      return Simple(head.argument);
  }
  return "no head";
}

const char* Checker::Simple(uint64_t argument) {
  if (argument < cbor::kFalse || argument > cbor::kNull) return "an unknown simple value";
  rest_.remove_prefix(1);
  return nullptr;
}

const char* Checker::String(const Head& head) {
  if (rest_.size() - head.size < head.argument) return "a string that is cut off";
  if (head.major == Major::kText && !IsUtf8(rest_.substr(head.size, head.argument))) return "a text that is not UTF-8";
  rest_.remove_prefix(head.size + head.argument);
  return nullptr;
}

const char* Checker::List(uint64_t count, size_t depth) {
  if (count > rest_.size()) return "more elements than bytes";
  for (; count != 0; --count) {
    if (const char* const why = Value(depth)) return why;
  }
  return nullptr;
}

const char* Checker::Map(uint64_t count, size_t depth) {
  if (count > rest_.size()) return "more fields than bytes";
  std::optional<std::string_view> before;
  for (; count != 0; --count) {
    const Head head = cbor::ReadHead(rest_);
    if (head.size == 0 || head.major != Major::kText) return "no name";
    const BytesView from = rest_;
    if (const char* const why = String(head)) return why;
    const std::string_view name = from.substr(head.size, head.argument);
    if (before && CompareNames(*before, name) >= 0) return "names that are not in order";
    before = name;
    if (const char* const why = Value(depth)) return why;
  }
  return nullptr;
}

const char* Checker::Set() {
  const Head head = cbor::ReadHead(rest_);
  if (head.size == 0 || head.major != Major::kArray || head.argument == 0) return "a set without elements";
  if (head.argument > rest_.size()) return "more elements than bytes";
  rest_.remove_prefix(head.size);
  BytesView before;
  std::optional<DocumentKind> kind;
  for (uint64_t left = head.argument; left != 0; --left) {
    const BytesView from = rest_;
    if (!IsOfSets(cbor::ReadHead(from))) return "an element that no set has";
    if (const char* const why = Value(kMaxDocumentDepth)) return why;
    const BytesView element = from.substr(0, from.size() - rest_.size());
    const DocumentKind its = DocumentView(element).kind();
    if (kind && *kind != its) return "elements of different kinds";
    if (!before.empty() && before >= element) return "elements that are not in order";
    kind = its;
    before = element;
  }
  return nullptr;
}

}  // namespace

std::optional<Decimal::Coefficient> PlainInteger(const Decimal& number) {
  if (number.IsZero()) return 0;
  if (number.exponent() < 0 || number.LeadingExponent() > 19) return {};
  Decimal::Coefficient magnitude = number.coefficient();
  for (int i = 0; i < number.exponent(); ++i) magnitude *= 10;
  if (magnitude - (number.IsNegative() ? 1 : 0) > UINT64_MAX) return {};
  return magnitude;
}

std::strong_ordering CompareNames(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a <=> b;
}

Status CheckDocument(BytesView bytes) { return Checker(bytes).Run(); }

DocumentKind DocumentView::kind() const {
  const Head head = cbor::ReadHead(from_);
  switch (head.major) {
    case Major::kUnsigned:
    case Major::kNegative:
      return DocumentKind::kNumber;
    case Major::kBytes:
      return DocumentKind::kBinary;
    case Major::kText:
      return DocumentKind::kText;
    case Major::kArray:
      return DocumentKind::kList;
    case Major::kMap:
      return DocumentKind::kMap;
    case Major::kTag:
      break;
    case Major::kSimple:
      return head.argument == cbor::kNull ? DocumentKind::kNull : DocumentKind::kBool;
  }
  if (head.argument != cbor::kSet) return DocumentKind::kNumber;
  BytesView rest = from_.substr(head.size);
  rest.remove_prefix(cbor::ReadHead(rest).size);
  return SetOf(KindOfElement(cbor::ReadHead(rest)));
}

BytesView DocumentView::bytes() const {
  BytesView behind = from_;
  cbor::Skip(&behind);
  return from_.substr(0, from_.size() - behind.size());
}

bool DocumentView::Bool() const { return cbor::ReadHead(from_).argument == cbor::kTrue; }

Decimal DocumentView::Number() const {
  BytesView rest = from_;
  const Result<Decimal> number = TakeNumber(&rest);
  return number.has_value() ? *number : Decimal();
}

std::string_view DocumentView::Text() const {
  BytesView rest = from_;
  return cbor::TakeString(&rest);
}

BytesView DocumentView::Binary() const { return Text(); }

cbor::Head DocumentView::OpenSeveral(BytesView* rest) const {
  *rest = from_;
  Head head = cbor::ReadHead(*rest);
  rest->remove_prefix(head.size);
  if (head.major == Major::kTag) {
    head = cbor::ReadHead(*rest);
    rest->remove_prefix(head.size);
  }
  // Each has a byte at least. Bytes that nobody has checked may promise more.
  head.argument = std::min<uint64_t>(head.argument, rest->size());
  return head;
}

size_t DocumentView::size() const {
  BytesView rest;
  return OpenSeveral(&rest).argument;
}

std::optional<DocumentView> DocumentView::At(size_t index) const {
  BytesView rest;
  if (index >= OpenSeveral(&rest).argument) return {};
  for (; index != 0; --index) cbor::Skip(&rest);
  return DocumentView(rest);
}

std::optional<DocumentView> DocumentView::Find(std::string_view name) const {
  BytesView rest;
  for (uint64_t left = OpenSeveral(&rest).argument; left != 0; --left) {
    const std::strong_ordering order = CompareNames(cbor::TakeString(&rest), name);
    if (order == 0) return DocumentView(rest);
    if (order > 0) return {};
    cbor::Skip(&rest);
  }
  return {};
}

std::strong_ordering operator<=>(const DocumentView& a, const DocumentView& b) {
  const DocumentKind kind = a.kind();
  if (kind != b.kind()) return kind <=> b.kind();
  switch (kind) {
    case DocumentKind::kNull:
      return std::strong_ordering::equal;
    case DocumentKind::kBool:
      return a.Bool() <=> b.Bool();
    case DocumentKind::kNumber:
      return a.Number() <=> b.Number();
    case DocumentKind::kText:
    case DocumentKind::kBinary:
      return a.Text() <=> b.Text();
    case DocumentKind::kList:
      break;
    default:
      return a.bytes() <=> b.bytes();
  }
  BytesView rest_of_a;
  BytesView rest_of_b;
  const size_t size_of_a = a.OpenSeveral(&rest_of_a).argument;
  const size_t size_of_b = b.OpenSeveral(&rest_of_b).argument;
  for (size_t i = 0; i < std::min(size_of_a, size_of_b); ++i) {
    if (const auto order = DocumentView(rest_of_a) <=> DocumentView(rest_of_b); order != 0) return order;
    cbor::Skip(&rest_of_a);
    cbor::Skip(&rest_of_b);
  }
  return size_of_a <=> size_of_b;
}

}  // namespace kvarts
