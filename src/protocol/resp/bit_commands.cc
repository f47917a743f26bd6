// Commands on the bits of strings.
#include <algorithm>

#include "model/structure/bits.h"
#include "model/structure/strings.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/handlers.h"

namespace kvarts::resp {
namespace {

using structure::BitOperation;
using structure::Key;

constexpr const char* kWrongOffset = "bit offset is not an integer or out of range";

Result<uint64_t> OffsetOf(std::string_view argument, uint64_t max_bytes) {
  KVARTS_TRY(const int64_t bit, IntegerOf(argument, kWrongOffset));
  if (bit < 0 || static_cast<uint64_t>(bit) >> 3 >= max_bytes) return Wrong(kWrongOffset);
  return static_cast<uint64_t>(bit);
}

// Bits from one to another, both included; nothing when `first` is behind `last`.
struct Between {
  int64_t first;
  int64_t last;
};

// From and to which byte or bit; of so many bytes.
Between BitsBetween(int64_t first, int64_t last, int64_t unit, uint64_t bytes) {
  const int64_t units = static_cast<int64_t>(bytes) * 8 / unit;
  if (first < 0) first = std::max<int64_t>(first + units, 0);
  if (last < 0) last = std::max<int64_t>(last + units, 0);
  first = std::min(first, units);
  last = std::min(last, units - 1);
  return {first * unit, (last + 1) * unit - 1};
}

Result<int64_t> UnitOf(std::string_view argument) {
  if (IsWord(argument, "BIT")) return 1;
  if (IsWord(argument, "BYTE")) return 8;
  return Wrong(kSyntaxError);
}

// What is looked through between two bits, on a loop or not.
Status ExpectReading(const DataCall& call, Between bits) {
  return call.ExpectReading(static_cast<uint64_t>(std::max<int64_t>(bits.last - bits.first, 0)) / 8);
}

}  // namespace

Status GetBit(DataCall& call) {
  KVARTS_TRY(const uint64_t bit, OffsetOf(call.arguments[2], call.keys.max_text_bytes()));
  KVARTS_TRY(const Key* key, call.OpenToRead(1));
  KVARTS_TRY(const bool value, structure::BitAt(*key, bit));
  call.reply.Int(value ? 1 : 0);
  return {};
}

Status SetBit(DataCall& call) {
  KVARTS_TRY(const uint64_t bit, OffsetOf(call.arguments[2], call.keys.max_text_bytes()));
  constexpr const char* kWrongBit = "bit is not an integer or out of range";
  KVARTS_TRY(const int64_t value, IntegerOf(call.arguments[3], kWrongBit));
  if (value != 0 && value != 1) return Wrong(kWrongBit);
  KVARTS_TRY(Key * key, call.Open(1));
  const bool grows = structure::SizeOfText(*key) <= bit >> 3;
  KVARTS_TRY(const bool before, structure::SetBit(call.keys, *key, bit, value == 1));
  if (grows || before != (value == 1)) call.Tell(structure::kStringEvents, "setbit", *key);
  call.reply.Int(before ? 1 : 0);
  return {};
}

Status BitCount(DataCall& call) {
  KVARTS_TRY(const Key* key, call.OpenToRead(1));
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
  if (size == 5) {
    KVARTS_TRY(unit, UnitOf(call.arguments[4]));
  }
  const Between bits = BitsBetween(first, last, unit, structure::SizeOfText(*key));
  uint64_t count = 0;
  if (bits.first <= bits.last) {
    KVARTS_CHECK_OK(ExpectReading(call, bits));
    KVARTS_TRY(count, structure::CountBits(*key, static_cast<uint64_t>(bits.first), static_cast<uint64_t>(bits.last)));
  }
  call.reply.Int(static_cast<int64_t>(count));
  return {};
}

Status BitPos(DataCall& call) {
  const Arguments arguments = call.arguments;
  KVARTS_TRY(const int64_t wanted, IntegerOf(arguments[2]));
  if (wanted != 0 && wanted != 1) return Wrong("The bit argument must be 1 or 0.");
  KVARTS_TRY(const Key* key, call.OpenToRead(1));
  // What is not there is zeros without end.
  if (!key->exists()) {
    call.reply.Int(wanted == 1 ? -1 : 0);
    return {};
  }
  KVARTS_CHECK_OK(key->ExpectText());
  if (arguments.size() > 6) return Wrong(kSyntaxError);
  int64_t first = 0;
  int64_t last = -1;
  int64_t unit = 8;
  const bool has_end = arguments.size() > 4;
  if (arguments.size() > 3) {
    KVARTS_TRY(first, IntegerOf(arguments[3]));
  }
  if (arguments.size() == 6) {
    KVARTS_TRY(unit, UnitOf(arguments[5]));
  }
  if (has_end) {
    KVARTS_TRY(last, IntegerOf(arguments[4]));
  }
  const uint64_t size = structure::SizeOfText(*key);
  const Between bits = BitsBetween(first, last, unit, size);
  int64_t found = -1;
  if (bits.first <= bits.last) {
    KVARTS_CHECK_OK(ExpectReading(call, bits));
    KVARTS_TRY(
        const std::optional<uint64_t> at,
        structure::FindBit(*key, wanted == 1, static_cast<uint64_t>(bits.first), static_cast<uint64_t>(bits.last)));
    // Behind a string that is looked through to its end are zeros.
    const bool behind = !at && wanted == 0 && !has_end;
    if (at || behind) found = static_cast<int64_t>(at.value_or(size * 8));
  }
  call.reply.Int(found);
  return {};
}

Status BitOp(DataCall& call) {
  const Arguments arguments = call.arguments;
  BitOperation operation{};
  if (IsWord(arguments[1], "AND")) {
    operation = BitOperation::kAnd;
  } else if (IsWord(arguments[1], "OR")) {
    operation = BitOperation::kOr;
  } else if (IsWord(arguments[1], "XOR")) {
    operation = BitOperation::kXor;
  } else if (IsWord(arguments[1], "NOT")) {
    operation = BitOperation::kNot;
  } else {
    return Wrong(kSyntaxError);
  }
  if (operation == BitOperation::kNot && arguments.size() != 4) {
    return Wrong("BITOP NOT must be called with a single source key.");
  }
  std::vector<const Key*> from;
  uint64_t bytes = 0;
  for (size_t i = 3; i < arguments.size(); ++i) {
    KVARTS_TRY(from.emplace_back(), call.OpenToRead(i));
    KVARTS_CHECK_OK(from.back()->ExpectText());
    bytes += structure::SizeOfText(*from.back());
  }
  KVARTS_CHECK_OK(call.ExpectReading(bytes));
  KVARTS_TRY(Key * to, call.Open(2));
  const bool was_there = to->exists();
  KVARTS_TRY(const uint64_t size, structure::CombineBits(operation, from, to));
  if (size > 0) {
    call.Tell(structure::kStringEvents, "set", *to);
  } else if (was_there) {
    call.TellIfGone(*to);
  }
  call.reply.Int(static_cast<int64_t>(size));
  return {};
}

}  // namespace kvarts::resp
