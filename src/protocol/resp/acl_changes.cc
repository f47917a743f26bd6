#include "protocol/resp/acl_changes.h"

#include "base/digest.h"
#include "model/access/user.h"
#include "protocol/resp/acl_rules.h"
#include "protocol/resp/errors.h"
#include "protocol/resp/service.h"

namespace kvarts::resp {
namespace {

AclUser Before(const std::optional<UserRecord>& record, std::string_view name) {
  if (record) return AclUser::Of(*record);
  return name == kDefaultUser ? AclUser::Default() : AclUser(name, RandomBytes(UserRecord::kIdBytes));
}

// A `default` that is as it was in the beginning has no record.
Status Save(Txn& txn, const UserRecord& user) {
  if (user != AclUser::Default().ToRecord()) return PutUser(txn, user);
  KVARTS_TRY(const bool there, EraseUser(txn, kDefaultUser));
  (void)there;
  return {};
}

}  // namespace

Status ChangeUser(Service& service, std::string_view name, std::span<const std::string> rules) {
  return service.store.Run([&](Txn& txn) -> Status {
    KVARTS_TRY(const std::optional<UserRecord> record, GetUser(txn, name));
    AclUser user = Before(record, name);
    for (const std::string& rule : rules) {
      const char* why = user.Set(rule);
      if (why == nullptr) continue;
      const std::string shown = rule.substr(0, rule.find('\0'));
      return WrongWith("Error in ACL SETUSER modifier '", shown + "': " + why);
    }
    UserRecord after = user.ToRecord();
    if (record == after) return {};
    return Save(txn, after);
  });
}

Result<int64_t> RemoveUsers(Service& service, std::span<const std::string_view> names) {
  return service.store.Run([&](Txn& txn) -> Result<int64_t> {
    int64_t removed = 0;
    for (const std::string_view name : names) {
      KVARTS_TRY(const bool there, EraseUser(txn, name));
      removed += there ? 1 : 0;
    }
    return removed;
  });
}

void EndThoseWithoutRights(Service& service) {
  service.clients.Visit(service.clients.All(), [](Client::Owner& client) { client.RightsChanged(); });
}

void FollowOthersChanges(Service& service) {
  service.acl->TellOfChanges(
      [&service] { service.clients.VisitSoon([](Client::Owner& client) { client.RightsChanged(); }); });
}

Status RequirePassword(Service& service, std::string_view password) {
  const std::string rules[] = {"resetpass", password.empty() ? "nopass" : ">" + std::string(password)};
  KVARTS_CHECK_OK(ChangeUser(service, kDefaultUser, rules));
  service.acl->set_required_password(password);
  return {};
}

}  // namespace kvarts::resp
