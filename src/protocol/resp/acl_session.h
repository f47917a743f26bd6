// What a connection does with access control: who it is, whether it may, and what is logged when it may not.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "protocol/resp/command.h"
#include "protocol/resp/service.h"
#include "protocol/resp/session.h"

namespace kvarts::resp {

// Whether there is still the user that it is; what that may do is known then.
inline bool IsStillThere(const Service& service, Session& session) {
  if (session.caller.generation == service.acl->generation()) [[likely]]
    return true;
  return service.acl->Refresh(&session.caller);
}
// Whether it has to say who it is before anything else.
inline bool MustAuthenticate(const Service& service, const Session& session) {
  return !session.authenticated && !service.acl->DefaultIsOpen();
}

// False, and logged, when nobody is there by this name and password. `as` is the command that says so.
bool Authenticate(Service& service, Session& session, std::string_view as, std::string_view name,
                  std::string_view password);
// Why it may not carry out a command of so many arguments as that takes; what is refused is logged.
std::optional<std::string> WhyDenied(Service& service, const Session& session, const Command& command,
                                     Arguments arguments);
// Of the commands since MULTI, puts why not in the place of those that it may not carry out any more.
void DenyQueued(Service& service, Session& session);

// Whether it may still listen to all that it listens to.
bool MayListenOn(const Session& session);

// The words of a command without passwords, for logs.
std::vector<std::string_view> WithoutSecrets(Arguments arguments);

}  // namespace kvarts::resp
