#include "protocol/resp/batch.h"

#include "protocol/resp/command_table.h"
#include "protocol/resp/errors.h"
#include "protocol/resp/service.h"

namespace kvarts::resp {
namespace {

Status WithoutWaiting(const Blocking& blocking, DataCall& call) {
  KVARTS_CHECK_OK(blocking.handler(call));
  return {};
}

}  // namespace

void Batch::Add(const Command& command, Arguments arguments, uint32_t database, bool silent,
                std::span<const StagedArgument> staged) {
  items_.push_back({&command, database, silent, sizes_.size(), arguments.size(), staged_.size(), staged.size()});
  for (const std::string_view argument : arguments) {
    text_.append(argument);
    sizes_.push_back(argument.size());
  }
  staged_.insert(staged_.end(), staged.begin(), staged.end());
  flags_ |= command.flags;
  arguments_.clear();
}

void Batch::AddError(std::string_view error) {
  items_.push_back({nullptr, 0, false, sizes_.size(), 1, 0, 0});
  text_.append(error);
  sizes_.push_back(error.size());
  arguments_.clear();
}

void Batch::Clear() {
  const bool large = text_.capacity() > kKeptBytes || sizes_.capacity() > kKeptArguments;
  if (large) *this = Batch();
  text_.clear();
  sizes_.clear();
  items_.clear();
  staged_.clear();
  arguments_.clear();
  flags_ = 0;
}

void Batch::Locate() {
  if (!arguments_.empty()) return;
  size_t at = 0;
  for (const size_t size : sizes_) {
    arguments_.emplace_back(text_.data() + at, size);
    at += size;
  }
}

Status Batch::ReadKeys(structure::Structures& keys) {
  // One key alone is read when it is opened.
  const Command* only = items_.size() == 1 ? items_[0].command : nullptr;
  if (only != nullptr && only->first_key == only->last_key) return {};
  std::vector<structure::Structures::Name> names;
  names.reserve(items_.size());
  for (const Item& item : items_) {
    if (item.command == nullptr) continue;
    ForEachKey(*item.command, ArgumentsOf(item), [&](std::string_view name) {
      names.push_back({item.database, name});
    });
  }
  return keys.Read(names);
}

Status Batch::RunItem(const Item& item, const Running& running) {
  ReplyWriter& reply = running.reply;
  if (item.command == nullptr) {
    reply.Error(arguments_[item.first]);
    return {};
  }
  const auto& handler = item.command->handler;
  if (!std::holds_alternative<DataHandler>(handler) && !std::holds_alternative<Blocking>(handler)) {
    holes_.push_back({reply.out().size(), item.command, ArgumentsOf(item)});
    return {};
  }
  const size_t before = reply.out().size();
  const Status ran = Handle(item, running);
  if (!ran.has_value() && !IsOfCommand(ran.error())) return ran;
  if (!ran.has_value() || item.silent) reply.out().resize(before);
  if (!ran.has_value() && !item.silent) reply.Error(ErrorReply(ran.error()));
  return running.room.ExpectAnswers(reply.out().size());
}

Status Batch::Handle(const Item& item, const Running& running) {
  const auto staged = std::span(staged_).subspan(item.first_staged, item.staged);
  for (StagedArgument& argument : staged) argument.used = false;
  DataCall call{ArgumentsOf(item), item.database, running.keys, running.reply, running.service, running.room, staged};
  const auto* data = std::get_if<DataHandler>(&item.command->handler);
  const Status ran = data != nullptr ? (*data)(call) : WithoutWaiting(std::get<Blocking>(item.command->handler), call);
  // What the command had no use for.
  for (const StagedArgument& argument : staged) {
    if (!argument.used) KVARTS_CHECK_OK(structure::DiscardStaged(running.keys.txn(), argument.text));
  }
  return ran;
}

void Batch::Prepare(structure::Structures& keys, const Service& service) {
  keys.set_max_text_bytes(static_cast<uint64_t>(service.options.max_bulk_bytes));
}

Status Batch::Run(Txn& txn, Service& service, int version, HeldBytes* held, Bytes* replies) {
  replies->clear();
  held->Release();
  Locate();
  structure::Structures keys(txn, service.databases);
  Prepare(keys, service);
  KVARTS_CHECK_OK(ReadKeys(keys));
  ReplyWriter reply(replies, version);
  Room room(*held, takes_long(), items_.size() > 1);
  for (const Item& item : items_) KVARTS_CHECK_OK(RunItem(item, {keys, service, reply, room}));
  keys.Flush();
  return {};
}

Status Batch::RunOne(size_t which, Txn& txn, Service& service, int version, HeldBytes* held, Bytes* replies) {
  replies->clear();
  held->Release();
  Locate();
  structure::Structures keys(txn, service.databases);
  Prepare(keys, service);
  ReplyWriter reply(replies, version);
  Room room(*held, takes_long(), false);
  KVARTS_CHECK_OK(RunItem(items_[which], {keys, service, reply, room}));
  keys.Flush();
  return {};
}

Status Batch::RunIfUnchanged(std::span<const Watched> watched, Txn& txn, Service& service, int version, HeldBytes* held,
                             Bytes* replies) {
  replies->clear();
  held->Release();
  holes_.clear();
  Locate();
  structure::Structures keys(txn, service.databases);
  Prepare(keys, service);
  ReplyWriter reply(replies, version);
  for (const Watched& key : watched) {
    KVARTS_TRY(const structure::Key* now, keys.Open(key.database, key.name));
    // A database that was flushed or swapped since is another.
    if (now->version() != key.version || now->place() != key.place) {
      reply.NullArray();
      return {};
    }
    if (key.version) continue;
    Precondition untouched;
    untouched.kind = Precondition::Kind::kRangeUnchanged;
    untouched.key = key.place;
    untouched.end = KeyAfter(key.place);
    untouched.version = key.seen_at;
    txn.Require(std::move(untouched));
  }
  KVARTS_CHECK_OK(ReadKeys(keys));
  reply.Array(items_.size());
  Room room(*held, takes_long(), false);
  for (const Item& item : items_) KVARTS_CHECK_OK(RunItem(item, {keys, service, reply, room}));
  keys.Flush();
  return {};
}

void Batch::AnswerOne(size_t which, const Error& error, Bytes* replies) const {
  if (!items_[which].silent) ReplyWriter(replies, 2).Error(ErrorReply(error));
}

void Batch::AnswerAll(const Error& error, Bytes* replies) const {
  for (size_t i = 0; i < items_.size(); ++i) AnswerOne(i, error, replies);
}

}  // namespace kvarts::resp
