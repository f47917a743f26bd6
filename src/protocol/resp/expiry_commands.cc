// Commands on when keys expire.
#include "model/structure/refusals.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/expiry.h"
#include "protocol/resp/handlers.h"

namespace kvarts::resp {
namespace {

using structure::Key;

constexpr int64_t kNoKey = -2;
constexpr int64_t kNoExpiry = -1;

// What must hold of the expiry that there is: kNever counts as later than any.
struct Conditions {
  bool none = false;
  bool some = false;
  bool later = false;
  bool earlier = false;
};

Result<Conditions> ReadConditions(Arguments arguments) {
  Conditions conditions;
  for (const std::string_view word : arguments) {
    if (IsWord(word, "NX")) {
      conditions.none = true;
    } else if (IsWord(word, "XX")) {
      conditions.some = true;
    } else if (IsWord(word, "GT")) {
      conditions.later = true;
    } else if (IsWord(word, "LT")) {
      conditions.earlier = true;
    } else {
      return WrongWith("Unsupported option ", word);
    }
  }
  if (conditions.none && (conditions.some || conditions.later || conditions.earlier)) {
    return Wrong("NX and XX, GT or LT options at the same time are not compatible");
  }
  if (conditions.later && conditions.earlier) return Wrong("GT and LT options at the same time are not compatible");
  return conditions;
}

bool Hold(const Conditions& conditions, Timestamp is, Timestamp wanted) {
  if (conditions.none && is != kNever) return false;
  if (conditions.some && is == kNever) return false;
  if (conditions.later && wanted <= is) return false;
  return !conditions.earlier || wanted < is;
}

Status ExpireKey(DataCall& call, Unit unit, bool from_now, std::string_view command) {
  KVARTS_TRY(const Conditions conditions, ReadConditions(call.arguments.subspan(3)));
  const Timestamp now = call.keys.Now();
  KVARTS_TRY(const Timestamp when, TimeOf(call.arguments[2], unit, from_now ? &now : nullptr, command, true));
  KVARTS_TRY(Key * key, call.Open(1));
  const bool changes = key->exists() && Hold(conditions, key->expiry(), when);
  if (changes) {
    call.keys.Expire(*key, when);
    call.Tell(structure::kGenericEvents, key->exists() ? "expire" : "del", *key);
  }
  call.reply.Int(changes ? 1 : 0);
  return {};
}

// `show` makes of an expiry what is answered.
template <class Show>
Status ShowExpiry(DataCall& call, Show show) {
  KVARTS_TRY(const Key* key, call.OpenToRead(1));
  if (!key->exists()) {
    call.reply.Int(kNoKey);
  } else if (key->expiry() == kNever) {
    call.reply.Int(kNoExpiry);
  } else {
    call.reply.Int(show(MillisOf(key->expiry())));
  }
  return {};
}

int64_t Rounded(int64_t millis) { return (millis + 500) / 1000; }

}  // namespace

Status Expire(DataCall& call) { return ExpireKey(call, Unit::kSeconds, true, "expire"); }
Status ExpireAt(DataCall& call) { return ExpireKey(call, Unit::kSeconds, false, "expireat"); }
Status PExpire(DataCall& call) { return ExpireKey(call, Unit::kMillis, true, "pexpire"); }
Status PExpireAt(DataCall& call) { return ExpireKey(call, Unit::kMillis, false, "pexpireat"); }

Status Persist(DataCall& call) {
  KVARTS_TRY(Key * key, call.Open(1));
  const bool changes = key->exists() && key->expiry() != kNever;
  if (changes) {
    key->Persist();
    call.Tell(structure::kGenericEvents, "persist", *key);
  }
  call.reply.Int(changes ? 1 : 0);
  return {};
}

Status Ttl(DataCall& call) {
  const int64_t now = MillisOf(call.keys.Now());
  return ShowExpiry(call, [now](int64_t millis) { return Rounded(millis - now); });
}

Status PTtl(DataCall& call) {
  const int64_t now = MillisOf(call.keys.Now());
  return ShowExpiry(call, [now](int64_t millis) { return millis - now; });
}

Status ExpireTime(DataCall& call) { return ShowExpiry(call, Rounded); }

Status PExpireTime(DataCall& call) {
  return ShowExpiry(call, [](int64_t millis) { return millis; });
}

}  // namespace kvarts::resp
