// Commands on the connection itself.
#include "core/store.h"
#include "protocol/resp/acl_session.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/client_names.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/service.h"
#include "protocol/resp/session.h"
#include "protocol/resp/versions.h"

namespace kvarts::resp {
namespace {

constexpr std::string_view kWrongPair = "WRONGPASS invalid username-password pair or user is disabled.";

}  // namespace

Status Ping(ClientCall& call) {
  if (call.arguments.size() > 2) return Wrong("wrong number of arguments for 'ping' command");
  if (call.session.subscriptions->any() && call.session.version == 2) {
    call.reply.Array(2).Bulk("pong").Bulk(call.arguments.size() == 2 ? call.arguments[1] : "");
    return {};
  }
  if (call.arguments.size() == 2) {
    call.reply.Bulk(call.arguments[1]);
  } else {
    call.reply.Simple("PONG");
  }
  return {};
}

Status Echo(ClientCall& call) {
  call.reply.Bulk(call.arguments[1]);
  return {};
}

Status Select(ClientCall& call) {
  KVARTS_TRY(call.session.database, DatabaseOf(call.arguments[1]));
  call.reply.Simple("OK");
  return {};
}

Status Unwatch(ClientCall& call) {
  call.session.watched.clear();
  call.reply.Simple("OK");
  return {};
}

Status Quit(ClientCall& call) {
  call.session.ending = true;
  call.reply.Simple("OK");
  return {};
}

Status Reset(ClientCall& call) {
  call.messages_first = true;
  call.never_silent = true;
  call.session.Reset(!call.service.acl->DefaultIsOpen());
  ReplyWriter(&call.reply.out(), call.session.version).Simple("RESET");
  return {};
}

Status Auth(ClientCall& call) {
  if (call.arguments.size() > 3) return Wrong(kSyntaxError);
  const bool named = call.arguments.size() == 3;
  if (!named && call.service.acl->Find(kDefaultUser)->Is(UserRecord::kNoPassword)) {
    return Wrong(
        "AUTH <password> called without any password configured for the default user. Are you sure your "
        "configuration is correct?");
  }
  const std::string_view name = named ? call.arguments[1] : kDefaultUser;
  if (Authenticate(call.service, call.session, call.arguments[0], name, call.arguments.back())) {
    call.reply.Simple("OK");
  } else {
    call.reply.Error(kWrongPair);
  }
  return {};
}

Status Hello(ClientCall& call) {
  const Arguments arguments = call.arguments;
  Session& session = call.session;
  int version = session.version;
  if (arguments.size() > 1) {
    KVARTS_TRY(const int64_t wanted, IntegerOf(arguments[1], "Protocol version is not an integer or out of range"));
    if (wanted != 2 && wanted != 3) {
      call.reply.Error("NOPROTO unsupported protocol version");
      return {};
    }
    version = static_cast<int>(wanted);
  }
  std::string_view name;
  for (size_t i = 2; i < arguments.size(); ++i) {
    const size_t more = arguments.size() - 1 - i;
    if (IsWord(arguments[i], "AUTH") && more >= 2) {
      if (!Authenticate(call.service, session, arguments[0], arguments[i + 1], arguments[i + 2])) {
        call.reply.Error(kWrongPair);
        return {};
      }
      i += 2;
    } else if (IsWord(arguments[i], "SETNAME") && more >= 1) {
      name = arguments[++i];
      if (!IsClientName(name)) return Wrong(kNoClientName);
    } else {
      return WrongWith("Syntax error in HELLO option ", "'" + std::string(arguments[i]) + "'");
    }
  }
  if (MustAuthenticate(call.service, session)) {
    call.reply.Error(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> "
        "<pass> option can be used to authenticate the client and select the RESP protocol version at the same time");
    return {};
  }
  session.version = version;
  if (!name.empty()) session.name = name;
  ReplyWriter reply(&call.reply.out(), version);
  reply.Map(7).Bulk("server").Bulk("redis").Bulk("version").Bulk(kRedisVersion).Bulk("proto").Int(version);
  reply.Bulk("id").Int(static_cast<int64_t>(session.id)).Bulk("mode").Bulk("standalone");
  reply.Bulk("role").Bulk("master").Bulk("modules").Array(0);
  return {};
}

}  // namespace kvarts::resp
