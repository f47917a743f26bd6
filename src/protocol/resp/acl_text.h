// Users as text: the rules that make them, as ACL LIST and GETUSER tell them.
//
// Commands are told as Redis 7.0 tells them: it begins with everything or nothing, takes the categories that fit best,
// and what is left one by one. In which order those come depends there on a number that each server has drawn; here
// they are in the order of their names.
#pragma once

#include <string>

#include "protocol/resp/acl_rules.h"

namespace kvarts::resp {

// "+@all", "-@dangerous", "+info"; and in one line.
std::vector<std::string> CommandRules(const AclSelector& selector);
std::string CommandRulesLine(const AclSelector& selector);
// "~cache:* %R~public:*"; "&news".
std::string KeyRules(const AclSelector& selector);
std::string ChannelRules(const AclSelector& selector);
// What makes a user of nothing: "on #2d71… ~* resetchannels -@all +get".
std::string UserRules(const AclUser& user);
// "on", "nopass".
std::vector<std::string_view> FlagRules(const AclUser& user);
std::string HashText(const Digest& password);

}  // namespace kvarts::resp
