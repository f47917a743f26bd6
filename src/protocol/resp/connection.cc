#include "protocol/resp/connection.h"

#include <algorithm>
#include <chrono>

#include "protocol/common/await.h"
#include "protocol/resp/acl_session.h"
#include "protocol/resp/arguments.h"
#include "protocol/resp/blocking.h"
#include "protocol/resp/command_table.h"
#include "protocol/resp/errors.h"
#include "protocol/resp/handlers.h"
#include "protocol/resp/refusals.h"
#include "protocol/resp/tracked_reads.h"

namespace kvarts::resp {
namespace {

constexpr std::string_view kTooManyClients = "-ERR max number of clients reached\r\n";

class NanosWatch {
 public:
  uint64_t Elapsed() const {
    return static_cast<uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - began_).count());
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

Connection::Connection(net::Stream& stream, Service& service)
    : stream_(stream),
      service_(service),
      subscriptions_(service.channels, service.held_bytes, service.options.max_held_bytes / 2),
      session_(service.next_client.fetch_add(1), !service.acl->DefaultIsOpen()),
      since_(std::chrono::steady_clock::now()),
      last_heard_(since_),
      held_input_(service.held_bytes, service.options.max_held_bytes),
      held_answers_(service.held_bytes, service.options.max_held_bytes) {
  session_.client = std::make_shared<Client>(service, session_.id, stream.loop(), static_cast<Client::Owner&>(*this));
  session_.subscriptions = &subscriptions_;
  subscriptions_.SetClient(session_.client);
  service_.clients.Add(session_.client);
}

Connection::~Connection() { Leave(); }

net::Task<> Connection::Run(bool refuse) {
  stream_.ClearDeadline();
  if (refuse) {
    stream_.output().append(kTooManyClients);
    session_.ending = true;
  }
  while (true) {
    if (messages_wait_) TakeMessages();
    const Step step = TakeCommand();
    // Whoever is told of the end finds it gone.
    if (step == Step::kEnd) Leave();
    const bool waits = step == Step::kMore || step == Step::kEnd;
    if ((waits || stream_.output().size() > kMaxUnsent) && !stream_.FlushNow()) {
      const bool sent = co_await Send();
      if (!sent) co_return;
    }
    held_answers_.Release();
    if (step == Step::kMore) {
      if (!Hold()) continue;
      if (stream_.input().empty()) parser_.LetGo();
      // What is queued is promised to nobody.
      stream_.set_idle(stream_.input().empty());
      if (stream_.idle() && stream_.loop().draining()) break;
      const int64_t rests = subscriptions_.any() ? 0 : service_.settings[Number::kIdleSeconds];
      service_.bytes_in.fetch_add(std::exchange(consumed_, 0), std::memory_order_relaxed);
      service_.bytes_out.fetch_add(stream_.TakeSentBytes(), std::memory_order_relaxed);
      if (rests > 0) stream_.SetDeadline(std::chrono::seconds(rests));
      if (messages_wait_) stream_.EndRead();
      rests_ = Rests::kForInput;
      const bool more = co_await stream_.Read();
      rests_ = Rests::kNot;
      last_heard_ = stream_.loop().now();
      if (rests > 0) stream_.ClearDeadline();
      stream_.set_idle(false);
      if (!more) co_return;
    } else if (step == Step::kRunBatch) {
      const TrackedReads reads(service_, session_, batch_, false, &messages_wait_);
      if (!RunAtOnce()) co_await RunBatch();
    } else if (step == Step::kWork) {
      co_await RunPendingWork();
    } else if (step == Step::kSpecial) {
      co_await RunSpecial();
    } else if (step == Step::kHeldBack) {
      co_await SitOutPause();
    } else if (step == Step::kStage) {
      co_await StageAndTake();
    } else if (step == Step::kEnd) {
      break;
    }
  }
  co_await stream_.Close();
}

net::Task<bool> Connection::Send() {
  stream_.Keep();
  stream_.SetSendDeadline(service_.options.write_timeout);
  sends_ = true;
  const bool sent = co_await stream_.Flush();
  sends_ = false;
  stream_.ClearDeadline();
  co_return sent;
}

Connection::Step Connection::TakeCommand() {
  if (!batch_.empty() && (pending_ != nullptr || session_.ending)) return Step::kRunBatch;
  if (stream_.aborted()) return Step::kEnd;
  if (pending_ != nullptr) return RunPending();
  if (session_.ending) return Step::kEnd;
  const RespOptions& options = service_.options;
  const bool full = batch_.size() >= options.max_pipelined || batch_.bytes() >= options.max_pipelined_bytes;
  if (full) return Step::kRunBatch;
  const Step nothing = batch_.empty() ? Step::kMore : Step::kRunBatch;
  if (stream_.input().empty()) return nothing;
  if (batch_.empty()) pause_ = service_.pause.what();
  const CommandParser::Limits limits{service_.settings[Number::kMaxBulkBytes], MustAuthenticate(service_, session_)};
  switch (parser_.Parse(stream_.input(), limits)) {
    case CommandParser::State::kMore:
      return nothing;
    case CommandParser::State::kError:
      AnswerError("ERR " + parser_.error());
      session_.ending = true;
      return Step::kTaken;
    case CommandParser::State::kCommand:
      break;
  }
  if (pause_ != Pause::What::kNothing && IsHeldBack(parser_.arguments())) {
    return batch_.empty() ? Step::kHeldBack : Step::kRunBatch;
  }
  if (MustStage(parser_.arguments())) return Step::kStage;
  const size_t consumed = parser_.consumed();
  Take(parser_.arguments());
  stream_.Consume(consumed);
  consumed_ += consumed;
  return Step::kTaken;
}

void Connection::Take(Arguments arguments, std::span<const StagedArgument> staged) {
  if (arguments.empty()) (void)TakeSilence();
  if (arguments.empty() || !IsStillThere()) return;
  const Found found = FindCommand(arguments);
  const Command* command = found.command;
  last_command_ = command;
  if (const auto why = WhyNot(found, arguments)) return Refuse(command, *why);
  if (session_.caller.user != nullptr && RefuseByRights(*command, arguments)) [[unlikely]]
    return;
  const bool silent = TakeSilence();
  if (session_.in_transaction && !command->Is(kAtOnce)) {
    return Queue(*command, arguments, silent, staged);
  }
  if (std::holds_alternative<DataHandler>(command->handler)) {
    batch_.Add(*command, arguments, session_.database, silent, staged);
    return;
  }
  pending_ = command;
  pending_silent_ = silent;
  pending_arguments_.assign(arguments.begin(), arguments.end());
}

// Whether the next answer is not wanted.
bool Connection::TakeSilence() {
  if (session_.replies != Session::Replies::kSkipNext) return session_.replies == Session::Replies::kOff;
  session_.replies = Session::Replies::kOn;
  return true;
}

std::optional<std::string> Connection::WhyNot(const Found& found, Arguments arguments) const {
  const Command* command = found.command;
  if (found.container != nullptr) return UnknownSubcommand(*found.container, arguments);
  if (command == nullptr) return UnknownCommand(arguments);
  if (!command->Takes(arguments.size())) {
    return "ERR wrong number of arguments for '" + std::string(command->name) + "' command";
  }
  if (!command->Is(kNoAuth) && MustAuthenticate(service_, session_)) return "NOAUTH Authentication required.";
  if (subscriptions_.any() && session_.version == 2 && !command->Is(kWhileListening)) return OnlyListens(*command);
  if (session_.in_transaction && command->Is(kNoMulti) && !command->Is(kAtOnce)) {
    return "ERR Command not allowed inside a transaction";
  }
  return std::nullopt;
}

// A refused EXEC ends the transaction; anything else that is refused spoils it.
void Connection::Refuse(const Command* command, std::string_view why) {
  ForgetCaching(command);
  if (command != nullptr) service_.statistics.Rejected(*command);
  service_.statistics.Failed(why);
  const auto* special = command == nullptr ? nullptr : std::get_if<Special>(&command->handler);
  if (special == nullptr || *special != Special::kExec) {
    session_.aborted = session_.in_transaction;
    return AnswerError(why);
  }
  constexpr std::string_view kError = "ERR ";
  if (why.starts_with(kError)) why.remove_prefix(kError.size());
  session_.EndTransaction();
  AnswerError("EXECABORT Transaction discarded because of: " + std::string(why));
}

void Connection::AnswerError(std::string_view error) {
  if (TakeSilence()) return;
  if (batch_.empty()) {
    ReplyWriter(&stream_.output(), session_.version).Error(error);
  } else {
    batch_.AddError(error);
  }
}

void Connection::ForgetCaching(const Command* command) {
  if (session_.in_transaction || (command != nullptr && command->name.starts_with("client|"))) return;
  session_.caching = false;
}

Connection::Step Connection::RunPending() {
  if (std::holds_alternative<WorkHandler>(pending_->handler)) return Step::kWork;
  if (!std::holds_alternative<ClientHandler>(pending_->handler)) return Step::kSpecial;
  const Command& command = *std::exchange(pending_, nullptr);
  const std::vector<Bytes> words = std::exchange(pending_arguments_, {});
  const std::vector<std::string_view> arguments(words.begin(), words.end());
  size_t before = stream_.output().size();
  RunClientCommand(command, arguments, pending_silent_, &before);
  ForgetCaching(&command);
  return Step::kTaken;
}

void Connection::RunClientCommand(const Command& command, Arguments arguments, bool silent, size_t* messages_at) {
  Bytes& output = stream_.output();
  const size_t before = output.size();
  ReplyWriter reply(&output, session_.version);
  ClientCall call{arguments, session_, reply, service_};
  const NanosWatch watch;
  const Status ran = std::get<ClientHandler>(command.handler)(call);
  if (!ran.has_value()) {
    output.resize(before);
    ReplyWriter(&output, session_.version).Error(ErrorReply(ran.error()));
  }
  const bool failed = output.size() > before && output[before] == '-';
  Count(command, arguments, watch.Elapsed(), failed ? std::string_view(output).substr(before + 1) : std::string_view());
  if (silent && !call.never_silent) output.resize(before);
  // It may have told itself something.
  messages_wait_ = messages_wait_ || command.Is(kAffects);
  if (!call.messages_first) return;
  Bytes messages;
  session_.client->TakeMessages(reply.version(), SIZE_MAX, &messages);
  output.insert(*messages_at, messages);
  *messages_at += messages.size();
}

net::Task<> Connection::RunPendingWork() {
  const Command& command = *std::exchange(pending_, nullptr);
  const std::vector<Bytes> words = std::exchange(pending_arguments_, {});
  const std::vector<std::string_view> arguments(words.begin(), words.end());
  const size_t before = stream_.output().size();
  co_await RunWork(command, arguments);
  ForgetCaching(&command);
  if (pending_silent_) stream_.output().resize(before);
  (void)IsStillThere();
}

net::Task<> Connection::RunWork(const Command& command, Arguments arguments) {
  stream_.Keep();
  Bytes written;
  const NanosWatch watch;
  const auto work = [&]() -> Status {
    ReplyWriter reply(&written, session_.version);
    WorkCall call{arguments, session_.id, reply, service_};
    return std::get<WorkHandler>(command.handler)(call);
  };
  works_ = true;
  const Status ran = co_await OnWorker(stream_.loop(), service_.workers, work, {WorkerPool::Lane::kLong});
  works_ = false;
  if (!ran.has_value()) {
    written.clear();
    ReplyWriter(&written, session_.version).Error(ErrorReply(ran.error()));
  }
  const bool failed = written.starts_with('-');
  Count(command, arguments, watch.Elapsed(), failed ? std::string_view(written).substr(1) : std::string_view());
  stream_.output().append(written);
}

void Connection::CountBatch(const Batch& batch) {
  for (const Batch::Ran& ran : batch.ran()) Count(*ran.command, ran.arguments, ran.nanos, ran.error);
}

void Connection::Count(const Command& command, Arguments arguments, uint64_t nanos, std::string_view error) {
  service_.statistics.Ran(command, nanos, !error.empty());
  if (!error.empty()) service_.statistics.Failed(error);
  const auto micros = static_cast<int64_t>(nanos / 1000);
  const int64_t slow = service_.settings[Number::kSlowMicros];
  const int64_t late = service_.settings[Number::kLatencyMillis];
  const bool is_slow = slow >= 0 && micros >= slow && !command.Is(kSkipSlowlog);
  const bool is_late = late > 0 && micros >= late * 1000;
  if (!is_slow && !is_late) return;
  const auto now = static_cast<int64_t>(service_.clock.Now().micros / 1'000'000);
  if (is_late) service_.latency_events.Add(command.Is(kFast) ? "fast-command" : "command", now, micros / 1000);
  if (!is_slow) return;
  SlowLog::Entry entry{0, now, micros, CutWords(WithoutSecrets(arguments)), stream_.Peer(), session_.name};
  service_.slow_log.Add(std::move(entry), static_cast<size_t>(service_.settings[Number::kMaxSlow]));
}

// What stands before it is sent first: it may wait for long.
net::Task<> Connection::RunBlocking(const Command& command) {
  if (!stream_.FlushNow()) {
    const bool sent = co_await Send();
    if (!sent) co_return stream_.Abort();
  }
  const std::vector<Bytes> words = pending_arguments_;
  Bytes answer;
  const auto rest = [this](std::chrono::milliseconds at_most) { return Rest(at_most); };
  co_await resp::RunBlocking(stream_, session_, service_, command, std::move(pending_arguments_), rest, &answer);
  pending_arguments_.clear();
  // How long it waited says nothing about the command.
  const std::vector<std::string_view> arguments(words.begin(), words.end());
  Count(command, arguments, 0, answer.starts_with('-') ? std::string_view(answer).substr(1) : std::string_view());
  if (!pending_silent_) stream_.output().append(answer);
}

net::Task<> Connection::RunSpecial() {
  const Command& command = *std::exchange(pending_, nullptr);
  if (std::holds_alternative<Blocking>(command.handler)) {
    co_await RunBlocking(command);
    ForgetCaching(&command);
    co_return;
  }
  const auto special = std::get<Special>(command.handler);
  const size_t before = stream_.output().size();
  messages_first_ = 0;
  const NanosWatch watch;
  ReplyWriter reply(&stream_.output(), session_.version);
  switch (special) {
    case Special::kMulti:
      if (session_.in_transaction) {
        reply.Error("ERR MULTI calls can not be nested");
        break;
      }
      session_.in_transaction = true;
      session_.queue_database = session_.database;
      reply.Simple("OK");
      break;
    case Special::kDiscard:
      if (session_.in_transaction) {
        session_.EndTransaction();
        reply.Simple("OK");
      } else {
        reply.Error("ERR DISCARD without MULTI");
      }
      break;
    case Special::kExec:
      co_await Exec();
      break;
    case Special::kWatch:
      co_await Watch();
      break;
    case Special::kContainer:
      break;
  }
  const std::string_view written = std::string_view(stream_.output()).substr(before + messages_first_);
  const std::vector<std::string_view> arguments(pending_arguments_.begin(), pending_arguments_.end());
  Count(command, arguments, watch.Elapsed(), written.starts_with('-') ? written.substr(1) : std::string_view());
  if (pending_silent_) stream_.output().resize(before + messages_first_);
  ForgetCaching(&command);
  pending_arguments_ = {};
}

RespProtocol::Match RespProtocol::Sniff(std::string_view first) const {
  if (first[0] == '*') return Match::kYes;
  // A line of words; those of HTTP have been asked first. A hello of TLS is none, nor is anything that begins so.
  const auto begins_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '"' || c == '\'';
  };
  const size_t word = first.find_first_not_of(" \t\r\n");
  if (word != std::string_view::npos && !begins_word(first[word])) return Match::kNo;
  if (first.find('\n') != std::string_view::npos || first.size() >= kMaxSniffBytes) return Match::kYes;
  return Match::kMaybe;
}

net::Task<> RespProtocol::Serve(net::Stream& stream, bool refuse) {
  Connection connection(stream, service_);
  co_await connection.Run(refuse);
}

}  // namespace kvarts::resp
