#include "protocol/resp/acl.h"

#include <algorithm>

namespace kvarts::resp {

std::shared_ptr<const AclUser> Acl::UserOf(const std::shared_ptr<const UserRecord>& record) const {
  // So many users that nobody asks for any more may be kept.
  constexpr size_t kKept = 1024;
  {
    const std::lock_guard lock(mutex_);
    const auto found = made_.find(record->name);
    if (found != made_.end() && found->second.of == record) return found->second.user;
  }
  auto user = std::make_shared<const AclUser>(AclUser::Of(*record));
  const std::lock_guard lock(mutex_);
  if (made_.size() >= kKept) made_.clear();
  made_[record->name] = {record, user};
  return user;
}

std::shared_ptr<const AclUser> Acl::DefaultOf(const AclUser& user) const {
  auto told = std::make_shared<AclUser>(user);
  if (WantsTokens()) told->ClearFlag(UserRecord::kNoPassword);
  return told;
}

std::shared_ptr<const AclUser> Acl::Find(std::string_view name) const {
  const std::shared_ptr<const UserRecord> record = users_.Find(name);
  const bool is_default = name == kDefaultUser;
  if (record == nullptr) return is_default ? DefaultOf(AclUser::Default()) : nullptr;
  const std::shared_ptr<const AclUser> user = UserOf(record);
  return is_default ? DefaultOf(*user) : user;
}

std::vector<std::shared_ptr<const AclUser>> Acl::All() const {
  std::vector<std::shared_ptr<const AclUser>> all;
  bool has_default = false;
  for (const std::shared_ptr<const UserRecord>& record : users_.All()) {
    if (!has_default && record->name >= kDefaultUser) {
      has_default = true;
      if (record->name != kDefaultUser) all.push_back(Find(kDefaultUser));
    }
    all.push_back(record->name == kDefaultUser ? DefaultOf(*UserOf(record)) : UserOf(record));
  }
  if (!has_default) all.push_back(Find(kDefaultUser));
  return all;
}

bool Acl::Refresh(Caller* caller) const {
  // Before the users are looked at: what changes from here on makes what was found old.
  const uint64_t generation = users_.generation();
  caller->user = nullptr;
  const std::shared_ptr<const UserRecord> record = caller->by_token ? nullptr : users_.Find(caller->name);
  if (record != nullptr) {
    if (caller->name != kDefaultUser && record->id != caller->id) return false;
    std::shared_ptr<const AclUser> user = UserOf(record);
    if (!user->AllowsEverything()) caller->user = std::move(user);
  } else if (!caller->by_token && caller->name != kDefaultUser) {
    return false;
  }
  caller->generation = generation;
  return true;
}

bool Acl::DefaultIsOpen() const {
  if (WantsTokens()) return false;
  const std::shared_ptr<const UserRecord> record = users_.Find(kDefaultUser);
  return record == nullptr || (record->Is(UserRecord::kOn) && record->Is(UserRecord::kNoPassword));
}

std::unique_ptr<Caller> Acl::Authenticate(std::string_view name, std::string_view password) const {
  auto caller = std::make_unique<Caller>();
  caller->name = name;
  if (name == kDefaultUser) {
    const auto token = tokens_.Check(password);
    if (token.has_value() && (*token)->AllowsAdmin()) {
      caller->by_token = true;
      return Refresh(caller.get()) ? std::move(caller) : nullptr;
    }
  }
  const std::shared_ptr<const AclUser> user = Find(name);
  // Whoever guesses names learns nothing from how long it took.
  const Digest hash = Sha256(password);
  if (user == nullptr || !user->Is(UserRecord::kOn)) return nullptr;
  bool right = user->Is(UserRecord::kNoPassword);
  for (const Digest& one : user->passwords()) right |= one == hash;
  caller->id = user->id();
  return right && Refresh(caller.get()) ? std::move(caller) : nullptr;
}

std::string Acl::required_password() const {
  const std::lock_guard lock(mutex_);
  return required_password_;
}

void Acl::set_required_password(std::string_view password) {
  const std::lock_guard lock(mutex_);
  required_password_ = password;
}

}  // namespace kvarts::resp
