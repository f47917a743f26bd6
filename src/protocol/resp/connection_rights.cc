// Of connections: who they are, and what they may not do.
#include "protocol/resp/acl_check.h"
#include "protocol/resp/acl_session.h"
#include "protocol/resp/connection.h"

namespace kvarts::resp {

// Once its user is gone nothing of it is carried out any more.
bool Connection::IsStillThere() {
  const bool there = resp::IsStillThere(service_, session_);
  if (!there) session_.ending = true;
  return there;
}

// What SORT may not look up is an error of the command, and does not spoil a transaction.
bool Connection::RefuseByRights(const Command& command, Arguments arguments) {
  if (const auto why = WhyDenied(service_, session_, command, arguments)) {
    Refuse(&command, *why);
    return true;
  }
  if (session_.in_transaction) return false;
  const std::string_view why = WhyNotSort(*session_.caller.user, command, arguments);
  if (why.empty()) return false;
  service_.statistics.Failed(why);
  AnswerError(why);
  return true;
}

void Connection::RightsChanged() {
  const bool there = service_.acl->Refresh(&session_.caller);
  if (!there || !MayListenOn(session_)) Kill(works_);
}

}  // namespace kvarts::resp
