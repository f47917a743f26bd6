// The bytes of the tuple codec that are constants: type codes, escapes and limits. FORMAT.md has
// the table with sizes, meaning and test vectors; the two are compared by a test.
//
// A code is never reused. Only codes from 0x01 to 0x7f may be given to types: a descending element
// is the complement of the ascending one, so its code is 0xff minus the code here, and a first byte
// from 0x80 on says that the element is descending.
#pragma once

#include <cstdint>

namespace kvarts {

enum class Order : unsigned char { kAscending, kDescending };

// In the order in which they sort at the same place of two tuples.
enum class ElementType : unsigned char {
  kNull,
  kBool,
  kInt,
  kDecimal,
  kDouble,
  kText,
  kBytes,
  kUuid,
  kTime,
  kTuple,
  kTail,
};

// How deep tuples may stand in tuples. What goes deeper is refused, by the encoder and the decoder.
constexpr int kMaxTupleDepth = 32;

namespace tuple_codes {

constexpr unsigned char kEnd = 0x00;  // of a text, bytes or a nested tuple; never a type
constexpr unsigned char kNull = 0x02;
constexpr unsigned char kFalse = 0x04;
constexpr unsigned char kTrue = 0x05;
constexpr unsigned char kIntZero = 0x14;  // ± the number of bytes that follow
constexpr unsigned char kIntMin = kIntZero - 8;
constexpr unsigned char kIntMax = kIntZero + 8;
constexpr unsigned char kDecimalNegative = 0x20;
constexpr unsigned char kDecimalZero = 0x21;
constexpr unsigned char kDecimalPositive = 0x22;
constexpr unsigned char kDouble = 0x28;
constexpr unsigned char kText = 0x30;
constexpr unsigned char kBytes = 0x38;
constexpr unsigned char kUuid = 0x40;
constexpr unsigned char kTime = 0x48;
constexpr unsigned char kTuple = 0x50;
constexpr unsigned char kTail = 0x70;  // has no descending form

// From here on a first byte means a descending element.
constexpr unsigned char kFirstDescending = 0x80;

// In text and bytes, 0x00 is written as kEscape 0x01 and 0x01 as kEscape 0x02, so that kEnd occurs
// at the end only.
constexpr unsigned char kEscape = 0x01;

// The bits of doubles: the sign bit, and the one NaN that is written.
constexpr uint64_t kSignBit = uint64_t{1} << 63;
constexpr uint64_t kNanBits = 0x7ff8'0000'0000'0000;

}  // namespace tuple_codes
}  // namespace kvarts
