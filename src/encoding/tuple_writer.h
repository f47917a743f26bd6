// TupleWriter: appends the elements of a tuple to a key, so that the byte order of keys is the
// order of their tuples.
//
//   KeyBuffer key;
//   TupleWriter(&key).Int(3).Text("orders").Time(due, Order::kDescending).Tail(raw);
//
// Elements compare from left to right, a tuple before those that extend it; elements of different
// types compare by their type (see ElementType), never by value: the integer 2 sorts before the
// decimal 1. An element that is descending sorts after all ascending ones at its place.
//
// The encoding of an element is never a prefix of another's (the tail's excepted). So the keys that
// extend a tuple are exactly those that begin with its bytes, and KeyRange::Prefix finds them.
//
// It writes what it is given: that nothing follows a tail, and that every Begin has its End, is for
// the code to see to; EncodeTuple checks elements that come from outside.
#pragma once

#include <bit>
#include <cassert>
#include <cmath>
#include <type_traits>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "encoding/decimal.h"
#include "encoding/key_buffer.h"
#include "encoding/tuple_codes.h"

namespace kvarts {

namespace tuple_codes {
// ASCII alone, and nothing to escape: what is written as it is. What most texts are.
bool IsPlainText(BytesView value);
}  // namespace tuple_codes

// A Sink is Bytes or KeyBuffer.
template <class Sink>
class TupleWriter {
 public:
  explicit TupleWriter(Sink* to) : to_(to) {}

  TupleWriter& Null(Order order = Order::kAscending) { return PutCode(tuple_codes::kNull, MaskOf(order)); }
  TupleWriter& Bool(bool value, Order order = Order::kAscending) {
    return PutCode(value ? tuple_codes::kTrue : tuple_codes::kFalse, MaskOf(order));
  }
  TupleWriter& Int(int64_t value, Order order = Order::kAscending) {
    return value >= 0 ? PutPositive(static_cast<uint64_t>(value), MaskOf(order))
                      : PutNegative(static_cast<uint64_t>(value), MaskOf(order));
  }
  // The same type as Int, which it continues beyond the largest int64_t.
  TupleWriter& Uint(uint64_t value, Order order = Order::kAscending) { return PutPositive(value, MaskOf(order)); }
  TupleWriter& Decimal(const kvarts::Decimal& value, Order order = Order::kAscending);
  // -0.0 is written as 0.0, which it equals, and every NaN as the same one, which sorts last.
  TupleWriter& Double(double value, Order order = Order::kAscending) {
    uint64_t bits = std::isnan(value) ? tuple_codes::kNanBits : std::bit_cast<uint64_t>(value);
    if (value == 0) bits = 0;
    const bool negative = (bits & tuple_codes::kSignBit) != 0;
    const uint64_t ordered = negative ? ~bits : bits ^ tuple_codes::kSignBit;
    return PutShort(tuple_codes::kDouble, ordered, 8, MaskOf(order));
  }
  // Text should be UTF-8, whose byte order is the order of code points. That is not checked here,
  // but where text enters the system.
  TupleWriter& Text(BytesView value, Order order = Order::kAscending) {
    return PutEscaped(tuple_codes::kText, value, MaskOf(order)).PutCode(tuple_codes::kEnd, MaskOf(order));
  }
  // A text from outside: false, and nothing is written, when it is not UTF-8.
  [[gnu::always_inline]] bool CheckedText(BytesView value, Order order = Order::kAscending) {
    if (MaskOf(order) != 0 || !tuple_codes::IsPlainText(value)) [[unlikely]]
      return CheckedOther(value, order);
    PutPlain(tuple_codes::kText, value);
    return true;
  }
  TupleWriter& Bytes(BytesView value, Order order = Order::kAscending) {
    return PutEscaped(tuple_codes::kBytes, value, MaskOf(order)).PutCode(tuple_codes::kEnd, MaskOf(order));
  }
  TupleWriter& Uuid(const kvarts::Uuid& value, Order order = Order::kAscending);
  TupleWriter& Time(Timestamp value, Order order = Order::kAscending) {
    return PutShort(tuple_codes::kTime, value.micros, 8, MaskOf(order));
  }

  // A tuple inside the tuple: everything up to its End belongs to it. In a descending one all is
  // reversed, so a descending element of it ascends.
  TupleWriter& Begin(Order order = Order::kAscending) {
    assert(depth_ < kMaxTupleDepth);
    const uint64_t mask = MaskOf(order);
    frames_ = frames_ << 1 | (mask & 1);
    ++depth_;
    return PutCode(tuple_codes::kTuple, mask);
  }
  TupleWriter& End() {
    assert(depth_ > 0);
    const uint64_t mask = MaskOf(Order::kAscending);
    frames_ >>= 1;
    --depth_;
    return PutCode(tuple_codes::kEnd, mask);
  }

  // The bytes as they are, up to the end of the key: ascending, last, and not in a nested tuple.
  TupleWriter& Tail(BytesView value) {
    assert(depth_ == 0);
    PutCode(tuple_codes::kTail, 0);
    to_->append(value.data(), value.size());
    return *this;
  }

  // The beginning of a text or of bytes: a prefix of every key that goes on with a value beginning
  // with `value`. It makes the bounds of scans; nothing may follow, and it does not decode.
  TupleWriter& TextPrefix(BytesView value, Order order = Order::kAscending) {
    return PutEscaped(tuple_codes::kText, value, MaskOf(order));
  }
  TupleWriter& BytesPrefix(BytesView value, Order order = Order::kAscending) {
    return PutEscaped(tuple_codes::kBytes, value, MaskOf(order));
  }

 private:
  // All ones where the bytes are to be complemented: for a descending element of an ascending
  // tuple, or an ascending one of a descending tuple.
  uint64_t MaskOf(Order order) const { return -((frames_ ^ static_cast<uint64_t>(order == Order::kDescending)) & 1); }

  TupleWriter& PutCode(unsigned char code, uint64_t mask) {
    to_->push_back(static_cast<char>(code ^ (mask & 0xff)));
    return *this;
  }

  TupleWriter& PutPositive(uint64_t value, uint64_t mask) {
    const int size = ByteCount(value);
    return PutShort(tuple_codes::kIntZero + size, value, size, mask);
  }
  // The number minus one in `size` bytes of two's complement, so that larger magnitudes sort first.
  TupleWriter& PutNegative(uint64_t value, uint64_t mask) {
    const int size = ByteCount(-value);
    return PutShort(tuple_codes::kIntZero - size, value - 1, size, mask);
  }

  static int ByteCount(uint64_t value) { return (std::bit_width(value) + 7) / 8; }

  // A code and the lowest `size` bytes of a number.
  TupleWriter& PutShort(int code, uint64_t value, int size, uint64_t mask) {
    const auto first = static_cast<char>(static_cast<unsigned>(code) ^ (mask & 0xff));
    const uint64_t rest = (size == 0 ? 0 : value << (64 - 8 * size)) ^ mask;
    const auto rest_size = static_cast<size_t>(size);
    if constexpr (std::is_same_v<Sink, KeyBuffer>) {
      char* out = to_->Room(1 + sizeof(rest));
      out[0] = first;
      StoreBig(out + 1, rest);
      to_->Commit(1 + rest_size);
    } else {
      char bytes[sizeof(rest)];
      StoreBig(bytes, rest);
      to_->push_back(first);
      to_->append(bytes, rest_size);
    }
    return *this;
  }

  // A code, bytes of which none has to be escaped, and their end; ascending.
  void PutPlain(unsigned char code, BytesView value) {
    if constexpr (std::is_same_v<Sink, KeyBuffer>) {
      char* const out = to_->Room(value.size() + 2);
      out[0] = static_cast<char>(code);
      value.copy(out + 1, value.size());
      out[value.size() + 1] = static_cast<char>(tuple_codes::kEnd);
      to_->Commit(value.size() + 2);
    } else {
      PutCode(code, 0);
      to_->append(value);
      PutCode(tuple_codes::kEnd, 0);
    }
  }

  bool CheckedOther(BytesView text, Order order);
  TupleWriter& PutEscaped(unsigned char code, BytesView value, uint64_t mask);
  TupleWriter& PutMasked(unsigned char* bytes, size_t size, uint64_t mask);

  Sink* to_;
  uint64_t frames_ = 0;  // a bit per open tuple, the innermost lowest: whether it is complemented
  int depth_ = 0;
};

}  // namespace kvarts
