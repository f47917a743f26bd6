// Commands on when fields of hashes expire, as Redis 7.4 has them.
#include <algorithm>

#include "model/structure/refusals.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/expiry.h"
#include "protocol/resp/handlers.h"

namespace kvarts::resp {
namespace {

using structure::Key;
using structure::Members;

// What is answered for each field.
constexpr int64_t kNoField = -2;
constexpr int64_t kNoExpiry = -1;
constexpr int64_t kNotMet = 0;
constexpr int64_t kChanged = 1;
constexpr int64_t kGone = 2;

// Redis' clock of fields has 46 bits of milliseconds.
constexpr int64_t kLastMillis = (int64_t{1} << 46) - 1;

enum class Condition : uint8_t { kAlways, kNone, kSome, kLater, kEarlier };

Condition ConditionOf(std::string_view word) {
  if (IsWord(word, "NX")) return Condition::kNone;
  if (IsWord(word, "XX")) return Condition::kSome;
  if (IsWord(word, "GT")) return Condition::kLater;
  if (IsWord(word, "LT")) return Condition::kEarlier;
  return Condition::kAlways;
}

// A field without an expiry lives longer than any.
bool Holds(Condition condition, Timestamp is, Timestamp wanted) {
  switch (condition) {
    case Condition::kAlways:
      return true;
    case Condition::kNone:
      return is == kNever;
    case Condition::kSome:
      return is != kNever;
    case Condition::kLater:
      return is != kNever && wanted > is;
    case Condition::kEarlier:
      return wanted < is;
  }
  return false;
}

// FIELDS, their number, and as many of them.
Result<Arguments> FieldsOf(Arguments arguments, const char* wrong_count) {
  if (arguments.empty() || !IsWord(arguments[0], "FIELDS")) {
    return Wrong("Mandatory argument FIELDS is missing or not at the right position");
  }
  if (arguments.size() < 2) return Wrong(wrong_count);
  KVARTS_TRY(const int64_t count, IntegerOf(arguments[1], wrong_count));
  if (count < 1) return Wrong(wrong_count);
  if (static_cast<uint64_t>(count) != arguments.size() - 2) {
    return Wrong("The `numfields` parameter must match the number of arguments");
  }
  return arguments.subspan(2);
}

Result<Timestamp> WhenOf(std::string_view argument, Unit unit, int64_t since, std::string_view command) {
  KVARTS_TRY(int64_t millis, IntegerOf(argument));
  if (millis < 0) return Wrong("invalid expire time, must be >= 0");
  if (unit == Unit::kSeconds && __builtin_mul_overflow(millis, 1000, &millis)) return WrongExpire(command);
  if (millis > kLastMillis - since) return WrongExpire(command);
  return std::min(Timestamp{static_cast<uint64_t>(millis + since) * 1000}, kLastTimestamp);
}

// What becomes of a field that is there.
Result<int64_t> ExpireField(DataCall& call, Members& hash, std::string_view field, Timestamp when,
                            Condition condition) {
  KVARTS_TRY(const std::optional<Timestamp> is, hash.ExpiryOf(field));
  if (!is) return kNoField;
  if (!Holds(condition, *is, when)) return kNotMet;
  if (when <= call.keys.Now()) {
    KVARTS_CHECK_OK(hash.Erase(field));
    return kGone;
  }
  KVARTS_CHECK_OK(hash.SetExpiry(field, when));
  return kChanged;
}

Status ExpireFields(DataCall& call, Unit unit, bool from_now, std::string_view command) {
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(Members * hash, key->As<Members>(structure::Type::kHash));
  const int64_t since = from_now ? MillisOf(call.keys.Now()) : 0;
  KVARTS_TRY(const Timestamp when, WhenOf(call.arguments[2], unit, since, command));
  const Condition condition = ConditionOf(call.arguments[3]);
  KVARTS_TRY(const Arguments fields, FieldsOf(call.arguments.subspan(condition == Condition::kAlways ? 3 : 4),
                                              "Parameter `numFields` should be greater than 0"));
  call.reply.Array(fields.size());
  bool changed = false;
  for (const std::string_view field : fields) {
    int64_t answer = kNoField;
    if (hash != nullptr) {
      KVARTS_TRY(answer, ExpireField(call, *hash, field, when, condition));
    }
    changed = changed || answer > kNotMet;
    call.reply.Int(answer);
  }
  if (!changed) return {};
  key->Changed();
  call.Tell(structure::kHashEvents, "hexpire", *key);
  call.TellIfGone(*key);
  return {};
}

Result<Arguments> FieldsAskedFor(const DataCall& call) {
  return FieldsOf(call.arguments.subspan(2), "Number of fields must be a positive integer");
}

// `show` makes of an expiry what is answered.
template <class Show>
Status ShowFields(DataCall& call, Show show) {
  KVARTS_TRY(Key * key, call.OpenToRead(1));
  KVARTS_TRY(Members * hash, key->As<Members>(structure::Type::kHash));
  KVARTS_TRY(const Arguments fields, FieldsAskedFor(call));
  call.reply.Array(fields.size());
  for (const std::string_view field : fields) {
    std::optional<Timestamp> expiry;
    if (hash != nullptr) {
      KVARTS_TRY(expiry, hash->ExpiryOf(field));
    }
    if (!expiry) {
      call.reply.Int(kNoField);
    } else {
      call.reply.Int(*expiry == kNever ? kNoExpiry : show(MillisOf(*expiry)));
    }
  }
  return {};
}

int64_t RoundedUp(int64_t millis) { return (millis + 999) / 1000; }

}  // namespace

Status HExpire(DataCall& call) { return ExpireFields(call, Unit::kSeconds, true, "hexpire"); }
Status HExpireAt(DataCall& call) { return ExpireFields(call, Unit::kSeconds, false, "hexpireat"); }
Status HPExpire(DataCall& call) { return ExpireFields(call, Unit::kMillis, true, "hpexpire"); }
Status HPExpireAt(DataCall& call) { return ExpireFields(call, Unit::kMillis, false, "hpexpireat"); }

Status HTtl(DataCall& call) {
  const int64_t now = MillisOf(call.keys.Now());
  return ShowFields(call, [now](int64_t millis) { return RoundedUp(millis - now); });
}

Status HPTtl(DataCall& call) {
  const int64_t now = MillisOf(call.keys.Now());
  return ShowFields(call, [now](int64_t millis) { return millis - now; });
}

Status HExpireTime(DataCall& call) { return ShowFields(call, RoundedUp); }

Status HPExpireTime(DataCall& call) {
  return ShowFields(call, [](int64_t millis) { return millis; });
}

Status HPersist(DataCall& call) {
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(Members * hash, key->As<Members>(structure::Type::kHash));
  KVARTS_TRY(const Arguments fields, FieldsAskedFor(call));
  call.reply.Array(fields.size());
  bool changed = false;
  for (const std::string_view field : fields) {
    std::optional<Timestamp> expiry;
    if (hash != nullptr) {
      KVARTS_TRY(expiry, hash->ExpiryOf(field));
    }
    const bool has_expiry = expiry && *expiry != kNever;
    if (has_expiry) KVARTS_CHECK_OK(hash->SetExpiry(field, kNever));
    changed = changed || has_expiry;
    call.reply.Int(!expiry ? kNoField : has_expiry ? kChanged : kNoExpiry);
  }
  if (!changed) return {};
  key->Changed();
  call.Tell(structure::kHashEvents, "hpersist", *key);
  return {};
}

}  // namespace kvarts::resp
