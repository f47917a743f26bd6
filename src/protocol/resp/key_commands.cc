// Commands on keys of any type.
#include "model/structure/refusals.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/handlers.h"

namespace kvarts::resp {
namespace {

using structure::Key;

// How many of the keys there are; each as often as it is named.
Status CountKeys(DataCall& call, bool remove) {
  int64_t count = 0;
  for (size_t i = 1; i < call.arguments.size(); ++i) {
    KVARTS_TRY(Key * key, remove ? call.Open(i) : call.OpenToRead(i));
    if (!key->exists()) continue;
    ++count;
    if (!remove) continue;
    key->Remove();
    call.TellIfGone(*key);
  }
  call.reply.Int(count);
  return {};
}

Result<bool> RenameKey(DataCall& call, bool if_absent) {
  KVARTS_TRY(Key * from, call.Open(1));
  if (!from->exists()) return Wrong(structure::kNoSuchKey);
  KVARTS_TRY(Key * to, call.Open(2));
  if (if_absent && to->exists()) return false;
  if (from == to) return true;
  from->MoveTo(to);
  call.keys.TellNew(call.database, *to);
  call.Tell(structure::kGenericEvents, "rename_from", *from);
  call.Tell(structure::kGenericEvents, "rename_to", *to);
  return true;
}

}  // namespace

Status Del(DataCall& call) { return CountKeys(call, true); }
Status Exists(DataCall& call) { return CountKeys(call, false); }

Status Touch(DataCall& call) { return Exists(call); }

Status Type(DataCall& call) {
  KVARTS_TRY(const Key* key, call.OpenToRead(1));
  call.reply.Simple(TypeName(key->type()));
  return {};
}

Status Rename(DataCall& call) {
  KVARTS_CHECK_OK(RenameKey(call, false));
  call.reply.Simple("OK");
  return {};
}

Status RenameNx(DataCall& call) {
  KVARTS_TRY(const bool renamed, RenameKey(call, true));
  call.reply.Int(renamed ? 1 : 0);
  return {};
}

Status Copy(DataCall& call) {
  uint32_t database = call.database;
  bool replace = false;
  for (size_t i = 3; i < call.arguments.size(); ++i) {
    if (IsWord(call.arguments[i], "REPLACE")) {
      replace = true;
    } else if (IsWord(call.arguments[i], "DB") && i + 1 < call.arguments.size()) {
      KVARTS_TRY(database, DatabaseOf(call.arguments[++i]));
    } else {
      return Wrong(kSyntaxError);
    }
  }
  KVARTS_TRY(Key * from, call.Open(1));
  KVARTS_TRY(Key * to, call.keys.Open(database, call.arguments[2]));
  if (from == to) return Wrong("source and destination objects are the same");
  if (!from->exists()) call.keys.TellMiss(call.database, *from);
  const bool copied = from->exists() && (replace || !to->exists());
  if (copied) {
    KVARTS_CHECK_OK(from->CopyTo(to));
    call.keys.TellNew(database, *to);
    call.keys.Tell(structure::kGenericEvents, "copy_to", database, *to);
  }
  call.reply.Int(copied ? 1 : 0);
  return {};
}

Status Move(DataCall& call) {
  KVARTS_TRY(const uint32_t database, DatabaseOf(call.arguments[2]));
  if (database == call.database) return Wrong("source and destination objects are the same");
  KVARTS_TRY(Key * from, call.Open(1));
  KVARTS_TRY(Key * to, call.keys.Open(database, call.arguments[1]));
  const bool moved = from->exists() && !to->exists();
  if (moved) {
    from->MoveTo(to);
    call.keys.TellNew(database, *to);
    call.Tell(structure::kGenericEvents, "move_from", *from);
    call.keys.Tell(structure::kGenericEvents, "move_to", database, *to);
  }
  call.reply.Int(moved ? 1 : 0);
  return {};
}

}  // namespace kvarts::resp
