// DUMP and RESTORE: keys as Redis' own servers hand them to each other.
#include "model/structure/dump.h"
#include "model/structure/refusals.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/expiry.h"
#include "protocol/resp/handlers.h"

namespace kvarts::resp {
namespace {

using structure::Key;

struct Options {
  bool replace = false;
  bool since_1970 = false;
};

Result<Options> ReadOptions(Arguments arguments) {
  constexpr int64_t kMostFrequent = 255;
  Options options;
  bool idle = false;
  bool frequency = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool more = i + 1 < arguments.size();
    if (IsWord(arguments[i], "REPLACE")) {
      options.replace = true;
    } else if (IsWord(arguments[i], "ABSTTL")) {
      options.since_1970 = true;
    } else if (IsWord(arguments[i], "IDLETIME") && more && !frequency) {
      KVARTS_TRY(const int64_t seconds, IntegerOf(arguments[++i]));
      if (seconds < 0) return Wrong("Invalid IDLETIME value, must be >= 0");
      idle = true;
    } else if (IsWord(arguments[i], "FREQ") && more && !idle) {
      KVARTS_TRY(const int64_t uses, IntegerOf(arguments[++i]));
      if (uses < 0 || uses > kMostFrequent) return Wrong("Invalid FREQ value, must be >= 0 and <= 255");
      frequency = true;
    } else {
      return Wrong(kSyntaxError);
    }
  }
  return options;
}

}  // namespace

Status Dump(DataCall& call) {
  KVARTS_TRY(Key * key, call.OpenToRead(1));
  if (!key->exists()) {
    call.reply.Null();
    return {};
  }
  KVARTS_TRY(const structure::RdbValue value, structure::ValueOf(*key));
  const Bytes dump = structure::DumpOf(value);
  KVARTS_CHECK_OK(call.ExpectAnswer(dump.size()));
  call.reply.Bulk(dump);
  return {};
}

Status Restore(DataCall& call) {
  KVARTS_TRY(const Options options, ReadOptions(call.arguments.subspan(4)));
  KVARTS_TRY(Key * key, call.Open(1));
  if (key->exists() && !options.replace) return Wrong(structure::kBusyKey);
  KVARTS_TRY(const int64_t millis, IntegerOf(call.arguments[2]));
  if (millis < 0) return Wrong("Invalid TTL value, must be >= 0");
  KVARTS_TRY(structure::RdbValue value,
             structure::ValueOfDump(call.arguments[3], call.keys.txn().limits().max_commit_bytes));
  const Timestamp now = call.keys.Now();
  Timestamp expiry = kNever;
  if (millis != 0) {
    KVARTS_TRY(expiry, TimeOf(call.arguments[2], Unit::kMillis, options.since_1970 ? nullptr : &now, "restore"));
  }
  const bool was_there = key->exists();
  if (expiry <= now) {
    key->Remove();
    if (was_there) call.TellIfGone(*key);
  } else {
    KVARTS_CHECK_OK(structure::PutValue(*key, std::move(value)));
    if (expiry != kNever && key->exists()) call.keys.Expire(*key, expiry);
    if (key->exists()) call.keys.TellNew(call.database, *key);
    call.Tell(structure::kGenericEvents, "restore", *key);
  }
  call.reply.Simple("OK");
  return {};
}

}  // namespace kvarts::resp
