// Commands on strings.
#include <algorithm>
#include <limits>
#include <optional>

#include "model/structure/refusals.h"
#include "model/structure/strings.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/expiry.h"
#include "protocol/resp/handlers.h"

namespace kvarts::resp {
namespace {

using structure::Key;

// What an option such as EX with its value says of an expiry.
struct ExpiryOption {
  std::string_view word;
  Unit unit;
  bool from_now;
};
constexpr ExpiryOption kExpiryOptions[] = {
    {"EX", Unit::kSeconds, true},
    {"PX", Unit::kMillis, true},
    {"EXAT", Unit::kSeconds, false},
    {"PXAT", Unit::kMillis, false},
};

const ExpiryOption* FindExpiryOption(std::string_view argument) {
  for (const ExpiryOption& option : kExpiryOptions) {
    if (IsWord(argument, option.word)) return &option;
  }
  return nullptr;
}

// Options of SET and GETEX, in the order in which they come.
struct Options {
  bool if_absent = false;
  bool if_present = false;
  bool get = false;
  bool keep = false;
  bool persist = false;
  const ExpiryOption* expiry = nullptr;
  std::string_view time = {};
};

constexpr uint32_t kOfSet = 1;
constexpr uint32_t kOfGetEx = 2;

Result<Options> ReadOptions(Arguments arguments, uint32_t of) {
  Options options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    const bool set = of == kOfSet;
    const bool no_time = options.expiry == nullptr && !options.keep && !options.persist;
    const ExpiryOption* expiry = FindExpiryOption(word);
    if (set && IsWord(word, "NX") && !options.if_present) {
      options.if_absent = true;
    } else if (set && IsWord(word, "XX") && !options.if_absent) {
      options.if_present = true;
    } else if (set && IsWord(word, "GET")) {
      options.get = true;
    } else if (set && IsWord(word, "KEEPTTL") && options.expiry == nullptr && !options.persist) {
      options.keep = true;
    } else if (!set && IsWord(word, "PERSIST") && options.expiry == nullptr && !options.keep) {
      options.persist = true;
    } else if (expiry != nullptr && no_time && i + 1 < arguments.size()) {
      options.expiry = expiry;
      options.time = arguments[++i];
    } else {
      return Wrong(kSyntaxError);
    }
  }
  return options;
}

Result<Timestamp> ExpiryOf(DataCall& call, const Options& options, std::string_view command) {
  if (options.expiry == nullptr) return kNever;
  const Timestamp now = call.keys.Now();
  return TimeOf(options.time, options.expiry->unit, options.expiry->from_now ? &now : nullptr, command);
}

Status ReplyPart(DataCall& call, const Key& key, structure::Stretch part) {
  KVARTS_CHECK_OK(call.ExpectAnswer(part.size));
  call.reply.BeginBulk(part.size);
  KVARTS_CHECK_OK(structure::ForEachPiece(key, part.at, part.size, [&call](BytesView piece) {
    call.reply.out().append(piece);
    return true;
  }));
  call.reply.EndBulk();
  return {};
}

Status ReplyText(DataCall& call, const Key& key) {
  if (!key.exists()) {
    call.reply.Null();
    return {};
  }
  if (key.large_text() == nullptr) {
    KVARTS_CHECK_OK(call.ExpectAnswer(key.text().size()));
    call.reply.Bulk(key.text());
    return {};
  }
  return ReplyPart(call, key, {0, structure::SizeOfText(key)});
}

// A value among the arguments, be it staged.
StagedArgument* StagedAt(DataCall& call, size_t argument) {
  const auto found = std::ranges::find(call.staged, argument, &StagedArgument::argument);
  return found == call.staged.end() ? nullptr : &*found;
}

Status CheckValue(DataCall& call, size_t argument) {
  const StagedArgument* staged = StagedAt(call, argument);
  return structure::CheckTextSize(call.keys, staged == nullptr ? call.arguments[argument].size() : staged->text.size);
}

Status SetToArgument(DataCall& call, Key& key, size_t argument) {
  StagedArgument* staged = StagedAt(call, argument);
  if (staged == nullptr) return key.SetText(Bytes(call.arguments[argument]));
  staged->used = true;
  return key.SetStaged(staged->text);
}

// Of a key that was just set. Redis has it for an instant, even if it expires in the past.
void ExpireNew(DataCall& call, Key& key, Timestamp expiry) {
  call.Tell(structure::kGenericEvents, "expire", key);
  call.keys.Expire(key, expiry);
  if (!key.exists()) call.Tell(structure::kExpiredEvents, "expired", key);
}

Status SetTo(DataCall& call, size_t value, const Options& options, std::string_view command) {
  KVARTS_TRY(const Timestamp expiry, ExpiryOf(call, options, command));
  KVARTS_CHECK_OK(CheckValue(call, value));
  KVARTS_TRY(Key * key, options.get ? call.OpenToRead(1) : call.Open(1));
  if (options.get) {
    KVARTS_CHECK_OK(key->ExpectText());
    KVARTS_CHECK_OK(ReplyText(call, *key));
  }
  if ((options.if_absent && key->exists()) || (options.if_present && !key->exists())) {
    if (!options.get) call.reply.Null();
    return {};
  }
  const Timestamp kept = key->expiry();
  KVARTS_CHECK_OK(SetToArgument(call, *key, value));
  call.Tell(structure::kStringEvents, "set", *key);
  if (options.keep) call.keys.Expire(*key, kept);
  if (options.expiry != nullptr) ExpireNew(call, *key, expiry);
  if (!options.get) call.reply.Simple("OK");
  return {};
}

Status SetFor(DataCall& call, Unit unit, std::string_view command) {
  Options options;
  const ExpiryOption expiry{{}, unit, true};
  options.expiry = &expiry;
  options.time = call.arguments[2];
  return SetTo(call, 3, options, command);
}

Status Increment(DataCall& call, int64_t by) {
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(const int64_t sum, structure::IncrementBy(*key, by));
  call.Tell(structure::kStringEvents, "incrby", *key);
  call.reply.Int(sum);
  return {};
}

}  // namespace

Status Get(DataCall& call) {
  KVARTS_TRY(const Key* key, call.OpenToRead(1));
  KVARTS_CHECK_OK(key->ExpectText());
  return ReplyText(call, *key);
}

Status Set(DataCall& call) {
  KVARTS_TRY(const Options options, ReadOptions(call.arguments.subspan(3), kOfSet));
  return SetTo(call, 2, options, "set");
}

Status SetEx(DataCall& call) { return SetFor(call, Unit::kSeconds, "setex"); }
Status PSetEx(DataCall& call) { return SetFor(call, Unit::kMillis, "psetex"); }

Status SetNx(DataCall& call) {
  KVARTS_CHECK_OK(CheckValue(call, 2));
  KVARTS_TRY(Key * key, call.Open(1));
  const bool absent = !key->exists();
  if (absent) {
    KVARTS_CHECK_OK(SetToArgument(call, *key, 2));
    call.Tell(structure::kStringEvents, "set", *key);
  }
  call.reply.Int(absent ? 1 : 0);
  return {};
}

Status GetSet(DataCall& call) {
  KVARTS_CHECK_OK(CheckValue(call, 2));
  KVARTS_TRY(Key * key, call.OpenToRead(1));
  KVARTS_CHECK_OK(key->ExpectText());
  KVARTS_CHECK_OK(ReplyText(call, *key));
  KVARTS_CHECK_OK(SetToArgument(call, *key, 2));
  call.Tell(structure::kStringEvents, "set", *key);
  return {};
}

Status GetDel(DataCall& call) {
  KVARTS_TRY(Key * key, call.OpenToRead(1));
  KVARTS_CHECK_OK(key->ExpectText());
  KVARTS_CHECK_OK(ReplyText(call, *key));
  if (!key->exists()) return {};
  key->Remove();
  call.TellIfGone(*key);
  return {};
}

Status GetEx(DataCall& call) {
  KVARTS_TRY(const Options options, ReadOptions(call.arguments.subspan(2), kOfGetEx));
  KVARTS_TRY(Key * key, call.OpenToRead(1));
  if (!key->exists()) {
    call.reply.Null();
    return {};
  }
  KVARTS_CHECK_OK(key->ExpectText());
  KVARTS_TRY(const Timestamp expiry, ExpiryOf(call, options, "getex"));
  KVARTS_CHECK_OK(ReplyText(call, *key));
  if (options.persist && key->expiry() != kNever) {
    key->Persist();
    call.Tell(structure::kGenericEvents, "persist", *key);
  }
  if (options.expiry == nullptr) return {};
  call.keys.Expire(*key, expiry);
  call.Tell(structure::kGenericEvents, key->exists() ? "expire" : "del", *key);
  return {};
}

Status MGet(DataCall& call) {
  call.reply.Array(call.arguments.size() - 1);
  for (size_t i = 1; i < call.arguments.size(); ++i) {
    KVARTS_TRY(const Key* key, call.OpenToRead(i));
    if (key->ExpectText().has_value()) {
      KVARTS_CHECK_OK(ReplyText(call, *key));
    } else {
      call.reply.Null();
    }
  }
  return {};
}

namespace {

Status CheckPairs(DataCall& call, const char* wrong_number) {
  if (call.arguments.size() % 2 == 0) return Wrong(wrong_number);
  for (size_t i = 2; i < call.arguments.size(); i += 2) {
    KVARTS_CHECK_OK(CheckValue(call, i));
  }
  return {};
}

Status SetPairs(DataCall& call) {
  for (size_t i = 1; i < call.arguments.size(); i += 2) {
    KVARTS_TRY(Key * key, call.Open(i));
    KVARTS_CHECK_OK(SetToArgument(call, *key, i + 1));
    call.Tell(structure::kStringEvents, "set", *key);
  }
  return {};
}

}  // namespace

Status MSet(DataCall& call) {
  KVARTS_CHECK_OK(CheckPairs(call, "wrong number of arguments for 'mset' command"));
  KVARTS_CHECK_OK(SetPairs(call));
  call.reply.Simple("OK");
  return {};
}

Status MSetNx(DataCall& call) {
  KVARTS_CHECK_OK(CheckPairs(call, "wrong number of arguments for 'msetnx' command"));
  for (size_t i = 1; i < call.arguments.size(); i += 2) {
    KVARTS_TRY(const Key* key, call.Open(i));
    if (!key->exists()) continue;
    call.reply.Int(0);
    return {};
  }
  KVARTS_CHECK_OK(SetPairs(call));
  call.reply.Int(1);
  return {};
}

Status Append(DataCall& call) {
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(const uint64_t size, structure::Append(call.keys, *key, call.arguments[2]));
  call.Tell(structure::kStringEvents, "append", *key);
  call.reply.Int(static_cast<int64_t>(size));
  return {};
}

Status StrLen(DataCall& call) {
  KVARTS_TRY(const Key* key, call.OpenToRead(1));
  KVARTS_CHECK_OK(key->ExpectText());
  call.reply.Int(static_cast<int64_t>(structure::SizeOfText(*key)));
  return {};
}

Status GetRange(DataCall& call) {
  KVARTS_TRY(const int64_t first, IntegerOf(call.arguments[2]));
  KVARTS_TRY(const int64_t last, IntegerOf(call.arguments[3]));
  KVARTS_TRY(const Key* key, call.OpenToRead(1));
  KVARTS_CHECK_OK(key->ExpectText());
  return ReplyPart(call, *key, structure::StretchOf(structure::SizeOfText(*key), first, last));
}

Status SetRange(DataCall& call) {
  KVARTS_TRY(const int64_t at, IntegerOf(call.arguments[2]));
  if (at < 0) return Wrong("offset is out of range");
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(const uint64_t size, structure::SetRange(call.keys, *key, static_cast<uint64_t>(at), call.arguments[3]));
  if (!call.arguments[3].empty()) call.Tell(structure::kStringEvents, "setrange", *key);
  call.reply.Int(static_cast<int64_t>(size));
  return {};
}

Status Incr(DataCall& call) { return Increment(call, 1); }
Status Decr(DataCall& call) { return Increment(call, -1); }

Status IncrBy(DataCall& call) {
  KVARTS_TRY(const int64_t by, IntegerOf(call.arguments[2]));
  return Increment(call, by);
}

Status DecrBy(DataCall& call) {
  KVARTS_TRY(const int64_t by, IntegerOf(call.arguments[2]));
  // There is no positive number as large.
  if (by == std::numeric_limits<int64_t>::min()) return Wrong("decrement would overflow");
  return Increment(call, -by);
}

Status IncrByFloat(DataCall& call) {
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_CHECK_OK(key->ExpectText());
  const std::optional<long double> by = structure::ParseFloat(call.arguments[2]);
  if (!by) return Wrong(structure::kNotFloat);
  KVARTS_TRY(const Bytes sum, structure::IncrementByFloat(*key, *by));
  call.Tell(structure::kStringEvents, "incrbyfloat", *key);
  call.reply.Bulk(sum);
  return {};
}

}  // namespace kvarts::resp
