#include "encoding/tuple_reader.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace kvarts {
namespace {

using namespace tuple_codes;  // NOLINT: the codes are what this file is about

constexpr const char* kCutOff = "a key ends inside an element";
constexpr const char* kOtherType = "a key has another element than expected";
constexpr const char* kUnknownCode = "a key has an element of unknown type";
constexpr const char* kNotCanonical = "an element of a key is not in its one valid form";
constexpr const char* kTooDeep = "a key has tuples nested too deep";
constexpr const char* kTrailing = "a key goes on after its last element";

constexpr unsigned char kNoCode = 0xff;

constexpr unsigned char kNoType = 0xff;

// The ElementType of each ascending code, or kNoType.
constexpr auto kTypes = [] {
  std::array<unsigned char, kFirstDescending> types{};
  types.fill(kNoType);
  const auto set = [&types](unsigned char first, unsigned char last, ElementType type) {
    for (size_t code = first; code <= last; ++code) types[code] = static_cast<unsigned char>(type);
  };
  set(kNull, kNull, ElementType::kNull);
  set(kFalse, kTrue, ElementType::kBool);
  set(kIntMin, kIntMax, ElementType::kInt);
  set(kDecimalNegative, kDecimalPositive, ElementType::kDecimal);
  set(kDouble, kDouble, ElementType::kDouble);
  set(kText, kText, ElementType::kText);
  set(kBytes, kBytes, ElementType::kBytes);
  set(kUuid, kUuid, ElementType::kUuid);
  set(kTime, kTime, ElementType::kTime);
  set(kTuple, kTuple, ElementType::kTuple);
  set(kTail, kTail, ElementType::kTail);
  return types;
}();

}  // namespace

Error TupleReader::Broken(const char* text) const {
  return Error(ErrorCode::kCorruption, text, {{"position", std::to_string(position_)}});
}

unsigned char TupleReader::PeekCode(unsigned char mask) const {
  return position_ < key_.size() ? ByteAt(position_, mask) : kNoCode;
}

uint64_t TupleReader::PayloadNumber(size_t size, unsigned char mask) const {
  uint64_t number = 0;
  for (size_t i = 1; i <= size; ++i) number = number << 8 | ByteAt(position_ + i, mask);
  return number;
}

Status TupleReader::TakeNull(Order order) {
  if (PeekCode(MaskOf(order)) != kNull) return Broken(kOtherType);
  ++position_;
  return {};
}

Result<bool> TupleReader::TakeBool(Order order) {
  const unsigned char code = PeekCode(MaskOf(order));
  if (code != kFalse && code != kTrue) return Broken(kOtherType);
  ++position_;
  return code == kTrue;
}

Result<TupleReader::Integer> TupleReader::TakeInteger(Order order) {
  const unsigned char mask = MaskOf(order);
  const unsigned char code = PeekCode(mask);
  if (code < kIntMin || code > kIntMax) return Broken(kOtherType);
  const bool negative = code < kIntZero;
  const auto size = static_cast<size_t>(negative ? kIntZero - code : code - kIntZero);
  if (!HasPayload(size)) return Broken(kCutOff);
  uint64_t bits = PayloadNumber(size, mask);
  if (negative) bits = (size == 8 ? bits : bits | ~uint64_t{0} << (8 * size)) + 1;
  const uint64_t magnitude = negative ? -bits : bits;
  if (size > 0 && magnitude >> (8 * (size - 1)) == 0) return Broken(kNotCanonical);
  // The magnitude of a negative number of eight bytes may be too large, or wrapped around to zero.
  if (negative && magnitude - 1 >= kSignBit) return Broken(kNotCanonical);
  position_ += 1 + size;
  return Integer{negative, bits};
}

Result<int64_t> TupleReader::TakeInt(Order order) {
  KVARTS_TRY(const Integer integer, TakeInteger(order));
  if (!integer.negative && integer.bits >= kSignBit) return Broken(kOtherType);
  return static_cast<int64_t>(integer.bits);
}

Result<uint64_t> TupleReader::TakeUint(Order order) {
  KVARTS_TRY(const Integer integer, TakeInteger(order));
  if (integer.negative) return Broken(kOtherType);
  return integer.bits;
}

Result<Decimal> TupleReader::TakeDecimal(Order order) {
  const unsigned char mask = MaskOf(order);
  const unsigned char code = PeekCode(mask);
  if (code == kDecimalNegative) return TakeMagnitude(true, mask ^ 0xff);
  if (code == kDecimalPositive) return TakeMagnitude(false, mask);
  if (code != kDecimalZero) return Broken(kOtherType);
  ++position_;
  return Decimal();
}

Result<Decimal> TupleReader::TakeMagnitude(bool negative, unsigned char mask) {
  constexpr size_t kMaxPairs = Decimal::kMaxDigits / 2;
  if (!HasPayload(1)) return Broken(kCutOff);
  const int leading = ByteAt(position_ + 1, mask) + Decimal::kMinLeadingExponent;
  Decimal::Coefficient digits = 0;
  size_t pairs = 0;
  for (bool more = true; more; ++pairs) {
    if (!HasPayload(pairs + 2)) return Broken(kCutOff);
    const unsigned char byte = ByteAt(position_ + 2 + pairs, mask);
    more = (byte & 1) != 0;
    const unsigned pair = byte / 2;
    const bool leading_zero = pairs == 0 && pair < 10;
    const bool trailing_zero = !more && pair == 0;
    if (pair > 99 || leading_zero || trailing_zero || pairs == kMaxPairs) {
      return Broken(kNotCanonical);
    }
    digits = digits * 100 + pair;
  }
  position_ += 2 + pairs;
  return Decimal::FromParts(negative, digits, leading + 1 - static_cast<int>(2 * pairs));
}

Result<uint64_t> TupleReader::TakeEightBytes(unsigned char code, Order order) {
  const unsigned char mask = MaskOf(order);
  if (PeekCode(mask) != code) return Broken(kOtherType);
  if (!HasPayload(8)) return Broken(kCutOff);
  const uint64_t number = PayloadNumber(8, mask);
  position_ += 9;
  return number;
}

Result<double> TupleReader::TakeDouble(Order order) {
  KVARTS_TRY(const uint64_t ordered, TakeEightBytes(tuple_codes::kDouble, order));
  const uint64_t bits = (ordered & kSignBit) != 0 ? ordered ^ kSignBit : ~ordered;
  const auto value = std::bit_cast<double>(bits);
  const bool negative_zero = bits == kSignBit;
  const bool other_nan = std::isnan(value) && bits != kNanBits;
  if (negative_zero || other_nan) return Broken(kNotCanonical);
  return value;
}

size_t TupleReader::EscapedEnd(unsigned char mask) const {
  const size_t end = key_.find(static_cast<char>(kEnd ^ mask), position_ + 1);
  return end == key_.npos ? end : end + 1;
}

Result<Bytes> TupleReader::TakeEscaped(unsigned char code, Order order) {
  const unsigned char mask = MaskOf(order);
  if (PeekCode(mask) != code) return Broken(kOtherType);
  const size_t end = EscapedEnd(mask);
  if (end == key_.npos) return Broken(kCutOff);
  const BytesView body = key_.substr(position_ + 1, end - position_ - 2);
  Bytes value;
  if (mask == 0 && body.find(static_cast<char>(kEscape)) == body.npos) {
    value = body;
  } else {
    value.reserve(body.size());
    for (size_t i = 0; i < body.size(); ++i) {
      unsigned char byte = static_cast<unsigned char>(body[i]) ^ mask;
      if (byte == kEscape) {
        byte = ++i < body.size() ? static_cast<unsigned char>(body[i]) ^ mask : kNoCode;
        if (byte != kEscape && byte != kEscape + 1) return Broken(kNotCanonical);
        --byte;
      }
      value.push_back(static_cast<char>(byte));
    }
  }
  position_ = end;
  return value;
}

Result<Bytes> TupleReader::TakeText(Order order) { return TakeEscaped(tuple_codes::kText, order); }
Result<Bytes> TupleReader::TakeBytes(Order order) { return TakeEscaped(tuple_codes::kBytes, order); }

Result<Uuid> TupleReader::TakeUuid(Order order) {
  const unsigned char mask = MaskOf(order);
  if (PeekCode(mask) != tuple_codes::kUuid) return Broken(kOtherType);
  Uuid uuid;
  if (!HasPayload(uuid.bytes.size())) return Broken(kCutOff);
  for (size_t i = 0; i < uuid.bytes.size(); ++i) uuid.bytes[i] = ByteAt(position_ + 1 + i, mask);
  position_ += 1 + uuid.bytes.size();
  return uuid;
}

Result<Timestamp> TupleReader::TakeTime(Order order) {
  KVARTS_TRY(const uint64_t micros, TakeEightBytes(tuple_codes::kTime, order));
  return Timestamp{micros};
}

Status TupleReader::EnterTuple(Order order) {
  const unsigned char mask = MaskOf(order);
  if (PeekCode(mask) != tuple_codes::kTuple) return Broken(kOtherType);
  if (depth_ == kMaxTupleDepth) return Broken(kTooDeep);
  ++position_;
  ++depth_;
  frames_ = frames_ << 1 | (mask & 1);
  return {};
}

Status TupleReader::LeaveTuple() {
  if (position_ == key_.size()) return Broken(kCutOff);
  if (depth_ == 0 || !AtEnd()) return Broken(kOtherType);
  ++position_;
  --depth_;
  frames_ >>= 1;
  return {};
}

Result<BytesView> TupleReader::TakeTail() {
  if (depth_ > 0 || PeekCode(0) != tuple_codes::kTail) return Broken(kOtherType);
  const BytesView tail = key_.substr(position_ + 1);
  position_ = key_.size();
  return tail;
}

Result<Tuple> TupleReader::TakeNested(Order order) {
  KVARTS_CHECK_OK(EnterTuple(order));
  Tuple elements;
  while (!AtEnd()) {
    KVARTS_TRY(Element element, TakeElement());
    elements.push_back(std::move(element));
  }
  KVARTS_CHECK_OK(LeaveTuple());
  return elements;
}

Result<Element::Value> TupleReader::TakeValue(ElementType type, Order order) {
  const auto wrap = [](auto result) -> Result<Element::Value> {
    if (!result.has_value()) return std::move(result).error();
    return Element::Value(*std::move(result));
  };
  switch (type) {
    case ElementType::kNull:
      KVARTS_CHECK_OK(TakeNull(order));
      return Element::Value(Element::Null{});
    case ElementType::kBool:
      return wrap(TakeBool(order));
    case ElementType::kInt: {
      KVARTS_TRY(const Integer integer, TakeInteger(order));
      if (!integer.negative && integer.bits >= kSignBit) return Element::Value(integer.bits);
      return Element::Value(static_cast<int64_t>(integer.bits));
    }
    case ElementType::kDecimal:
      return wrap(TakeDecimal(order));
    case ElementType::kDouble:
      return wrap(TakeDouble(order));
    case ElementType::kText: {
      KVARTS_TRY(Bytes text, TakeText(order));
      return Element::Value(Element::Text{std::move(text)});
    }
    case ElementType::kBytes: {
      KVARTS_TRY(Bytes bytes, TakeBytes(order));
      return Element::Value(Element::Blob{std::move(bytes)});
    }
    case ElementType::kUuid:
      return wrap(TakeUuid(order));
    case ElementType::kTime:
      return wrap(TakeTime(order));
    case ElementType::kTuple:
      return wrap(TakeNested(order));
    case ElementType::kTail: {
      KVARTS_TRY(const BytesView tail, TakeTail());
      return Element::Value(Element::Tail{Bytes(tail)});
    }
  }
  return Broken(kUnknownCode);
}

inline std::optional<TupleReader::Kind> TupleReader::NextKind() const {
  const unsigned char code = PeekCode(MaskOf(Order::kAscending));
  const bool descending = code >= kFirstDescending;
  const unsigned char type = kTypes[descending ? code ^ 0xff : code];
  if (type == kNoType) return std::nullopt;
  const Kind kind{static_cast<ElementType>(type), descending ? Order::kDescending : Order::kAscending};
  if (kind.type == ElementType::kTail && (descending || depth_ > 0)) return std::nullopt;
  return kind;
}

Result<TupleReader::Kind> TupleReader::PeekKind() const {
  const auto kind = NextKind();
  if (!kind.has_value()) return Broken(position_ == key_.size() ? kCutOff : kUnknownCode);
  return *kind;
}

Result<Element> TupleReader::TakeElement() {
  KVARTS_TRY(const Kind kind, PeekKind());
  KVARTS_TRY(Element::Value value, TakeValue(kind.type, kind.order));
  return Element{std::move(value), kind.order};
}

Status TupleReader::Skip() {
  const auto kind = NextKind();
  if (!kind.has_value()) return PeekKind().error();
  const unsigned char mask = MaskOf(kind->order);
  size_t payload = 0;
  switch (kind->type) {
    case ElementType::kNull:
    case ElementType::kBool:
      break;
    case ElementType::kInt:
      payload = static_cast<size_t>(std::abs(PeekCode(mask) - kIntZero));
      break;
    case ElementType::kDecimal: {
      const Result<Decimal> decimal = TakeDecimal(kind->order);
      return decimal.has_value() ? Status() : decimal.error();
    }
    case ElementType::kDouble:
    case ElementType::kTime:
      payload = 8;
      break;
    case ElementType::kUuid:
      payload = sizeof(Uuid);
      break;
    case ElementType::kText:
    case ElementType::kBytes:
      payload = EscapedEnd(mask) - position_ - 1;
      break;
    case ElementType::kTuple:
      KVARTS_CHECK_OK(EnterTuple(kind->order));
      while (!AtEnd()) KVARTS_CHECK_OK(Skip());
      return LeaveTuple();
    case ElementType::kTail:
      payload = key_.size() - position_ - 1;
      break;
  }
  if (!HasPayload(payload)) return Broken(kCutOff);
  position_ += 1 + payload;
  return {};
}

bool TupleReader::AtEnd() const {
  if (position_ == key_.size()) return depth_ == 0;
  return depth_ > 0 && PeekCode(MaskOf(Order::kAscending)) == kEnd;
}

Status TupleReader::Finish() const {
  if (position_ != key_.size()) return Broken(kTrailing);
  if (depth_ > 0) return Broken(kCutOff);
  return {};
}

}  // namespace kvarts
