// Commands on the server as a whole, and what a server without replicas answers to those that ask for some.
#include <fmt/format.h>

#include "protocol/resp/arguments.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/info_text.h"
#include "protocol/resp/service.h"
#include "protocol/resp/session.h"
#include "protocol/resp/versions.h"

namespace kvarts::resp {
namespace {

constexpr const char* kNoCluster = "This instance has cluster support disabled";

}  // namespace

Status Info(DataCall& call) {
  KVARTS_TRY(const std::string text, InfoText(call, call.arguments.subspan(1)));
  call.reply.Verbatim("txt", text);
  return {};
}

Status Time(ClientCall& call) {
  const uint64_t now = call.service.clock.Now().micros;
  call.reply.Array(2).Bulk(std::to_string(now / 1'000'000)).Bulk(std::to_string(now % 1'000'000));
  return {};
}

// A wave; as wide as the first number behind the version says.
Status Lolwut(ClientCall& call) {
  constexpr int64_t kWidest = 80;
  int64_t width = 40;
  size_t at = 1;
  if (call.arguments.size() > 1 && IsWord(call.arguments[1], "VERSION")) {
    if (call.arguments.size() == 2) return Wrong(kSyntaxError);
    KVARTS_TRY(const int64_t version, IntegerOf(call.arguments[2]));
    (void)version;
    at = 3;
  }
  if (call.arguments.size() > at) {
    KVARTS_TRY(width, IntegerOf(call.arguments[at]));
  }
  std::string text;
  for (int64_t i = 0; i < std::min(std::max<int64_t>(width, 0), kWidest); ++i) text.push_back("_.-'\"'-."[i % 8]);
  text += fmt::format("\nKvarts {}, which speaks as Redis ver. {}\n", KVARTS_VERSION, kRedisVersion);
  call.reply.Verbatim("txt", text);
  return {};
}

Status Role(ClientCall& call) {
  call.reply.Array(3).Bulk("master").Int(0).Array(0);
  return {};
}

// There are no replicas that this protocol could wait for: whoever waits is told so at once.
Status Wait(ClientCall& call) {
  KVARTS_TRY(const int64_t replicas, IntegerOf(call.arguments[1]));
  KVARTS_TRY(const int64_t timeout, IntegerOf(call.arguments[2], "timeout is not an integer or out of range"));
  if (timeout < 0) return Wrong("timeout is negative");
  (void)replicas;
  call.reply.Int(0);
  return {};
}

Status ReplicaOf(ClientCall& call) {
  if (!IsWord(call.arguments[1], "NO") || !IsWord(call.arguments[2], "ONE")) {
    constexpr const char* kInvalidPort = "Invalid master port";
    KVARTS_TRY(const int64_t port, IntegerOf(call.arguments[2], kInvalidPort));
    if (port < 0 || port > UINT16_MAX) return Wrong(kInvalidPort);
    return Wrong("Kvarts replicates through its engine: it cannot follow a Redis server");
  }
  call.reply.Simple("OK");
  return {};
}

Status Failover(ClientCall& call) {
  if (call.arguments.size() == 1) return Wrong("FAILOVER requires connected replicas.");
  if (call.arguments.size() == 2 && IsWord(call.arguments[1], "ABORT")) return Wrong("No failover in progress.");
  return Wrong(kSyntaxError);
}

Status Cluster(ClientCall&) { return Wrong(kNoCluster); }

Status ReadOnly(ClientCall&) { return Wrong(kNoCluster); }

// As a signal would: what is under way is finished. There is no answer, but that the connection ends.
Status Shutdown(ClientCall& call) {
  bool abort = false;
  bool other = false;
  for (const std::string_view word : call.arguments.subspan(1)) {
    if (IsWord(word, "ABORT")) {
      abort = true;
    } else if (IsWord(word, "SAVE") || IsWord(word, "NOSAVE") || IsWord(word, "NOW") || IsWord(word, "FORCE")) {
      other = true;
    } else {
      return Wrong(kSyntaxError);
    }
  }
  if (abort && other) return Wrong(kSyntaxError);
  if (abort) return Wrong("No shutdown in progress.");
  if (!call.service.end_process) return Wrong("Errors trying to SHUTDOWN. Check logs.");
  call.session.ending = true;
  call.service.end_process();
  return {};
}

}  // namespace kvarts::resp
