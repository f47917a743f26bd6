// CLIENT: what a client says and asks of its own connection, and what it does to others that takes no look at them.
#include "protocol/resp/arguments.h"
#include "protocol/resp/blocking.h"
#include "protocol/resp/client_facts.h"
#include "protocol/resp/client_names.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/service.h"
#include "protocol/resp/session.h"

namespace kvarts::resp {
namespace {

Status WrongCount(ClientCall& call) {
  return WrongWith("unknown subcommand or wrong number of arguments for ",
                   "'" + std::string(call.arguments[1]) + "'. Try CLIENT HELP.");
}

}  // namespace

Status ClientId(ClientCall& call) {
  call.reply.Int(static_cast<int64_t>(call.session.id));
  return {};
}

Status ClientGetName(ClientCall& call) {
  if (call.session.name.empty()) {
    call.reply.Null();
  } else {
    call.reply.Bulk(call.session.name);
  }
  return {};
}

Status ClientSetName(ClientCall& call) {
  if (!IsClientName(call.arguments[2])) return Wrong(kNoClientName);
  call.session.name = call.arguments[2];
  call.reply.Simple("OK");
  return {};
}

Status ClientSetInfo(ClientCall& call) {
  const std::string_view value = call.arguments[3];
  if (!IsClientName(value)) {
    return WrongWith("", std::string(call.arguments[2]) + " cannot contain spaces, newlines or special characters.");
  }
  if (IsWord(call.arguments[2], "LIB-NAME")) {
    call.session.library = value;
  } else if (IsWord(call.arguments[2], "LIB-VER")) {
    call.session.library_version = value;
  } else {
    return WrongWith("Unrecognized option '", std::string(call.arguments[2]) + "'");
  }
  call.reply.Simple("OK");
  return {};
}

Status ClientReply(ClientCall& call) {
  Session& session = call.session;
  if (IsWord(call.arguments[2], "ON")) {
    session.replies = Session::Replies::kOn;
    call.never_silent = true;
    call.reply.Simple("OK");
  } else if (IsWord(call.arguments[2], "OFF")) {
    session.replies = Session::Replies::kOff;
  } else if (IsWord(call.arguments[2], "SKIP")) {
    if (session.replies == Session::Replies::kOn) session.replies = Session::Replies::kSkipNext;
  } else {
    return Wrong(kSyntaxError);
  }
  return {};
}

Status ClientInfo(ClientCall& call) {
  // One that was ended meanwhile gets no answer.
  const Client::Owner* own = call.session.client->owner();
  if (own != nullptr) call.reply.Verbatim("txt", own->Facts().Line() + "\n");
  return {};
}

Status ClientNoEvict(ClientCall& call) {
  const bool on = IsWord(call.arguments[2], "ON");
  if (!on && !IsWord(call.arguments[2], "OFF")) return Wrong(kSyntaxError);
  call.session.never_evicted = on;
  call.reply.Simple("OK");
  return {};
}

Status ClientUnblock(ClientCall& call) {
  const Arguments arguments = call.arguments;
  if (arguments.size() > 4) return WrongCount(call);
  const bool with_error = arguments.size() == 4 && IsWord(arguments[3], "ERROR");
  if (arguments.size() == 4 && !with_error && !IsWord(arguments[3], "TIMEOUT")) {
    return Wrong("CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
  }
  KVARTS_TRY(const int64_t id, IntegerOf(arguments[2]));
  call.reply.Int(call.service.blocked.Unblock(static_cast<uint64_t>(id), with_error) ? 1 : 0);
  return {};
}

Status ClientPause(ClientCall& call) {
  const Arguments arguments = call.arguments;
  if (arguments.size() > 4) return WrongCount(call);
  const bool writes = arguments.size() == 4 && IsWord(arguments[3], "WRITE");
  if (arguments.size() == 4 && !writes && !IsWord(arguments[3], "ALL")) {
    return Wrong("CLIENT PAUSE mode must be WRITE or ALL");
  }
  KVARTS_TRY(const int64_t millis, IntegerOf(arguments[2], "timeout is not an integer or out of range"));
  if (millis < 0) return Wrong("timeout is negative");
  call.service.pause.Begin(std::chrono::milliseconds(millis), writes ? Pause::What::kWrites : Pause::What::kAll);
  call.reply.Simple("OK");
  return {};
}

Status ClientUnpause(ClientCall& call) {
  call.service.pause.End();
  call.reply.Simple("OK");
  return {};
}

}  // namespace kvarts::resp
