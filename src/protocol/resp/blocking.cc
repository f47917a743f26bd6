#include "protocol/resp/blocking.h"

#include <cmath>

#include "model/structure/strings.h"
#include "protocol/common/await.h"
#include "protocol/resp/command_keys.h"
#include "protocol/resp/command_table.h"
#include "protocol/resp/errors.h"

namespace kvarts::resp {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

// A timer is set for no longer; then it is set anew.
constexpr milliseconds kLongestSleep(std::chrono::hours(1));
// Between looks, when it ends and the answer is on its way.
constexpr milliseconds kShortestSleep(1);
// What is longer is for ever.
constexpr milliseconds kLongestWait(std::chrono::years(100));

// What is used where the body runs, which may be when the connection has gone.
class Attempt {
 public:
  Attempt(Service& service, const Session& session, const Command& command, std::vector<Bytes> arguments,
          std::shared_ptr<Waker> waker)
      : service_(service),
        command_(command),
        texts_(std::move(arguments)),
        arguments_(texts_.begin(), texts_.end()),
        database_(session.database),
        version_(session.version),
        waker_(std::move(waker)) {}

  Result<Store::Ready> Try(Txn& txn, Store::Ranges* ranges) {
    reply_.clear();
    structure::Structures keys(txn, service_.databases);
    ReplyWriter reply(&reply_, version_);
    // Where it runs, it is looked through as much as the limits of the store allow.
    HeldBytes held(service_.held_bytes, service_.options.max_held_bytes);
    Room room(held, true, false);
    DataCall call{arguments_, database_, keys, reply, service_, room, {}, waited_};
    KVARTS_CHECK_OK(ReadKeys(keys));
    const Result<Attempted> attempted = std::get<Blocking>(command_.handler).handler(call);
    if (!attempted.has_value()) {
      if (!IsOfCommand(attempted.error())) return attempted.error();
      reply_.clear();
      reply.Error(ErrorReply(attempted.error()));
      return Store::Ready::kDone;
    }
    // What the database's number stands for may change, and with it where the keys are.
    ranges->clear();
    ranges->push_back(KeyRange::Single(structure::DatabasesPlace()));
    KVARTS_TRY(const structure::DatabaseId id, keys.IdOf(database_));
    for (const std::string_view name : attempted->keys) {
      ranges->push_back(KeyRange::Single(structure::KeyPlace(id, name)));
    }
    if (attempted->served) {
      keys.Flush();
      return Store::Ready::kDone;
    }
    waited_ = true;
    return Store::Ready::kWait;
  }

  // On whichever thread knows it.
  void Finish(Result<RunReport> outcome) {
    outcome_ = std::move(outcome);
    done_.store(true, std::memory_order_release);
    Waker::Wake(waker_);
  }
  // Whether it has found nothing. Before that its time is not over, however short that is.
  bool waited() const { return waited_; }
  // From then on nothing of it changes.
  bool done() const { return done_.load(std::memory_order_acquire); }
  void Answer(Bytes* output) const {
    if (outcome_.has_value()) {
      output->append(reply_);
    } else {
      ReplyWriter(output, version_).Error(ErrorReply(outcome_.error()));
    }
  }

 private:
  Status ReadKeys(structure::Structures& keys) const {
    std::vector<structure::Structures::Name> names;
    ForEachKey(command_, arguments_, [&](std::string_view name) { names.push_back({database_, name}); });
    return keys.Read(names);
  }

  Service& service_;
  const Command& command_;
  const std::vector<Bytes> texts_;
  const std::vector<std::string_view> arguments_;
  const uint32_t database_;
  const int version_;
  const std::shared_ptr<Waker> waker_;
  std::atomic<bool> waited_{false};
  Bytes reply_;
  Result<RunReport> outcome_ = RunReport();
  std::atomic<bool> done_{false};
};

// A body that waits, until this goes.
struct Waiting {
  Waiting(Service& with, Durability durability, const std::shared_ptr<Attempt>& attempt, const Bytes& what)
      : service(with) {
    RunOptions options;
    options.durability = durability;
    body = service.store.RunWhenReady(
        {}, [attempt](Txn& txn, Store::Ranges* ranges) { return attempt->Try(txn, ranges); }, std::move(options),
        [attempt](Result<RunReport> outcome) { attempt->Finish(std::move(outcome)); },
        service.lines.Find(service.store, what));
  }
  ~Waiting() { service.store.Cancel(body); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

  // Takes it back; false when its answer is there, or on its way. To find out may take a while where commits are a way
  // to a server and back, and then the loop does not wait for it.
  net::Task<bool> TakeBack(net::Loop& loop) {
    auto cancel = [this]() -> Result<bool> { return service.store.Cancel(body); };
    if (!service.store.engine().capabilities().shared) co_return *cancel();
    const Result<bool> cancelled = co_await OnWorker(loop, service.workers, cancel);
    co_return cancelled.value_or(false);
  }

  Service& service;
  std::shared_ptr<Store::Waiting> body;
};

Steady::time_point EndOf(const Command& command, const std::vector<Bytes>& arguments) {
  const bool first = std::get<Blocking>(command.handler).timeout_first;
  const auto timeout = TimeoutOf(first ? arguments[1] : arguments.back());
  // What is wrong with it, the command itself says.
  if (!timeout.has_value() || !*timeout || **timeout > kLongestWait) return Steady::time_point::max();
  return Steady::now() + **timeout;
}

// What is the same of those who wait for the same: all but for how long.
Bytes WhatIsWaitedFor(const Command& command, uint32_t database, const std::vector<Bytes>& arguments) {
  const bool first = std::get<Blocking>(command.handler).timeout_first;
  Bytes what(command.name);
  AppendVarint(&what, database);
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (i != (first ? 1 : arguments.size() - 1)) AppendSized(&what, arguments[i]);
  }
  return what;
}

milliseconds SleepUntil(Steady::time_point end) {
  const Steady::time_point now = Steady::now();
  if (end <= now) return kShortestSleep;
  return end - now < kLongestSleep ? std::chrono::ceil<milliseconds>(end - now) : kLongestSleep;
}

}  // namespace

Result<std::optional<milliseconds>> TimeoutOf(std::string_view argument) {
  const std::optional<long double> seconds = structure::ParseFloat(argument);
  if (!seconds) return Wrong("timeout is not a float or out of range");
  const long double millis = std::ceil(*seconds * 1000);
  // Redis takes what is too large for less than nothing.
  if (millis < 0 || millis >= static_cast<long double>(INT64_MAX)) return Wrong("timeout is negative");
  if (millis == 0) return std::optional<milliseconds>();
  return std::optional(milliseconds(static_cast<int64_t>(millis)));
}

net::Task<> RunBlocking(net::Stream& stream, Session& session, Service& service, const Command& command,
                        std::vector<Bytes> arguments, Sleep sleep, Bytes* answer) {
  using Ended = BlockedClients::Ended;
  stream.Keep();
  const Steady::time_point end = EndOf(command, arguments);
  const Bytes what = WhatIsWaitedFor(command, session.database, arguments);
  const Waking waking(stream);
  const auto attempt = std::make_shared<Attempt>(service, session, command, std::move(arguments), waking.waker);
  const Durability durability = session.durability.value_or(service.settings.durability());
  Waiting waiting(service, durability, attempt, what);
  const BlockedClients::Place place(service.blocked, session.id, waking.waker);
  const std::stop_token gone = stream.WatchPeer();
  const std::stop_callback on_gone(gone, [&stream] { stream.Wake(); });
  const auto ends = [&] {
    return gone.stop_requested() || stream.loop().draining() || place.ended() != Ended::kNot ||
           (Steady::now() >= end && attempt->waited());
  };
  bool taken_back = false;
  while (!attempt->done() && !stream.aborted()) {
    waking.waker->Looking();
    if (ends()) {
      taken_back = co_await waiting.TakeBack(stream.loop());
      if (taken_back) break;
    }
    if (!attempt->done()) co_await sleep(ends() ? kShortestSleep : SleepUntil(end));
  }
  stream.UnwatchPeer();
  if (attempt->done()) {
    attempt->Answer(answer);
  } else if (stream.aborted() || gone.stop_requested() || stream.loop().draining()) {
    session.ending = true;
  } else if (place.ended() == Ended::kWithError) {
    ReplyWriter(answer, session.version).Error("UNBLOCKED client unblocked via CLIENT UNBLOCK");
  } else {
    ReplyWriter(answer, session.version).NullArray();
  }
}

}  // namespace kvarts::resp
