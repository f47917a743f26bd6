// BITFIELD and BITFIELD_RO: small numbers in the bits of a string.
#include <algorithm>

#include "model/structure/bits.h"
#include "model/structure/strings.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/handlers.h"

namespace kvarts::resp {
namespace {

using structure::BitField;
using structure::BitOverflow;
using structure::Key;

struct Step {
  enum class What : uint8_t { kGet, kSet, kIncrement } what;
  BitField field;
  int64_t number = 0;
  BitOverflow overflow = BitOverflow::kWrap;
};

Result<BitField> FieldOf(std::string_view type, std::string_view offset, uint64_t max_bytes) {
  constexpr const char* kWrongType =
      "Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.";
  constexpr const char* kWrongOffset = "bit offset is not an integer or out of range";
  constexpr int64_t kMostBits = 64;
  BitField field{};
  field.has_sign = type.starts_with('i');
  if (!field.has_sign && !type.starts_with('u')) return Wrong(kWrongType);
  KVARTS_TRY(const int64_t bits, IntegerOf(type.substr(1), kWrongType));
  if (bits < 1 || bits > (field.has_sign ? kMostBits : kMostBits - 1)) return Wrong(kWrongType);
  field.bits = static_cast<uint64_t>(bits);
  // In bits, or in numbers of this kind.
  const bool counted = offset.starts_with('#');
  KVARTS_TRY(int64_t at, IntegerOf(offset.substr(counted ? 1 : 0), kWrongOffset));
  if (counted && __builtin_mul_overflow(at, bits, &at)) return Wrong(kWrongOffset);
  if (at < 0 || static_cast<uint64_t>(at) >> 3 >= max_bytes) return Wrong(kWrongOffset);
  field.at = static_cast<uint64_t>(at);
  return field;
}

Result<BitOverflow> OverflowOf(std::string_view argument) {
  if (IsWord(argument, "WRAP")) return BitOverflow::kWrap;
  if (IsWord(argument, "SAT")) return BitOverflow::kSaturate;
  if (IsWord(argument, "FAIL")) return BitOverflow::kFail;
  return Wrong("Invalid OVERFLOW type specified");
}

Result<std::vector<Step>> ReadSteps(const DataCall& call) {
  const Arguments arguments = call.arguments;
  std::vector<Step> steps;
  BitOverflow overflow = BitOverflow::kWrap;
  for (size_t i = 2; i < arguments.size();) {
    const size_t behind = arguments.size() - i - 1;
    if (IsWord(arguments[i], "OVERFLOW") && behind >= 1) {
      KVARTS_TRY(overflow, OverflowOf(arguments[i + 1]));
      i += 2;
      continue;
    }
    Step step{};
    step.overflow = overflow;
    size_t taken = 3;
    if (IsWord(arguments[i], "GET") && behind >= 2) {
      step.what = Step::What::kGet;
      taken = 2;
    } else if (IsWord(arguments[i], "SET") && behind >= taken) {
      step.what = Step::What::kSet;
    } else if (IsWord(arguments[i], "INCRBY") && behind >= taken) {
      step.what = Step::What::kIncrement;
    } else {
      return Wrong(kSyntaxError);
    }
    KVARTS_TRY(step.field, FieldOf(arguments[i + 1], arguments[i + 2], call.keys.max_text_bytes()));
    if (step.what != Step::What::kGet) {
      KVARTS_TRY(step.number, IntegerOf(arguments[i + 3]));
    }
    steps.push_back(step);
    i += 1 + taken;
  }
  return steps;
}

// Writes what a step makes of a number, and answers.
Status TakeStep(DataCall& call, Key& key, const Step& step, bool grown, bool* changed) {
  KVARTS_TRY(const int64_t before, structure::ReadBits(key, step.field));
  if (step.what == Step::What::kGet) {
    call.reply.Int(before);
    return {};
  }
  const bool adds = step.what == Step::What::kIncrement;
  const std::optional<int64_t> now = adds ? structure::AddToBits(step.field, before, step.number, step.overflow)
                                          : structure::FitBits(step.field, step.number, step.overflow);
  if (!now) {
    call.reply.Null();
    return {};
  }
  KVARTS_CHECK_OK(structure::WriteBits(key, step.field, *now));
  *changed = *changed || grown || *now != before;
  call.reply.Int(adds ? *now : before);
  return {};
}

Status RunSteps(DataCall& call, bool only_reads) {
  KVARTS_TRY(const std::vector<Step> steps, ReadSteps(call));
  uint64_t bytes = 0;
  for (const Step& step : steps) {
    if (step.what != Step::What::kGet) bytes = std::max(bytes, step.field.last_byte() + 1);
  }
  if (bytes > 0 && only_reads) return Wrong("BITFIELD_RO only supports the GET subcommand");
  KVARTS_TRY(Key * key, bytes > 0 ? call.Open(1) : call.OpenToRead(1));
  KVARTS_CHECK_OK(key->ExpectText());
  const bool grown = bytes > structure::SizeOfText(*key);
  const bool made = grown && !key->exists();
  bool changed = false;
  if (bytes > 0) {
    KVARTS_CHECK_OK(structure::CheckTextSize(call.keys, bytes));
    if (bytes > structure::SizeOfText(*key)) KVARTS_CHECK_OK(key->GrowText(bytes));
  }
  call.reply.Array(steps.size());
  for (const Step& step : steps) KVARTS_CHECK_OK(TakeStep(call, *key, step, grown, &changed));
  if (made) call.keys.TellNew(call.database, *key);
  if (changed) call.Tell(structure::kStringEvents, "setbit", *key);
  return {};
}

}  // namespace

Status BitField(DataCall& call) { return RunSteps(call, false); }
Status BitFieldRo(DataCall& call) { return RunSteps(call, true); }

}  // namespace kvarts::resp
