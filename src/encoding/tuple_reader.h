// TupleReader: takes the elements of a tuple off a key, in the order and with the types and
// directions with which TupleWriter wrote them.
//
//   TupleReader reader(key);
//   KVARTS_TRY(const int64_t table, reader.TakeInt());
//   KVARTS_TRY(const Timestamp due, reader.TakeTime(Order::kDescending));
//   KVARTS_CHECK_OK(reader.Finish());
//
// It is strict: every value has one encoding, and anything else is refused as kCorruption. So what
// it accepts encodes back to the same bytes. It may be given any bytes, and reads none beyond them.
// After an error it must not be used any more. It borrows the key.
#pragma once

#include <optional>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/uuid.h"
#include "encoding/decimal.h"
#include "encoding/element.h"
#include "encoding/tuple_codes.h"

namespace kvarts {

class TupleReader {
 public:
  explicit TupleReader(BytesView key) : key_(key) {}

  Status TakeNull(Order order = Order::kAscending);
  Result<bool> TakeBool(Order order = Order::kAscending);
  Result<int64_t> TakeInt(Order order = Order::kAscending);
  Result<uint64_t> TakeUint(Order order = Order::kAscending);
  Result<Decimal> TakeDecimal(Order order = Order::kAscending);
  Result<double> TakeDouble(Order order = Order::kAscending);
  Result<Bytes> TakeText(Order order = Order::kAscending);
  Result<Bytes> TakeBytes(Order order = Order::kAscending);
  Result<Uuid> TakeUuid(Order order = Order::kAscending);
  Result<Timestamp> TakeTime(Order order = Order::kAscending);
  // Goes into a nested tuple; its elements are taken like any, then LeaveTuple goes out again.
  Status EnterTuple(Order order = Order::kAscending);
  Status LeaveTuple();
  // The rest of the key, as it stands there.
  Result<BytesView> TakeTail();

  // Whatever comes next.
  Result<Element> TakeElement();
  // Goes past whatever comes next, without looking at more of it than finding its end takes.
  Status Skip();

  // Whether no element is left: in the nested tuple that was entered last, or in the key.
  bool AtEnd() const;
  // The type and direction of what comes next.
  struct Kind {
    ElementType type;
    Order order;
  };
  Result<Kind> PeekKind() const;
  // How many bytes of the key were taken.
  size_t position() const { return position_; }
  // That nothing is left.
  Status Finish() const;

 private:
  // Complements or leaves a byte, like TupleWriter's mask.
  unsigned char MaskOf(Order order) const {
    const bool flip = ((frames_ & 1) != 0) != (order == Order::kDescending);
    return flip ? 0xff : 0x00;
  }
  unsigned char ByteAt(size_t position, unsigned char mask) const {
    return static_cast<unsigned char>(key_[position]) ^ mask;
  }
  Error Broken(const char* text) const;
  // The type code of what comes next; 0xff, which is none, at the end of the key.
  unsigned char PeekCode(unsigned char mask) const;
  // PeekKind without an error: nothing where there is no element.
  std::optional<Kind> NextKind() const;
  // Whether `size` bytes follow the type code.
  bool HasPayload(size_t size) const { return key_.size() - position_ > size; }
  // The number in the `size` bytes behind the type code, which must be there.
  uint64_t PayloadNumber(size_t size, unsigned char mask) const;
  Result<uint64_t> TakeEightBytes(unsigned char code, Order order);
  struct Integer {
    bool negative;
    uint64_t bits;  // two's complement if negative
  };
  Result<Integer> TakeInteger(Order order);
  Result<Decimal> TakeMagnitude(bool negative, unsigned char mask);
  Result<Bytes> TakeEscaped(unsigned char code, Order order);
  Result<Element::Value> TakeValue(ElementType type, Order order);
  Result<Tuple> TakeNested(Order order);
  // The position behind the kEnd of the text or bytes that come next, or npos.
  size_t EscapedEnd(unsigned char mask) const;

  BytesView key_;
  size_t position_ = 0;
  uint64_t frames_ = 0;  // a bit per entered tuple, the innermost lowest: whether complemented
  int depth_ = 0;
};

}  // namespace kvarts
