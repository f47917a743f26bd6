// OBJECT, and a key by chance.
#include "model/structure/names.h"
#include "model/structure/random_name.h"
#include "protocol/resp/errors.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/object_facts.h"
#include "protocol/resp/service.h"

namespace kvarts::resp {
namespace {

// Null, answered, when there is no such key.
Result<structure::Key*> Asked(DataCall& call) {
  KVARTS_TRY(structure::Key * key, call.Open(2));
  if (key->exists()) return key;
  call.reply.Null();
  return nullptr;
}

}  // namespace

Status ObjectEncoding(DataCall& call) {
  KVARTS_TRY(structure::Key * key, Asked(call));
  if (key == nullptr) return {};
  KVARTS_TRY(const std::string_view encoding, EncodingOf(*key, call.service.settings));
  call.reply.Bulk(encoding);
  return {};
}

Status ObjectFreq(DataCall& call) {
  KVARTS_TRY(const structure::Key* key, Asked(call));
  if (key == nullptr) return {};
  return Wrong(
      "An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between "
      "policies at runtime LRU and LFU data will take some time to adjust.");
}

// Nobody keeps when a key was used: it was, by being asked about.
Status ObjectIdleTime(DataCall& call) {
  KVARTS_TRY(const structure::Key* key, Asked(call));
  if (key != nullptr) call.reply.Int(0);
  return {};
}

Status ObjectRefCount(DataCall& call) {
  KVARTS_TRY(const structure::Key* key, Asked(call));
  if (key != nullptr) call.reply.Int(1);
  return {};
}

Status RandomKey(DataCall& call) {
  KVARTS_TRY(const std::optional<Bytes> name, structure::RandomName(call.keys, call.database));
  if (name) {
    call.reply.Bulk(*name);
  } else {
    call.reply.Null();
  }
  return {};
}

}  // namespace kvarts::resp
