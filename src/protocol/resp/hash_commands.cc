// Commands on hashes.
#include <algorithm>
#include <cmath>

#include "model/structure/glob.h"
#include "model/structure/refusals.h"
#include "model/structure/strings.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/scan_options.h"

namespace kvarts::resp {
namespace {

using structure::Key;
using structure::Members;
using structure::Type;

Result<Members*> HashOf(DataCall& call) {
  KVARTS_TRY(Key * key, call.OpenToRead(1));
  return key->As<Members>(Type::kHash);
}

// For who wants to know how many fields it has.
Result<Members*> SettledHashOf(DataCall& call) {
  KVARTS_TRY(Members * hash, HashOf(call));
  if (hash == nullptr || !hash->MayBeDue()) return hash;
  KVARTS_CHECK_OK(call.ExpectLooking());
  KVARTS_CHECK_OK(hash->Settle());
  return hash;
}

void ReplyValue(DataCall& call, const std::optional<Bytes>& value) {
  if (value) {
    call.reply.Bulk(*value);
  } else {
    call.reply.Null();
  }
}

Result<std::optional<Bytes>> FieldOf(DataCall& call) {
  KVARTS_TRY(Members * hash, HashOf(call));
  if (hash == nullptr) return std::optional<Bytes>();
  return hash->Find(call.arguments[2]);
}

// Sets pairs behind the key; how many are new.
Result<int64_t> SetFields(DataCall& call, const char* wrong_number) {
  if (call.arguments.size() % 2 == 1) return Wrong(wrong_number);
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(Members * hash, key->Make<Members>(Type::kHash));
  int64_t added = 0;
  for (size_t i = 2; i < call.arguments.size(); i += 2) {
    KVARTS_TRY(const bool is_new, hash->Put(call.arguments[i], call.arguments[i + 1]));
    added += is_new ? 1 : 0;
  }
  key->Changed();
  call.Tell(structure::kHashEvents, "hset", *key);
  return added;
}

enum Part : uint8_t { kFields = 1, kValues = 2, kBoth = 3 };

void ReplyEntry(DataCall& call, Part part, BytesView name, BytesView value) {
  if ((part & kFields) != 0) call.reply.Bulk(name);
  if ((part & kValues) != 0) call.reply.Bulk(value);
}

Status ReplyAll(DataCall& call, Part part) {
  KVARTS_TRY(Members * hash, SettledHashOf(call));
  const size_t size = hash == nullptr ? 0 : hash->size();
  KVARTS_CHECK_OK(call.ExpectElements(size));
  if (part == kBoth) {
    call.reply.Map(size);
  } else {
    call.reply.Array(size);
  }
  if (hash == nullptr) return {};
  size_t answered = 0;
  KVARTS_CHECK_OK(hash->ForEach([&](BytesView name, BytesView value) {
    ReplyEntry(call, part, name, value);
    ++answered;
  }));
  return answered == size ? Status() : Error(ErrorCode::kCorruption, "a hash has other fields than were counted");
}

// Puts what a field has become; it expires when it would have.
Status Replace(DataCall& call, Key& key, BytesView value, std::string_view event) {
  KVARTS_TRY(Members * hash, key.As<Members>(Type::kHash));
  KVARTS_CHECK_OK(hash->Put(call.arguments[2], value, true));
  key.Changed();
  call.Tell(structure::kHashEvents, event, key);
  return {};
}

}  // namespace

Status HSet(DataCall& call) {
  KVARTS_TRY(const int64_t added, SetFields(call, "wrong number of arguments for 'hset' command"));
  call.reply.Int(added);
  return {};
}

Status HMSet(DataCall& call) {
  KVARTS_CHECK_OK(SetFields(call, "wrong number of arguments for 'hmset' command"));
  call.reply.Simple("OK");
  return {};
}

Status HSetNx(DataCall& call) {
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(Members * hash, key->Make<Members>(Type::kHash));
  KVARTS_TRY(const std::optional<Bytes> before, hash->Find(call.arguments[2]));
  if (!before) KVARTS_CHECK_OK(Replace(call, *key, call.arguments[3], "hset"));
  call.reply.Int(before ? 0 : 1);
  return {};
}

Status HGet(DataCall& call) {
  KVARTS_TRY(const std::optional<Bytes> value, FieldOf(call));
  ReplyValue(call, value);
  return {};
}

Status HMGet(DataCall& call) {
  KVARTS_TRY(Members * hash, HashOf(call));
  const Arguments names = call.arguments.subspan(2);
  std::vector<std::optional<Bytes>> values(names.size());
  if (hash != nullptr) KVARTS_CHECK_OK(hash->FindMany(names, &values));
  call.reply.Array(names.size());
  for (const auto& value : values) ReplyValue(call, value);
  return {};
}

Status HGetAll(DataCall& call) { return ReplyAll(call, kBoth); }
Status HKeys(DataCall& call) { return ReplyAll(call, kFields); }
Status HVals(DataCall& call) { return ReplyAll(call, kValues); }

Status HLen(DataCall& call) {
  KVARTS_TRY(const Members* hash, SettledHashOf(call));
  call.reply.Int(hash == nullptr ? 0 : static_cast<int64_t>(hash->size()));
  return {};
}

Status HDel(DataCall& call) {
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(Members * hash, key->As<Members>(Type::kHash));
  int64_t erased = 0;
  for (size_t i = 2; hash != nullptr && i < call.arguments.size(); ++i) {
    KVARTS_TRY(const bool was_there, hash->Erase(call.arguments[i]));
    erased += was_there ? 1 : 0;
  }
  if (erased > 0) {
    key->Changed();
    call.Tell(structure::kHashEvents, "hdel", *key);
    call.TellIfGone(*key);
  }
  call.reply.Int(erased);
  return {};
}

Status HExists(DataCall& call) {
  KVARTS_TRY(const std::optional<Bytes> value, FieldOf(call));
  call.reply.Int(value ? 1 : 0);
  return {};
}

Status HStrLen(DataCall& call) {
  KVARTS_TRY(const std::optional<Bytes> value, FieldOf(call));
  call.reply.Int(value ? static_cast<int64_t>(value->size()) : 0);
  return {};
}

Status HIncrBy(DataCall& call) {
  KVARTS_TRY(const int64_t by, IntegerOf(call.arguments[3]));
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(Members * hash, key->Make<Members>(Type::kHash));
  KVARTS_TRY(const std::optional<Bytes> value, hash->Find(call.arguments[2]));
  const std::optional<int64_t> before = value ? structure::ParseInteger(*value) : 0;
  if (!before) return Wrong("hash value is not an integer");
  int64_t sum = 0;
  if (__builtin_add_overflow(*before, by, &sum)) return Wrong(structure::kOverflow);
  KVARTS_CHECK_OK(Replace(call, *key, std::to_string(sum), "hincrby"));
  call.reply.Int(sum);
  return {};
}

Status HIncrByFloat(DataCall& call) {
  const std::optional<long double> by = structure::ParseFloat(call.arguments[3]);
  if (!by) return Wrong(structure::kNotFloat);
  if (std::isinf(*by)) return Wrong("value is NaN or Infinity");
  KVARTS_TRY(Key * key, call.Open(1));
  KVARTS_TRY(Members * hash, key->Make<Members>(Type::kHash));
  KVARTS_TRY(const std::optional<Bytes> value, hash->Find(call.arguments[2]));
  const std::optional<long double> before = value ? structure::ParseFloat(*value) : 0;
  if (!before) return Wrong("hash value is not a float");
  const long double sum = *before + *by;
  if (std::isnan(sum) || std::isinf(sum)) return Wrong(structure::kNotFinite);
  const Bytes text = structure::FloatText(sum);
  KVARTS_CHECK_OK(Replace(call, *key, text, "hincrbyfloat"));
  call.reply.Bulk(text);
  return {};
}

Status HScan(DataCall& call) {
  KVARTS_TRY(const uint64_t cursor, CursorOf(call.arguments[2]));
  KVARTS_TRY(Members * hash, HashOf(call));
  if (hash == nullptr) {
    call.reply.Array(2).Bulk("0").Array(0);
    return {};
  }
  KVARTS_TRY(const ScanOptions options, ReadScanOptions(call.arguments.subspan(3), false));
  std::vector<Members::Entry> found;
  const auto count = static_cast<size_t>(std::min<int64_t>(options.count, Members::kMaxScanned));
  KVARTS_TRY(const uint64_t next, hash->Scan(cursor, count, [&](BytesView name, BytesView value) {
    if (structure::GlobMatches(options.pattern, name)) found.emplace_back(name, value);
  }));
  call.reply.Array(2).Bulk(std::to_string(next)).Array(2 * found.size());
  for (const auto& [name, value] : found) call.reply.Bulk(name).Bulk(value);
  return {};
}

Status HRandField(DataCall& call) {
  const Arguments arguments = call.arguments;
  if (arguments.size() == 2) {
    KVARTS_TRY(Members * hash, SettledHashOf(call));
    if (hash == nullptr) {
      call.reply.Null();
      return {};
    }
    KVARTS_TRY(const Members::Entry any, hash->Any(call.keys.txn().Random()));
    call.reply.Bulk(any.first);
    return {};
  }
  KVARTS_TRY(const int64_t count, RandomCountOf(arguments[2]));
  const bool with_values = arguments.size() == 4 && IsWord(arguments[3], "WITHVALUES");
  if (arguments.size() > 4 || (arguments.size() == 4 && !with_values)) return Wrong(kSyntaxError);
  if (with_values && count > INT64_MAX / 2) return Wrong("value is out of range");
  KVARTS_TRY(Members * hash, SettledHashOf(call));
  std::vector<Members::Entry> chosen;
  if (hash != nullptr) {
    KVARTS_CHECK_OK(call.ExpectChosen(count, hash->size()));
    KVARTS_TRY(chosen, hash->Choose(count, [&call] { return call.keys.txn().Random(); }));
  }
  const bool pairs = with_values && call.reply.version() > 2;
  call.reply.Array(with_values && !pairs ? 2 * chosen.size() : chosen.size());
  for (const auto& [name, value] : chosen) {
    if (pairs) call.reply.Array(2);
    ReplyEntry(call, with_values ? kBoth : kFields, name, value);
  }
  return {};
}

}  // namespace kvarts::resp
