#include "model/access/user.h"

namespace kvarts {
namespace {

Status CheckRoom(Txn& txn) {
  size_t count = 0;
  ScanRequest request;
  request.range = UserKeys();
  request.keys_only = true;
  request.max_entries = txn.limits().max_page_entries;
  for (bool more = true; more;) {
    KVARTS_TRY(const ScanPage page, txn.Scan(request));
    count += page.size();
    more = page.rest().has_value();
    if (more) request.range = *page.rest();
  }
  if (count < kMaxUsers) return {};
  return Error(ErrorCode::kTooLarge, "there are too many users",
               {{"limit", "max_users"}, {"at_most", std::to_string(kMaxUsers)}});
}

}  // namespace

Result<std::optional<UserRecord>> GetUser(Txn& txn, BytesView name) {
  // None has a name that is too long for a key.
  if (name.size() > UserRecord::kMaxNameBytes) return std::optional<UserRecord>();
  const KeyBuffer key = UserKeyOfName(name);
  KVARTS_TRY(const std::optional<Record> record, txn.Get(key));
  if (!record) return std::optional<UserRecord>();
  KVARTS_TRY(UserRecord user, UserRecord::FromStored(key, record->value));
  return std::optional(std::move(user));
}

Status PutUser(Txn& txn, const UserRecord& user) {
  KVARTS_TRY(const Bytes bytes, user.Encode());
  const KeyBuffer key = UserKeyOfName(user.name);
  KVARTS_TRY(const std::optional<Record> there, txn.Get(key));
  if (!there) KVARTS_CHECK_OK(CheckRoom(txn));
  txn.Put(key, bytes);
  return {};
}

Result<bool> EraseUser(Txn& txn, BytesView name) {
  if (name.size() > UserRecord::kMaxNameBytes) return false;
  // One that is damaged can be removed as well.
  const KeyBuffer key = UserKeyOfName(name);
  KVARTS_TRY(const std::optional<Record> there, txn.Get(key));
  if (there) txn.Erase(key);
  return there.has_value();
}

}  // namespace kvarts
