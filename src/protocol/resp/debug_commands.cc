// DEBUG: what tests of clients need, where the configuration allows it.
#include <charconv>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "model/structure/strings.h"
#include "protocol/resp/errors.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/object_facts.h"
#include "protocol/resp/service.h"

namespace kvarts::resp {
namespace {

// A worker is not to be held for longer.
constexpr long double kMaxSleepSeconds = 60;

Status CheckAllowed(const Service& service) {
  if (service.options.debug_commands) return {};
  return Wrong(
      "DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it from a local "
      "connection, otherwise you need to set this option in the configuration file, and then restart the server.");
}

}  // namespace

Status DebugSleep(WorkCall& call) {
  KVARTS_CHECK_OK(CheckAllowed(call.service));
  const auto seconds = structure::ParseFloat(call.arguments[2]);
  if (!seconds || *seconds < 0 || *seconds > kMaxSleepSeconds) return Wrong("DEBUG SLEEP takes from 0 to 60 seconds");
  std::this_thread::sleep_for(std::chrono::microseconds(static_cast<int64_t>(*seconds * 1'000'000)));
  call.reply.Simple("OK");
  return {};
}

Status DebugSetActiveExpire(ClientCall& call) {
  KVARTS_CHECK_OK(CheckAllowed(call.service));
  call.service.active_expiry = call.arguments[2] != "0";
  call.reply.Simple("OK");
  return {};
}

Status DebugObject(DataCall& call) {
  KVARTS_CHECK_OK(CheckAllowed(call.service));
  KVARTS_TRY(structure::Key * key, call.Open(2));
  if (!key->exists()) return Wrong(structure::kNoSuchKey);
  KVARTS_TRY(const std::string_view encoding, EncodingOf(*key, call.service.settings));
  KVARTS_TRY(const uint64_t bytes, BytesOf(*key, kDefaultSamples));
  call.reply.Simple(
      fmt::format("Value at:0x0 refcount:1 encoding:{} serializedlength:{} lru:0 lru_seconds_idle:0", encoding, bytes));
  return {};
}

}  // namespace kvarts::resp
