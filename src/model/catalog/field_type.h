// The types that a field of a key can have. Each has one spelling for each value, and its byte order is the order of
// its values: so a range of values is a range of keys, and two keys are equal when their fields are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"

namespace kvarts {

enum class FieldKind : uint8_t {
  kText,         // one or more bytes, up to the literal that follows
  kPath,         // one or more bytes of any kind, to the end of the key
  kUuid,         // 8-4-4-4-12 lower-case hex digits
  kInt,          // so many decimal digits, filled up with zeros
  kHex,          // so many lower-case hex digits
  kDate,         // 2026-07-05, a day that there is
  kTimestamp,    // 2026-07-05T10:15:30Z
  kTimestampMs,  // 2026-07-05T10:15:30.123Z
  kTimestampUs,  // 2026-07-05T10:15:30.123456Z
};

struct FieldType {
  static constexpr unsigned kMaxIntDigits = 19;
  static constexpr unsigned kMaxHexDigits = 128;

  FieldKind kind = FieldKind::kText;
  uint8_t digits = 0;  // of kInt and kHex

  // "int(10)", and back.
  std::string ToString() const;
  static std::optional<FieldType> Parse(std::string_view text);

  // How many bytes a value has; 0 when that is for the value to say.
  size_t width() const { return Pattern().size(); }
  // Whether values are days or instants.
  bool IsTime() const { return kind >= FieldKind::kDate; }
  // Of a type with a width: what each byte of a value must be: d a decimal digit, x a hex digit, anything else itself.
  std::string_view Pattern() const;
  // For people: "YYYY-MM-DD, a day that there is".
  std::string Expected() const;

  // Of a type with a width. `bytes` begin where a value should. Its size if there is one; else how many bytes are fit
  // to begin a value, plainly fewer than the width.
  struct Checked {
    bool ok;
    size_t good;
  };
  Checked Check(BytesView bytes) const;

  // Of a time: the value that a given instant lies in.
  std::string ValueAt(Timestamp time) const;

  friend bool operator==(FieldType, FieldType) = default;
};

}  // namespace kvarts
