// Commands that tell of the server and of its commands.
#include <unistd.h>

#include <fmt/format.h>

#include "protocol/resp/arguments.h"
#include "protocol/resp/command_table.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/service.h"

namespace kvarts::resp {
namespace {

struct FlagName {
  uint32_t flag;
  std::string_view name;
};
constexpr FlagName kFlagNames[] = {
    {kWrite, "write"},
    {kReadOnly, "readonly"},
    {kDenyOom, "denyoom"},
    {kAdmin, "admin"},
    {kPubSub, "pubsub"},
    {kNoScript, "noscript"},
    {kBlocking, "blocking"},
    {kLoading, "loading"},
    {kStale, "stale"},
    {kSkipMonitor, "skip_monitor"},
    {kSkipSlowlog, "skip_slowlog"},
    {kAsking, "asking"},
    {kFast, "fast"},
    {kNoAuth, "no_auth"},
    {kMovableKeys, "movablekeys"},
    {kNoAsyncLoading, "no_async_loading"},
    {kNoMulti, "no_multi"},
    {kAllowBusy, "allow_busy"},
};
constexpr FlagName kCategoryNames[] = {
    {kKeyspace, "@keyspace"},
    {kRead, "@read"},
    {kWrites, "@write"},
    {kSet, "@set"},
    {kSortedSet, "@sortedset"},
    {kList, "@list"},
    {kHash, "@hash"},
    {kString, "@string"},
    {kBitmap, "@bitmap"},
    {kPubSubs, "@pubsub"},
    {kAdmins, "@admin"},
    {kQuick, "@fast"},
    {kSlow, "@slow"},
    {kBlocks, "@blocking"},
    {kDangerous, "@dangerous"},
    {kConnection, "@connection"},
    {kTransaction, "@transaction"},
};

void NameAll(ReplyWriter& reply, uint32_t which, std::span<const FlagName> names) {
  reply.Set(static_cast<size_t>(
      std::ranges::count_if(names, [&](const FlagName& name) { return (which & name.flag) != 0; })));
  for (const FlagName& name : names) {
    if ((which & name.flag) != 0) reply.Simple(name.name);
  }
}

void Describe(ReplyWriter& reply, const Command& command) {
  reply.Array(10).Bulk(command.name).Int(command.arity);
  NameAll(reply, command.flags, kFlagNames);
  reply.Int(command.first_key).Int(command.last_key).Int(command.step);
  NameAll(reply, command.categories, kCategoryNames);
  reply.Array(0).Array(0).Array(0);
}

Status KeysOf(ClientCall& call) {
  const Arguments arguments = call.arguments.subspan(2);
  const Command* command = FindCommand(arguments[0]);
  if (command == nullptr) return Wrong("Invalid command specified");
  if (command->first_key == 0) return Wrong("The command has no key arguments");
  if (!command->Takes(arguments.size())) return Wrong("Invalid number of arguments specified for command");
  std::vector<std::string_view> keys;
  ForEachKey(*command, arguments, [&](std::string_view key) { keys.push_back(key); });
  call.reply.Array(keys.size());
  for (const std::string_view key : keys) call.reply.Bulk(key);
  return {};
}

}  // namespace

Status CommandCommand(ClientCall& call) {
  const std::span<const Command> all = AllCommands();
  const Arguments arguments = call.arguments;
  if (arguments.size() == 1) {
    call.reply.Array(all.size());
    for (const Command& command : all) Describe(call.reply, command);
  } else if (IsWord(arguments[1], "COUNT") && arguments.size() == 2) {
    call.reply.Int(static_cast<int64_t>(all.size()));
  } else if (IsWord(arguments[1], "LIST") && arguments.size() == 2) {
    call.reply.Array(all.size());
    for (const Command& command : all) call.reply.Bulk(command.name);
  } else if (IsWord(arguments[1], "INFO") && arguments.size() > 2) {
    call.reply.Array(arguments.size() - 2);
    for (const std::string_view name : arguments.subspan(2)) {
      const Command* command = FindCommand(name);
      if (command == nullptr) {
        call.reply.NullArray();
      } else {
        Describe(call.reply, *command);
      }
    }
  } else if (IsWord(arguments[1], "DOCS")) {
    call.reply.Map(0);
  } else if (IsWord(arguments[1], "GETKEYS") && arguments.size() > 2) {
    return KeysOf(call);
  } else {
    return WrongWith("unknown subcommand ", "'" + std::string(arguments[1]) + "'. Try COMMAND HELP.");
  }
  return {};
}

Status Info(ClientCall& call) {
  const Service& service = call.service;
  const uint64_t uptime = (service.clock.Now().micros - service.started.micros) / 1'000'000;
  const std::string text = fmt::format(
      "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nserver_name:kvarts\r\nprocess_id:{}\r\n"
      "uptime_in_seconds:{}\r\n\r\n# Clients\r\nconnected_clients:{}\r\nblocked_clients:{}\r\n\r\n"
      "# Stats\r\ntotal_connections_received:{}\r\ntotal_commands_processed:{}\r\n\r\n# Replication\r\nrole:master\r\n",
      getpid(), uptime, service.clients.load(), service.blocked.size(), service.next_client.load() - 1,
      service.commands.load());
  call.reply.Verbatim("txt", text);
  return {};
}

Status Time(ClientCall& call) {
  const uint64_t now = call.service.clock.Now().micros;
  call.reply.Array(2).Bulk(std::to_string(now / 1'000'000)).Bulk(std::to_string(now % 1'000'000));
  return {};
}

}  // namespace kvarts::resp
