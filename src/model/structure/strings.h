// Strings: what commands do with the text of a key. Each of them makes an absent key when it changes something, keeps
// the expiry, and changes nothing when it is refused. To write what is there already is a change, too, but
// for a bit: who watches is told.
#pragma once

#include <functional>
#include <optional>

#include "model/structure/structures.h"

namespace kvarts::structure {

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

// Of a string, or of a key that is absent.
uint64_t SizeOfText(const Key& key);
using VisitPiece = std::function<bool(BytesView piece)>;
// From a place on so many bytes, or as many as there are, piece by piece until `visit` says false.
Status ForEachPiece(const Key& key, uint64_t at, uint64_t size, const VisitPiece& visit);
Result<Bytes> TextOf(const Key& key, uint64_t at = 0, uint64_t size = UINT64_MAX);

// From one place to another, both included; negative places count from the end. What that comes to in something of a
// size: where it begins, and how much it is.
struct Stretch {
  uint64_t at;
  uint64_t size;
};
Stretch StretchOf(uint64_t size, int64_t first, int64_t last);

}  // namespace kvarts::structure
