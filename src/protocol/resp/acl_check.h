// Whether a user may carry out a command on the keys and channels that are among its words.
//
// A selector that allows all keys looks at none, and one that allows a command finds it by one bit. Safe from any
// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/resp/acl_rules.h"
#include "protocol/resp/command.h"

namespace kvarts::resp {

struct AclDenial {
  // In the order in which Redis prefers one reason to another.
  enum class Of : uint8_t { kNothing, kCommand, kKey, kChannel } of = Of::kNothing;
  size_t argument = 0;  // the key or the channel

  explicit operator bool() const { return of != Of::kNothing; }
};

// `arguments` are as many as the command takes.
AclDenial CheckAcl(const AclUser& user, const Command& command, Arguments arguments);
// The words of SORT name keys that nobody can tell beforehand: who may not read all of them is told so. Empty: there is
// nothing against it.
std::string_view WhyNotSort(const AclUser& user, const Command& command, Arguments arguments);
// Whether it may listen to a channel, or to the channels of a pattern, which is taken as it is written.
bool MayListen(const AclUser& user, std::string_view channel, bool is_pattern);

// "NOPERM this user has no permissions to run the 'get' command".
std::string DenialReply(const AclDenial& denial, const Command& command);
// The same of a command that was queued when it was still allowed.
std::string ChangedReply(const AclDenial& denial);

}  // namespace kvarts::resp
