#include "protocol/resp/acl_session.h"

#include "protocol/resp/acl_check.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/client_facts.h"

namespace kvarts::resp {
namespace {

using Of = AclDenial::Of;

// As CLIENT LIST tells of it.
std::string ClientText(const Session& session) {
  const Client::Owner* owner = session.client->owner();
  return owner == nullptr ? std::string() : owner->Facts().Line();
}

void Log(Service& service, const Session& session, AclLog::Entry entry) {
  entry.context = session.in_transaction ? "multi" : "toplevel";
  entry.at_millis = static_cast<int64_t>(service.clock.Now().micros / 1000);
  entry.client = ClientText(session);
  service.acl->log().Add(std::move(entry), static_cast<size_t>(service.settings[Number::kMaxAclLog]));
}

void LogDenial(Service& service, const Session& session, const AclDenial& denial, const Command& command,
               Arguments arguments) {
  AclLog::Entry entry;
  entry.reason = denial.of == Of::kKey ? "key" : denial.of == Of::kChannel ? "channel" : "command";
  entry.object = denial.of == Of::kCommand ? AclNameOf(command) : arguments[denial.argument];
  entry.user = session.caller.name;
  Log(service, session, std::move(entry));
}

}  // namespace

bool Authenticate(Service& service, Session& session, std::string_view as, std::string_view name,
                  std::string_view password) {
  const std::unique_ptr<Caller> caller = service.acl->Authenticate(name, password);
  if (caller == nullptr) {
    AclLog::Entry entry;
    entry.reason = "auth";
    entry.object = as;
    entry.user = name;
    Log(service, session, std::move(entry));
    return false;
  }
  session.caller = *caller;
  session.authenticated = true;
  return true;
}

std::optional<std::string> WhyDenied(Service& service, const Session& session, const Command& command,
                                     Arguments arguments) {
  const AclDenial denial = CheckAcl(*session.caller.user, command, arguments);
  if (!denial) return std::nullopt;
  LogDenial(service, session, denial, command, arguments);
  return DenialReply(denial, command);
}

void DenyQueued(Service& service, Session& session) {
  if (session.caller.user == nullptr) return;
  const AclUser& user = *session.caller.user;
  std::vector<std::pair<size_t, std::string>> denied;
  for (size_t i = 0; i < session.queue.size(); ++i) {
    const Batch::Queued queued = session.queue.At(i);
    if (const AclDenial denial = CheckAcl(user, *queued.command, queued.arguments)) {
      LogDenial(service, session, denial, *queued.command, queued.arguments);
      denied.emplace_back(i, ChangedReply(denial));
    } else if (const std::string_view why = WhyNotSort(user, *queued.command, queued.arguments); !why.empty()) {
      denied.emplace_back(i, why);
    }
  }
  for (const auto& [which, why] : denied) {
    service.statistics.Failed(why);
    session.queue.Replace(which, why);
  }
}

bool MayListenOn(const Session& session) {
  if (session.caller.user == nullptr || !session.subscriptions->any()) return true;
  for (const Listening to : {Listening::kChannel, Listening::kPattern, Listening::kShard}) {
    for (const Bytes& name : session.subscriptions->Names(to)) {
      if (!MayListen(*session.caller.user, name, to == Listening::kPattern)) return false;
    }
  }
  return true;
}

std::vector<std::string_view> WithoutSecrets(Arguments arguments) {
  constexpr std::string_view kHidden = "(redacted)";
  std::vector<std::string_view> words(arguments.begin(), arguments.end());
  const auto hide = [&](size_t from, size_t count) {
    for (size_t i = from; i < words.size() && i - from < count; ++i) words[i] = kHidden;
  };
  const auto is = [&](size_t at, std::string_view word) {
    return at < arguments.size() && IsWord(arguments[at], word);
  };
  if (is(0, "AUTH")) hide(1, words.size());
  if (is(0, "ACL") && is(1, "SETUSER")) hide(2, words.size());
  for (size_t i = 2; i < words.size(); ++i) {
    if (is(0, "HELLO") && is(i, "AUTH")) {
      hide(i + 1, 2);
      i += 2;
    } else if (is(0, "CONFIG") && is(1, "SET") && i % 2 == 0 && is(i, "REQUIREPASS")) {
      hide(i + 1, 1);
    }
  }
  return words;
}

}  // namespace kvarts::resp
