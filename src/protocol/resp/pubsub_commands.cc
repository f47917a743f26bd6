// Publish and subscribe. Who subscribes is confirmed name by name, in the form in which messages come. What was
// published for a client before it is told of leaving comes before that; and nothing of it after.
#include "protocol/resp/errors.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/service.h"
#include "protocol/resp/session.h"

namespace kvarts::resp {
namespace {

// Channels and patterns are counted together, those of shards by themselves.
int64_t CountWith(const Subscriptions& subscriptions, Listening to) {
  if (to == Listening::kShard) return static_cast<int64_t>(subscriptions.Count(to));
  return static_cast<int64_t>(subscriptions.Count(Listening::kChannel) + subscriptions.Count(Listening::kPattern));
}

Status Join(ClientCall& call, Listening to, std::string_view word) {
  call.never_silent = true;
  for (const std::string_view name : call.arguments.subspan(1)) {
    const Status joined = call.session.subscriptions->Join(to, name);
    if (!joined.has_value()) {
      // Instead of the confirmations of this name and those behind it.
      call.reply.Error(ErrorReply(joined.error()));
      return {};
    }
    call.reply.Push(3).Bulk(word).Bulk(name).Int(CountWith(*call.session.subscriptions, to));
  }
  return {};
}

Status Leave(ClientCall& call, Listening to, std::string_view word) {
  call.never_silent = true;
  call.messages_first = true;
  Subscriptions& subscriptions = *call.session.subscriptions;
  const auto confirm = [&](BytesView name) {
    subscriptions.Leave(to, name);
    call.reply.Push(3).Bulk(word).Bulk(name).Int(CountWith(subscriptions, to));
  };
  if (call.arguments.size() > 1) {
    for (const std::string_view name : call.arguments.subspan(1)) confirm(name);
    return {};
  }
  const std::vector<Bytes> all = subscriptions.Names(to);
  for (const Bytes& name : all) confirm(name);
  if (all.empty()) call.reply.Push(3).Bulk(word).Null().Int(CountWith(subscriptions, to));
  return {};
}

Status WrongCount(ClientCall& call) {
  return WrongWith("unknown subcommand or wrong number of arguments for ",
                   "'" + std::string(call.arguments[1]) + "'. Try PUBSUB HELP.");
}

Status TellNames(ClientCall& call, Listening to) {
  if (call.arguments.size() > 3) return WrongCount(call);
  const std::vector<Bytes> names =
      call.service.channels.Names(to, call.arguments.size() == 3 ? call.arguments[2] : "*");
  call.reply.Array(names.size());
  for (const Bytes& name : names) call.reply.Bulk(name);
  return {};
}

Status TellListeners(ClientCall& call, Listening to) {
  const Arguments names = call.arguments.subspan(2);
  call.reply.Array(2 * names.size());
  for (const std::string_view name : names) {
    call.reply.Bulk(name).Int(static_cast<int64_t>(call.service.channels.Listeners(to, name)));
  }
  return {};
}

}  // namespace

// A client that listens itself is told before it is answered; not in the middle of the answer of a transaction.
Status Publish(ClientCall& call) {
  call.messages_first = !call.session.in_transaction;
  const size_t told = call.service.channels.Publish(call.arguments[1], call.arguments[2]);
  call.reply.Int(static_cast<int64_t>(told));
  return {};
}

Status SPublish(ClientCall& call) {
  call.messages_first = !call.session.in_transaction;
  const size_t told = call.service.channels.PublishToShard(call.arguments[1], call.arguments[2]);
  call.reply.Int(static_cast<int64_t>(told));
  return {};
}

Status Subscribe(ClientCall& call) { return Join(call, Listening::kChannel, "subscribe"); }
Status PSubscribe(ClientCall& call) { return Join(call, Listening::kPattern, "psubscribe"); }

Status SSubscribe(ClientCall& call) {
  // In a transaction clients expect one answer of each command.
  if (call.session.in_transaction) return Wrong("SSUBSCRIBE isn't allowed for a DENY BLOCKING client");
  return Join(call, Listening::kShard, "ssubscribe");
}

Status Unsubscribe(ClientCall& call) { return Leave(call, Listening::kChannel, "unsubscribe"); }
Status PUnsubscribe(ClientCall& call) { return Leave(call, Listening::kPattern, "punsubscribe"); }
Status SUnsubscribe(ClientCall& call) { return Leave(call, Listening::kShard, "sunsubscribe"); }

Status PubSubChannels(ClientCall& call) { return TellNames(call, Listening::kChannel); }
Status PubSubShardChannels(ClientCall& call) { return TellNames(call, Listening::kShard); }
Status PubSubNumSub(ClientCall& call) { return TellListeners(call, Listening::kChannel); }
Status PubSubShardNumSub(ClientCall& call) { return TellListeners(call, Listening::kShard); }

Status PubSubNumPat(ClientCall& call) {
  call.reply.Int(static_cast<int64_t>(call.service.channels.Count(Listening::kPattern)));
  return {};
}

}  // namespace kvarts::resp
