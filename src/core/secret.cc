#include "core/secret.h"

#include "base/digest.h"
#include "core/keyspace.h"

namespace kvarts {
namespace {

constexpr std::string_view kSettingsName = "secret";

const KeyRange& Secrets() {
  static const KeyRange kRange = [] {
    KeyBuffer key;
    BeginKey(&key, Space::kSettings).Text(kSettingsName);
    return TupleExtensionRange(key);
  }();
  return kRange;
}

Result<Bytes> Checked(Bytes secret, std::string_view name) {
  if (secret.size() == kSecretBytes) return secret;
  return Error(ErrorCode::kCorruption, "a secret of the store is damaged", {{"name", std::string(name)}});
}

}  // namespace

KeyBuffer SecretKey(std::string_view name) {
  KeyBuffer key;
  BeginKey(&key, Space::kSettings).Text(kSettingsName).Text(name);
  return key;
}

bool IsSecret(BytesView physical_key) { return Secrets().Contains(physical_key); }

Result<Bytes> StoreSecret(Store& store, std::string_view name) {
  const KeyBuffer key = SecretKey(name);
  // A store that cannot be written to still has the secrets it had.
  KVARTS_TRY(std::optional<Record> stored, GetOne(store.engine(), key));
  if (stored) return Checked(std::move(stored->value), name);
  return store.Run([&](Txn& txn) -> Result<Bytes> {
    KVARTS_TRY(std::optional<Record> found, txn.Get(key));
    if (found) return Checked(std::move(found->value), name);
    Bytes secret = RandomBytes(kSecretBytes);
    txn.Put(key, secret);
    return secret;
  });
}

}  // namespace kvarts
