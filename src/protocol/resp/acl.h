// Acl: who clients are, and what they may do, as the records of users (model/access) say. FORMAT.md has the records;
// docs/compat/redis.md says how users and tokens go together:
//
// A user goes by its record. `default` has none until somebody changes it: then it may do everything, and needs no
// password where the server wants no tokens. Where it does, `nopass` is nothing for `default`. A token that may do
// everything is always taken as a password of `default`, and whoever comes with one may do everything.
//
// A caller is what a connection keeps of that, and compares by its generation, one load for each command. Safe from any
// thread, callers apart.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "model/access/tokens.h"
#include "model/access/users.h"
#include "protocol/resp/acl_log.h"
#include "protocol/resp/acl_rules.h"

namespace kvarts::resp {

// Who a connection is.
struct Caller {
  Bytes name{kDefaultUser};
  Bytes id = {};  // of the user; it may go, and another come by its name
  bool by_token = false;
  // What it may do, as of the generation; null: everything.
  std::shared_ptr<const AclUser> user = {};
  uint64_t generation = 0;
};

class Acl {
 public:
  Acl(Users& users, const Tokens& tokens, const std::atomic<bool>& tokens_required)
      : users_(users), tokens_(tokens), tokens_required_(tokens_required) {}

  uint64_t generation() const { return users_.generation(); }
  // What it may do now. False when the user has gone.
  bool Refresh(Caller* caller) const;
  // Whether a connection is `default` without saying so.
  bool DefaultIsOpen() const;

  // As Users'.
  void TellOfChanges(std::function<void()> told) { users_.TellOfChanges(std::move(told)); }

  // Who it is by these; null: nobody.
  std::unique_ptr<Caller> Authenticate(std::string_view name, std::string_view password) const;

  // Null when there is none; of `default` there is always one.
  std::shared_ptr<const AclUser> Find(std::string_view name) const;
  // In the order of their names.
  std::vector<std::shared_ptr<const AclUser>> All() const;

  AclLog& log() { return log_; }
  // What CONFIG SET has said since the server began; only its hash is stored.
  std::string required_password() const;
  void set_required_password(std::string_view password);

 private:
  struct Made {
    std::shared_ptr<const UserRecord> of;
    std::shared_ptr<const AclUser> user;
  };

  // From the first one on, whether HTTP has noticed that or not.
  bool WantsTokens() const { return tokens_required_ || tokens_.any(); }
  std::shared_ptr<const AclUser> UserOf(const std::shared_ptr<const UserRecord>& record) const;
  // As it is told and asked for a password.
  std::shared_ptr<const AclUser> DefaultOf(const AclUser& user) const;

  Users& users_;
  const Tokens& tokens_;
  const std::atomic<bool>& tokens_required_;
  AclLog log_;
  mutable std::mutex mutex_;  // of what follows
  // What was made of records lately, by name.
  mutable std::map<Bytes, Made, std::less<>> made_;
  std::string required_password_;
};

}  // namespace kvarts::resp
