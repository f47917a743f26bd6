// Strings: what commands do with the text of a key. Each of them makes an absent key when it changes something, keeps
// the expiry, and changes nothing when it is refused. To write what is there already is a change, too, but
// for a bit: who watches is told.
#pragma once

#include <optional>
#include <span>

#include "model/structure/structures.h"

namespace kvarts::structure {

// The longest text; Limits::max_value_bytes may allow less.
constexpr uint64_t kMaxTextBytes = 512 << 20;

// As Redis reads an integer: no plus, no leading zeros, no blanks.
std::optional<int64_t> ParseInteger(BytesView text);
// As Redis reads a float: any that strtold takes as a whole, but no NaN and nothing around it.
std::optional<long double> ParseFloat(BytesView text);
// With 17 digits behind the point, without zeros at the end and without an exponent.
Bytes FloatText(long double number);

// `invalid_argument` (kTooLong) beyond what a text may have.
Status CheckTextSize(Structures& keys, uint64_t bytes);

Result<int64_t> IncrementBy(Key& key, int64_t by);
// The text that is there afterwards.
Result<Bytes> IncrementByFloat(Key& key, long double by);
// The size afterwards.
Result<uint64_t> Append(Structures& keys, Key& key, BytesView text);
Result<uint64_t> SetRange(Structures& keys, Key& key, uint64_t at, BytesView text);
// From one place to another, both included; negative places count from the end.
BytesView RangeOf(const Bytes& text, int64_t first, int64_t last);

// Bits count from the highest of the first byte.
bool BitAt(BytesView text, uint64_t bit);
// What it was.
Result<bool> SetBit(Structures& keys, Key& key, uint64_t bit, bool value);
uint64_t CountBits(BytesView text);

}  // namespace kvarts::structure
