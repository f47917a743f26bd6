// Commands on the bits of strings.
#include <algorithm>

#include "model/structure/strings.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/handlers.h"

namespace kvarts::resp {
namespace {

using structure::Key;

constexpr const char* kWrongOffset = "bit offset is not an integer or out of range";

Result<uint64_t> OffsetOf(std::string_view argument) {
  KVARTS_TRY(const int64_t bit, IntegerOf(argument, kWrongOffset));
  if (bit < 0 || static_cast<uint64_t>(bit) >> 3 >= structure::kMaxTextBytes) return Wrong(kWrongOffset);
  return static_cast<uint64_t>(bit);
}

uint64_t CountBetween(BytesView text, uint64_t first, uint64_t last) {
  uint64_t count = structure::CountBits(text.substr(first >> 3, (last >> 3) - (first >> 3) + 1));
  for (uint64_t bit = first & ~uint64_t{7}; bit < first; ++bit) count -= structure::BitAt(text, bit) ? 1 : 0;
  for (uint64_t bit = last + 1; (bit & 7) != 0; ++bit) count -= structure::BitAt(text, bit) ? 1 : 0;
  return count;
}

}  // namespace

Status GetBit(DataCall& call) {
  KVARTS_TRY(const uint64_t bit, OffsetOf(call.arguments[2]));
  KVARTS_TRY(const Key* key, call.Open(1));
  KVARTS_CHECK_OK(key->ExpectText());
  call.reply.Int(structure::BitAt(key->text(), bit) ? 1 : 0);
  return {};
}

Status SetBit(DataCall& call) {
  KVARTS_TRY(const uint64_t bit, OffsetOf(call.arguments[2]));
  constexpr const char* kWrongBit = "bit is not an integer or out of range";
  KVARTS_TRY(const int64_t value, IntegerOf(call.arguments[3], kWrongBit));
  if (value != 0 && value != 1) return Wrong(kWrongBit);
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(const bool before, structure::SetBit(call.keys, *key, bit, value == 1));
  call.reply.Int(before ? 1 : 0);
  return {};
}

Status BitCount(DataCall& call) {
  KVARTS_TRY(const Key* key, call.Open(1));
  KVARTS_CHECK_OK(key->ExpectText());
  // Of what is not there nobody asks any further.
  if (!key->exists()) {
    call.reply.Int(0);
    return {};
  }
  const size_t size = call.arguments.size();
  if (size == 3 || size > 5) return Wrong(kSyntaxError);
  int64_t first = 0;
  int64_t last = -1;
  int64_t unit = 8;
  if (size >= 4) {
    KVARTS_TRY(first, IntegerOf(call.arguments[2]));
    KVARTS_TRY(last, IntegerOf(call.arguments[3]));
  }
  if (first < 0 && last < 0 && first > last) {
    call.reply.Int(0);
    return {};
  }
  if (size == 5 && IsWord(call.arguments[4], "BIT")) {
    unit = 1;
  } else if (size == 5 && !IsWord(call.arguments[4], "BYTE")) {
    return Wrong(kSyntaxError);
  }
  const BytesView text = key->text();
  const auto units = static_cast<int64_t>(text.size()) * 8 / unit;
  if (first < 0) first = std::max<int64_t>(first + units, 0);
  if (last < 0) last = std::max<int64_t>(last + units, 0);
  last = std::min(last, units - 1);
  const auto from = static_cast<uint64_t>(first * unit);
  const auto to = static_cast<uint64_t>((last + 1) * unit - 1);
  call.reply.Int(first > last ? 0 : static_cast<int64_t>(CountBetween(text, from, to)));
  return {};
}

}  // namespace kvarts::resp
