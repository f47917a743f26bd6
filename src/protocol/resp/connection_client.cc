// Of connections: what they are to others. They are told messages, looked at, and ended.
#include <algorithm>
#include <chrono>
#include <tuple>

#include "protocol/common/waker.h"
#include "protocol/resp/acl_check.h"
#include "protocol/resp/connection.h"

namespace kvarts::resp {
namespace {

// So much of what waits is written at once.
constexpr size_t kWrittenAtOnce = 256 << 10;
// Of what is written, this much is not counted as held.
constexpr size_t kUncounted = 1 << 20;

int64_t SecondsBetween(net::SteadyTime from, net::SteadyTime to) {
  return std::max<int64_t>(0, std::chrono::duration_cast<std::chrono::seconds>(to - from).count());
}

}  // namespace

void Connection::MessagesWait() {
  messages_wait_ = true;
  if (rests_ == Rests::kNot) return;
  TakeMessages();
  last_heard_ = stream_.loop().now();
  if (stream_.FlushNow() && !messages_wait_) return;
  // Whoever rests sends the remainder.
  if (rests_ == Rests::kForInput) {
    stream_.EndRead();
  } else {
    stream_.Wake();
  }
}

void Connection::TakeMessages() {
  Bytes& output = stream_.output();
  messages_wait_ = session_.client->TakeMessages(session_.version, kWrittenAtOnce, &output);
  if (output.size() <= kUncounted || output.size() <= held_answers_.bytes()) return;
  if (!held_answers_.Add(output.size() - held_answers_.bytes())) Kill(false);
}

net::Task<> Connection::Rest(std::chrono::milliseconds at_most) {
  if (messages_wait_) TakeMessages();
  if (!stream_.output().empty()) {
    const bool sent = co_await Send();
    if (!sent) stream_.Abort();
    co_return;
  }
  rests_ = Rests::kInCommand;
  co_await stream_.Sleep(at_most);
  rests_ = Rests::kNot;
}

bool Connection::IsHeldBack(Arguments arguments) {
  if (arguments.empty()) return false;
  const Found found = FindCommand(arguments);
  if (found.command == nullptr || WhyNot(found, arguments)) return false;
  if (session_.caller.user != nullptr && CheckAcl(*session_.caller.user, *found.command, arguments)) return false;
  const auto* special = std::get_if<Special>(&found.command->handler);
  const bool exec = special != nullptr && *special == Special::kExec;
  const bool writes = found.command->Is(kWrite) || found.command->Is(kAffects) || (exec && session_.queue.affects());
  if (pause_ != Pause::What::kAll && !writes) return false;
  last_command_ = found.command;
  return true;
}

// The command stays in the input, and is looked at again.
net::Task<> Connection::SitOutPause() {
  constexpr std::chrono::milliseconds kLongestSleep(std::chrono::hours(1));
  stream_.Keep();
  const Waking waking(stream_);
  const Pause::Place place(service_.pause, waking.waker);
  const std::stop_token gone = stream_.WatchPeer();
  const std::stop_callback on_gone(gone, [this] { stream_.Wake(); });
  while (true) {
    waking.waker->Looking();
    const auto left = service_.pause.Left(pause_ == Pause::What::kWrites);
    if (left.count() == 0) break;
    if (stream_.aborted() || gone.stop_requested() || stream_.loop().draining()) {
      session_.ending = true;
      break;
    }
    co_await Rest(std::min(left, kLongestSleep));
  }
  stream_.UnwatchPeer();
}

void Connection::Kill(bool behind_answer) {
  session_.ending = true;
  if (behind_answer) return;
  Leave();
  stream_.Abort();
}

void Connection::Leave() {
  session_.EndTracking(service_);
  subscriptions_.LeaveAll();
  service_.clients.Remove(*session_.client);
  session_.client->End();
}

// Those who come in by a file have its name, as in Redis.
const Connection::Addresses& Connection::KnownAddresses() const {
  if (addresses_) return *addresses_;
  constexpr std::string_view kFile = "unix:";
  const std::string local = stream_.Local();
  if (local.starts_with(kFile)) {
    const std::string name = local.substr(kFile.size()) + ":0";
    return addresses_.emplace(name, name, true);
  }
  return addresses_.emplace(stream_.Peer(), local, false);
}

std::optional<Tracking::Info> Connection::TrackingInfo() const {
  return session_.tracking ? service_.tracking.Of(session_.id) : std::nullopt;
}

std::string Connection::Flags() const {
  std::string flags;
  if (subscriptions_.any()) flags += 'P';
  if (session_.in_transaction) flags += 'x';
  if (rests_ == Rests::kInCommand) flags += 'b';
  if (const auto tracks = TrackingInfo()) {
    flags += 't';
    if (tracks->broken) flags += 'R';
    if (tracks->options.broadcast) flags += 'B';
  }
  if (session_.ending) flags += 'c';
  if (KnownAddresses().is_file) flags += 'U';
  if (session_.never_evicted) flags += 'e';
  return flags.empty() ? "N" : flags;
}

ClientFacts Connection::Facts() const {
  const net::SteadyTime now = std::chrono::steady_clock::now();
  ClientFacts facts;
  facts.id = session_.id;
  facts.of = subscriptions_.any() ? ClientClass::kPubSub : ClientClass::kNormal;
  facts.address = KnownAddresses().peer;
  facts.local = KnownAddresses().local;
  facts.socket = stream_.socket();
  facts.name = session_.name;
  facts.user = session_.UserName();
  facts.age_seconds = SecondsBetween(since_, now);
  facts.idle_seconds = SecondsBetween(last_heard_, now);
  facts.flags = Flags();
  facts.database = session_.database;
  facts.channels = subscriptions_.Count(Listening::kChannel);
  facts.patterns = subscriptions_.Count(Listening::kPattern);
  facts.shard_channels = subscriptions_.Count(Listening::kShard);
  if (session_.in_transaction) facts.queued = static_cast<int64_t>(session_.queue.size());
  facts.input_bytes = stream_.input().size();
  if (rests_ != Rests::kForInput) {
    for (const Bytes& argument : pending_arguments_) facts.argument_bytes += argument.size();
  }
  facts.queued_bytes = session_.queue.bytes();
  facts.output_bytes = stream_.unsent();
  facts.sends = sends_;
  std::tie(facts.messages, facts.message_bytes) = session_.client->waiting();
  facts.total_bytes = sizeof(Connection) + sizeof(net::Stream) + facts.input_bytes + facts.argument_bytes +
                      facts.queued_bytes + facts.output_bytes + facts.message_bytes;
  if (last_command_ != nullptr) facts.command = last_command_->name;
  if (const auto tracks = TrackingInfo()) facts.redirected_to = static_cast<int64_t>(tracks->options.redirect);
  facts.version = session_.version;
  return facts;
}

}  // namespace kvarts::resp
