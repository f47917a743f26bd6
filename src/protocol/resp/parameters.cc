#include "protocol/resp/parameters.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "base/lower_case.h"
#include "model/structure/databases.h"
#include "model/structure/strings.h"
#include "net/listener.h"
#include "protocol/resp/acl_changes.h"
#include "protocol/resp/errors.h"
#include "protocol/resp/service.h"
#include "protocol/resp/sizes.h"

namespace kvarts::resp {
namespace {

using enum Parameter::Kind;
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostInt = std::numeric_limits<int32_t>::max();
constexpr int64_t kMiB = 1 << 20;

constexpr const char* kNotBool = "argument must be 'yes' or 'no'";
constexpr const char* kNoInteger = "argument couldn't be parsed into an integer";
constexpr const char* kNoBytes = "argument must be a memory value";
constexpr const char* kImmutable = "can't set immutable config";
constexpr const char* kOtherwise = "no other value is possible with Kvarts";

std::string NotBetween(int64_t least, int64_t most) {
  return fmt::format("argument must be between {} and {} inclusive", least, most);
}

std::string ReadAppendOnly(const Service& service) {
  return service.store.engine().capabilities().persistent ? "yes" : "no";
}

std::string ReadDirectory(const Service& service) { return service.options.directory; }

std::string ReadDebug(const Service& service) { return service.options.debug_commands ? "yes" : "no"; }

std::string ReadPort(const Service& service) { return std::to_string(service.port.load()); }

// What is promised when a write is acknowledged, in the words of Redis.
constexpr std::array<std::pair<std::string_view, Durability>, 3> kSyncs = {
    {{"everysec", Durability::kInterval}, {"always", Durability::kSync}, {"no", Durability::kNone}}};

std::string ReadSync(const Service& service) {
  const Durability durability = std::min(service.settings.durability(), Durability::kSync);
  return std::string(std::ranges::find(kSyncs, durability, &decltype(kSyncs)::value_type::second)->first);
}

std::string WriteSync(Service& service, std::string_view value, bool apply) {
  const std::string wanted = LowerCase(value);
  const auto found = std::ranges::find(kSyncs, std::string_view(wanted), &decltype(kSyncs)::value_type::first);
  if (found == kSyncs.end()) return "argument(s) must be one of the following: everysec, always, no";
  // What replicas promise is more than "always", and stays.
  const bool more = service.settings.durability() > Durability::kSync && found->second == Durability::kSync;
  if (apply && !more) service.settings.SetDurability(found->second);
  return {};
}

std::string ReadPassword(const Service& service) { return service.acl->required_password(); }

// What the store says against it is no constant.
std::string WritePassword(Service& service, std::string_view value, bool apply) {
  if (!apply) return {};
  const Status required = RequirePassword(service, value);
  return required.has_value() ? std::string() : ErrorReply(required.error());
}

std::string ReadMaxClients(const Service& service) {
  return std::to_string(service.listener == nullptr ? 0 : service.listener->max_connections());
}

std::string WriteMaxClients(Service& service, std::string_view value, bool apply) {
  constexpr int64_t kMostClients = 1'000'000;
  const auto number = structure::ParseInteger(value);
  if (!number) return kNoInteger;
  if (*number < 1 || *number > kMostClients) return NotBetween(1, kMostClients);
  if (apply && service.listener != nullptr) service.listener->SetMaxConnections(static_cast<size_t>(*number));
  return {};
}

std::string ReadNotifications(const Service& service) {
  return Notifications::LettersOf(service.notifications.flags());
}

std::string WriteNotifications(Service& service, std::string_view value, bool apply) {
  const std::optional<uint32_t> flags = Notifications::FlagsOf(value);
  if (!flags) return "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.";
  if (apply) service.notifications.Set(*flags);
  return {};
}

std::string ReadOutputLimits(const Service& service) { return service.settings.output.Text(); }

std::string WriteOutputLimits(Service& service, std::string_view value, bool apply) {
  return service.settings.output.Set(value, apply);
}

constexpr Parameter Fixed(std::string_view name, std::string_view text, std::string_view alias = {}) {
  return {.name = name, .kind = kFixed, .text = text, .alias = alias};
}
constexpr Parameter Startup(std::string_view name, std::string_view text) {
  return {.name = name, .kind = kStartup, .text = text};
}
constexpr Parameter Told(std::string_view name, Parameter::Kind kind, std::string (*read)(const Service&)) {
  return {.name = name, .kind = kind, .read = read};
}
constexpr Parameter Changed(std::string_view name, Parameter::Kind kind, Number number, int64_t initial, int64_t least,
                            int64_t most, std::string_view alias = {}) {
  return {.name = name,
          .kind = kind,
          .number = number,
          .initial = initial,
          .at_least = least,
          .at_most = most,
          .alias = alias};
}
constexpr Parameter Own(std::string_view name, std::string (*read)(const Service&),
                        std::string (*write)(Service&, std::string_view, bool)) {
  return {.name = name, .kind = kOwn, .read = read, .write = write};
}

static_assert(structure::kDatabases == 16);

// In their order.
constexpr Parameter kParameters[] = {
    Fixed("acl-pubsub-default", "resetchannels"),
    Startup("aclfile", ""),
    Changed("acllog-max-len", kNumber, Number::kMaxAclLog, 128, 0, kMost),
    Fixed("activedefrag", "no"),
    Fixed("aof-use-rdb-preamble", "no"),
    Own("appendfsync", ReadSync, WriteSync),
    Told("appendonly", kFixed, ReadAppendOnly),
    Fixed("auto-aof-rewrite-min-size", "0"),
    Fixed("auto-aof-rewrite-percentage", "0"),
    Own("client-output-buffer-limit", ReadOutputLimits, WriteOutputLimits),
    Startup("cluster-enabled", "no"),
    Startup("databases", "16"),
    Startup("dbfilename", ""),
    Told("dir", kStartup, ReadDirectory),
    Told("enable-debug-command", kStartup, ReadDebug),
    Startup("enable-module-command", "no"),
    Changed("hash-max-listpack-entries", kNumber, Number::kHashEntries, 512, 0, kMost, "hash-max-ziplist-entries"),
    Changed("hash-max-listpack-value", kBytes, Number::kHashValue, 64, 0, kMost, "hash-max-ziplist-value"),
    Startup("io-threads", "1"),
    Changed("latency-monitor-threshold", kNumber, Number::kLatencyMillis, 0, 0, kMost),
    Changed("latency-tracking", kBool, Number::kCountLatency, 1, 0, 1),
    Fixed("latency-tracking-info-percentiles", "50 99 99.9"),
    Fixed("lazyfree-lazy-eviction", "yes"),
    Fixed("lazyfree-lazy-expire", "yes"),
    Fixed("lazyfree-lazy-server-del", "yes"),
    Fixed("lazyfree-lazy-user-del", "yes"),
    Fixed("lazyfree-lazy-user-flush", "yes"),
    Changed("list-max-listpack-size", kNumber, Number::kListSize, -2, -kMostInt - 1, kMostInt, "list-max-ziplist-size"),
    Own("maxclients", ReadMaxClients, WriteMaxClients),
    Fixed("maxmemory", "0"),
    Fixed("maxmemory-policy", "noeviction"),
    Fixed("min-replicas-to-write", "0", "min-slaves-to-write"),
    Own("notify-keyspace-events", ReadNotifications, WriteNotifications),
    Told("port", kStartup, ReadPort),
    Changed("proto-max-bulk-len", kBytes, Number::kMaxBulkBytes, 512 * kMiB, kMiB, kMost),
    Fixed("replica-read-only", "yes", "slave-read-only"),
    Fixed("replicaof", "", "slaveof"),
    Own("requirepass", ReadPassword, WritePassword),
    Fixed("save", ""),
    Changed("set-max-intset-entries", kNumber, Number::kSetEntries, 512, 0, kMost),
    Changed("slowlog-log-slower-than", kNumber, Number::kSlowMicros, 10'000, -1, kMost),
    Changed("slowlog-max-len", kNumber, Number::kMaxSlow, 128, 0, kMost),
    Fixed("stop-writes-on-bgsave-error", "yes"),
    Changed("timeout", kNumber, Number::kIdleSeconds, 0, 0, kMostInt),
    Changed("tracking-table-max-keys", kNumber, Number::kMaxTrackedKeys, 1'000'000, 0, kMost),
    Changed("zset-max-listpack-entries", kNumber, Number::kSortedSetEntries, 128, 0, kMost, "zset-max-ziplist-entries"),
    Changed("zset-max-listpack-value", kBytes, Number::kSortedSetValue, 64, 0, kMost, "zset-max-ziplist-value"),
};
static_assert(std::ranges::is_sorted(kParameters, {}, &Parameter::name));

std::string SetBool(const Parameter& parameter, Settings& settings, std::string_view value, bool apply) {
  const std::string word = LowerCase(value);
  if (word != "yes" && word != "no") return kNotBool;
  if (apply) settings.Set(parameter.number, word == "yes" ? 1 : 0);
  return {};
}

std::string SetNumber(const Parameter& parameter, Settings& settings, std::string_view value, bool apply) {
  const bool bytes = parameter.kind == kBytes;
  const std::optional<int64_t> number = bytes ? ParseSize(value) : structure::ParseInteger(value);
  if (!number) return bytes ? kNoBytes : kNoInteger;
  if (*number < parameter.at_least || *number > parameter.at_most) {
    return NotBetween(parameter.at_least, parameter.at_most);
  }
  if (apply) settings.Set(parameter.number, *number);
  return {};
}

}  // namespace

Settings::Settings() {
  for (const Parameter& parameter : kParameters) {
    if (parameter.number != Number::kCount_) Set(parameter.number, parameter.initial);
  }
}

std::span<const Parameter> AllParameters() { return kParameters; }

const Parameter* FindParameter(std::string_view name) {
  const std::string lower = LowerCase(name);
  const auto called = [&](const Parameter& one) { return one.name == lower || (!lower.empty() && one.alias == lower); };
  const auto found = std::ranges::find_if(kParameters, called);
  return found == std::end(kParameters) ? nullptr : found;
}

std::string ValueOf(const Parameter& parameter, const Service& service) {
  if (parameter.read != nullptr) return parameter.read(service);
  if (parameter.number == Number::kCount_) return std::string(parameter.text);
  const int64_t number = service.settings[parameter.number];
  return parameter.kind == kBool ? (number != 0 ? "yes" : "no") : std::to_string(number);
}

std::string SetValue(const Parameter& parameter, Service& service, std::string_view value, bool apply) {
  switch (parameter.kind) {
    case kFixed:
      return LowerCase(value) == ValueOf(parameter, service) ? "" : kOtherwise;
    case kStartup:
      return kImmutable;
    case kNumber:
    case kBytes:
      return SetNumber(parameter, service.settings, value, apply);
    case kBool:
      return SetBool(parameter, service.settings, value, apply);
    case kOwn:
      return parameter.write(service, value, apply);
  }
  return {};
}

}  // namespace kvarts::resp
