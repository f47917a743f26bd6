// Users as their rules make them: AclUser is a user's record (model/access) with its commands as a set of numbers,
// which is what a command is held against.
//
// A rule is one word, as ACL SETUSER has it: "on", "+@read", "~cache:*", "(+get ~public:*)". It may be anything: what
// is no rule changes nothing, and is refused in the words of Redis. Values, to be copied and changed by one thread;
// shared ones do not change.
#pragma once

#include <bitset>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/access/user_record.h"
#include "protocol/resp/acl_names.h"

namespace kvarts::resp {

class AclSelector {
 public:
  using Commands = std::bitset<kMaxAclNames>;
  // Of commands that are not allowed, which are with one of these as their first argument.
  using FirstArguments = std::map<uint16_t, std::vector<std::string>>;

  // Why not, in Redis' words; null: the rule is carried out.
  const char* Set(std::string_view rule);

  bool all_keys() const { return all_keys_; }
  bool all_channels() const { return all_channels_; }
  const std::vector<KeyPattern>& keys() const { return keys_; }
  const std::vector<Bytes>& channels() const { return channels_; }
  // Whether it began as everything: then commands that there will be are allowed as well.
  bool allows_new() const { return allows_new_; }
  const Commands& commands() const { return commands_; }
  const FirstArguments& first_arguments() const { return first_arguments_; }
  bool AllowsEverything() const { return all_keys_ && all_channels_ && allows_new_ && commands_.all(); }

  // A command with its subcommands; and what is of any of the categories, as far as rules go.
  void SetCommand(uint16_t number, bool allowed);
  void SetCategories(uint32_t categories, bool allowed);
  void SetAllCommands(bool allowed);

  // With its commands as rules.
  SelectorRecord ToRecord() const;
  // False when it has rules that are none.
  bool Take(const SelectorRecord& record);

 private:
  const char* AddKeys(std::string_view rule);
  const char* AddChannel(std::string_view rule);
  const char* AllowCommand(std::string_view name);

  bool all_keys_ = false;
  bool all_channels_ = false;
  bool allows_new_ = false;
  Commands commands_;
  FirstArguments first_arguments_;
  std::vector<KeyPattern> keys_;
  std::vector<Bytes> channels_;
};

class AclUser {
 public:
  // Off, and may do nothing.
  AclUser(std::string_view name, std::string_view id) : name_(name), id_(id), selectors_(1) {}
  // As Redis makes it: on, may do everything, and needs no password.
  static AclUser Default();
  // What its rules say that are none here makes it a user who can do nothing.
  static AclUser Of(const UserRecord& record);
  UserRecord ToRecord() const;

  // As AclSelector's; an empty rule is one that does nothing.
  const char* Set(std::string_view rule);

  const Bytes& name() const { return name_; }
  const Bytes& id() const { return id_; }
  bool Is(UserRecord::Flag flag) const { return (flags_ & flag) != 0; }
  void ClearFlag(UserRecord::Flag flag) { flags_ &= static_cast<uint8_t>(~flag); }
  const std::vector<Digest>& passwords() const { return passwords_; }
  // The first is the user's own.
  const std::vector<AclSelector>& selectors() const { return selectors_; }
  bool AllowsEverything() const;

 private:
  const char* SetPassword(std::string_view rule);
  const char* AddSelector(std::string_view rule);
  bool SetFlag(std::string_view word);

  Bytes name_;
  Bytes id_;
  uint8_t flags_ = UserRecord::Flag{};
  std::vector<Digest> passwords_;
  std::vector<AclSelector> selectors_;
};

// Rules with their selectors in one piece each, which may have come as several words. Where one is not closed, which
// word began it.
struct MergedRules {
  std::vector<std::string> rules;
  std::optional<size_t> unclosed;
};
MergedRules MergeRules(std::span<const std::string_view> words);

// Whether a name has what would end it in a line of rules.
bool HasBlanks(std::string_view text);

}  // namespace kvarts::resp
