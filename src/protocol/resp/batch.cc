#include "protocol/resp/batch.h"

#include <chrono>

#include "protocol/resp/command_keys.h"
#include "protocol/resp/errors.h"
#include "protocol/resp/service.h"

namespace kvarts::resp {
namespace {

Status WithoutWaiting(const Blocking& blocking, DataCall& call) {
  KVARTS_CHECK_OK(blocking.handler(call));
  return {};
}

// Of a command that returned an error, or has written one.
std::string ErrorKind(const Status& ran, const Bytes& written, size_t at) {
  if (!ran.has_value()) return std::string(KindOfError(ErrorReply(ran.error())));
  return std::string(KindOfError(std::string_view(written).substr(at + 1)));
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

Batch::Queued Batch::At(size_t which) {
  Locate();
  return {items_[which].command, ArgumentsOf(items_[which])};
}

void Batch::Replace(size_t which, std::string_view error) {
  AddError(error);
  items_[which] = items_.back();
  items_.pop_back();
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
  ran_.clear();
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

// Each with the time that it took, to which its share of the reading ahead belongs: what one ends at, the next begins
// at.
Status Batch::RunAll(const Running& running) {
  using Clock = std::chrono::steady_clock;
  ran_.clear();
  const Clock::time_point first = Clock::now();
  KVARTS_CHECK_OK(ReadKeys(running.keys));
  Clock::time_point began = Clock::now();
  const auto reading = static_cast<uint64_t>(std::chrono::nanoseconds(began - first).count());
  for (const Item& item : items_) {
    const size_t before = ran_.size();
    KVARTS_CHECK_OK(RunItem(item, running));
    const Clock::time_point ended = Clock::now();
    if (ran_.size() > before) {
      const auto alone = static_cast<uint64_t>(std::chrono::nanoseconds(ended - began).count());
      ran_.back().nanos = alone + reading / items_.size();
    }
    began = ended;
  }
  return {};
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
  const bool failed = !ran.has_value() || (reply.out().size() > before && reply.out()[before] == '-');
  ran_.push_back({item.command, ArgumentsOf(item), 0, failed ? ErrorKind(ran, reply.out(), before) : std::string()});
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
  keys.set_max_text_bytes(static_cast<uint64_t>(service.settings[Number::kMaxBulkBytes]));
}

Status Batch::Run(Txn& txn, Service& service, int version, HeldBytes* held, Bytes* replies) {
  replies->clear();
  held->Release();
  Locate();
  structure::Structures keys(txn, service.databases);
  Prepare(keys, service);
  ReplyWriter reply(replies, version);
  Room room(*held, takes_long(), items_.size() > 1);
  KVARTS_CHECK_OK(RunAll({keys, service, reply, room}));
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
  ran_.clear();
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
      ran_.clear();
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
  reply.Array(items_.size());
  Room room(*held, takes_long(), false);
  KVARTS_CHECK_OK(RunAll({keys, service, reply, room}));
  keys.Flush();
  return {};
}

void Batch::AnswerOne(size_t which, const Error& error, Bytes* replies) {
  const Item& item = items_[which];
  if (item.silent) return;
  Locate();
  // What was wrong with it is known whatever became of the others.
  ReplyWriter(replies, 2).Error(item.command == nullptr ? std::string(arguments_[item.first]) : ErrorReply(error));
}

void Batch::AnswerAll(const Error& error, Bytes* replies) {
  for (size_t i = 0; i < items_.size(); ++i) AnswerOne(i, error, replies);
}

}  // namespace kvarts::resp
