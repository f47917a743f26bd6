// Of connections: what is queued between MULTI and EXEC, and WATCH.
#include <algorithm>
#include <set>

#include "protocol/resp/acl_session.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/connection.h"
#include "protocol/resp/errors.h"
#include "protocol/resp/handlers.h"

namespace kvarts::resp {
namespace {

// Of what commands of the connection answer in a transaction, so much is not counted as held.
constexpr size_t kUncounted = 1 << 20;

}  // namespace

void Connection::Queue(const Command& command, Arguments arguments, bool silent,
                       std::span<const StagedArgument> staged) {
  session_.queue.Add(command, arguments, session_.queue_database, false, staged);
  const auto* handler = std::get_if<ClientHandler>(&command.handler);
  if (handler != nullptr && *handler == Select) {
    session_.queue_database = DatabaseOf(arguments[1]).value_or(session_.queue_database);
  }
  if (!silent) ReplyWriter(&stream_.output(), session_.version).Simple("QUEUED");
}

net::Task<> Connection::Exec() {
  ReplyWriter reply(&stream_.output(), session_.version);
  if (!session_.in_transaction) {
    reply.Error("ERR EXEC without MULTI");
    co_return;
  }
  if (session_.aborted) {
    reply.Error("EXECABORT Transaction discarded because of previous errors.");
    session_.EndTransaction();
    co_return;
  }
  DenyQueued(service_, session_);
  const auto body = [this](Txn& txn) {
    return session_.queue.RunIfUnchanged(session_.watched, txn, service_, session_.version, &held_answers_, &replies_);
  };
  const bool must_commit = std::ranges::any_of(session_.watched, [](const Watched& key) { return !key.version; });
  const Status ran = co_await RunBody(body, session_.queue, must_commit);
  Bytes& output = stream_.output();
  if (!ran.has_value() && ran.error().code() == ErrorCode::kPreconditionFailed) {
    ReplyWriter(&output, session_.version).NullArray();
  } else if (!ran.has_value()) {
    ReplyWriter(&output, session_.version).Error(ErrorReply(ran.error()));
  } else {
    co_await AnswerQueue();
  }
  replies_.clear();
  session_.EndTransaction();
}

net::Task<> Connection::AnswerQueue() {
  Bytes& output = stream_.output();
  CountBatch(session_.queue);
  const size_t before = output.size();
  size_t messages_at = before;
  size_t written = 0;
  for (const Batch::Hole& hole : session_.queue.holes()) {
    output.append(replies_, written, hole.at - written);
    written = hole.at;
    if (std::holds_alternative<WorkHandler>(hole.command->handler)) {
      co_await RunWork(*hole.command, hole.arguments);
    } else {
      RunClientCommand(*hole.command, hole.arguments, false, &messages_at);
    }
    if (output.size() <= kUncounted + held_answers_.bytes()) continue;
    if (!held_answers_.Add(output.size() - held_answers_.bytes())) co_return Kill(false);
  }
  messages_first_ = messages_at - before;
  if (written == 0) {
    TakeReplies();
  } else {
    output.append(replies_, written);
  }
}

net::Task<> Connection::Watch() {
  if (session_.in_transaction) {
    ReplyWriter(&stream_.output(), session_.version).Error("ERR WATCH inside MULTI is not allowed");
    co_return;
  }
  std::vector<Watched> found;
  const auto body = [this, &found](Txn& txn) -> Status {
    found.clear();
    structure::Structures keys(txn, service_.databases);
    for (size_t i = 1; i < pending_arguments_.size(); ++i) {
      KVARTS_TRY(const structure::Key* key, keys.Open(session_.database, pending_arguments_[i]));
      found.push_back({session_.database, pending_arguments_[i], key->version(), Bytes(key->place()), {}});
    }
    for (Watched& key : found) key.seen_at = txn.ViewVersion().value_or(kNoVersion);
    return {};
  };
  Batch nothing;
  const Status ran = co_await RunBody(body, nothing);
  ReplyWriter reply(&stream_.output(), session_.version);
  if (!ran.has_value()) {
    reply.Error(ErrorReply(ran.error()));
    co_return;
  }
  // What is watched already is watched as it was.
  std::set<std::pair<uint32_t, Bytes>> known;
  for (const Watched& key : session_.watched) known.emplace(key.database, key.name);
  for (Watched& key : found) {
    if (known.emplace(key.database, key.name).second) session_.watched.push_back(std::move(key));
  }
  reply.Simple("OK");
}

}  // namespace kvarts::resp
