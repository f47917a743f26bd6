// GET /watch: what changes in a range, as server-sent events or by long polls.
//
// Where a feed covers the range (a namespace with a feed), changes are read from it: they carry what was there before,
// and a watch goes on exactly where it stopped, also in another process. Elsewhere a watch is live: it is told of what
// is committed while it is there, and cannot be resumed.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <deque>
#include <mutex>

#include "core/user_keys.h"
#include "encoding/json_writer.h"
#include "net/http/negotiate.h"
#include "net/http/target.h"
#include "protocol/common/await.h"
#include "protocol/common/held_bytes.h"
#include "protocol/common/waker.h"
#include "protocol/http/access.h"
#include "protocol/http/handlers.h"
#include "protocol/http/problem.h"
#include "protocol/http/requests.h"
#include "protocol/http/watch_events.h"
#include "protocol/http/work_op.h"

namespace kvarts::http {
namespace {

constexpr size_t kFeedPage = 500;
constexpr uint64_t kDefaultWait = 30;
constexpr uint64_t kMaxWait = 300;
// How long a watch of a feed waits for what was committed before it, and when it looks first.
constexpr std::chrono::milliseconds kSettling(100);
constexpr std::chrono::milliseconds kSettlingLook(5);

// "VERSION.INDEX": the place of a change. What is watched `since` a place comes after it; a version alone is all of its
// commit.
std::string PlaceText(FeedPosition place) { return fmt::format("{}.{}", place.version.stamp, place.index); }

std::optional<FeedPosition> AfterPlace(std::string_view text) {
  const size_t dot = text.find('.');
  const auto version = Version::Parse(text.substr(0, dot));
  if (!version) return std::nullopt;
  if (dot == std::string_view::npos) return FeedPosition{version->Next(), 0};
  uint64_t index = 0;
  const std::string_view digits = text.substr(dot + 1);
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (failed != std::errc() || end != digits.data() + digits.size() || index == UINT64_MAX) return std::nullopt;
  return FeedPosition{*version, index + 1};
}

// Where a watch that has seen everything before `next` goes on: the inverse of AfterPlace.
std::string SinceText(FeedPosition next) {
  if (next.index > 0) return PlaceText({next.version, next.index - 1});
  return next.version == kNoVersion ? "0" : Version{next.version.stamp - 1}.ToString();
}

// What was committed while the watch was there. It is kept as it was committed, and made into events by who takes it:
// the commit thread has no time for that. Bounded by itself, and as a part of what all requests hold.
class Backlog {
 public:
  Backlog(Service& service, KeyRange watched)
      : at_most_(service.options.max_watch_backlog),
        watched_(std::move(watched)),
        held_(service.inflight_bytes, service.stream_bytes, service.stream_room()) {}

  void Tell(const Subscriptions::News& news) {
    using Kind = Subscriptions::News::Kind;
    std::lock_guard lock(mutex_);
    if (news.kind == Kind::kBegins) begun_ = true;
    if (news.kind == Kind::kChange) Push(*news.mutation, news.version);
    if (news.kind == Kind::kLost && !lost_) {
      lost_ = Error(ErrorCode::kUnavailable, "the store was out of reach, and changes were lost");
    }
  }
  // Whether all changes are told by now.
  bool begun() {
    std::lock_guard lock(mutex_);
    return begun_;
  }
  // The oldest, about so many bytes of them; whether there are more. An error once changes were lost, after those
  // before them. They count until they are sent: who sends them must find the room that they had.
  Result<std::vector<WatchEvent>> Take(size_t at_most_bytes, bool* more) {
    std::vector<Change> changes;
    {
      std::lock_guard lock(mutex_);
      if (changes_.empty() && lost_) return *lost_;
      size_t taken = 0;
      while (!changes_.empty() && (changes.empty() || taken + BytesOf(changes_.front().mutation) <= at_most_bytes)) {
        taken += BytesOf(changes_.front().mutation);
        changes.push_back(std::move(changes_.front()));
        changes_.pop_front();
      }
      under_way_ += taken;
      *more = !changes_.empty() || lost_;
    }
    std::vector<WatchEvent> events;
    events.reserve(changes.size());
    for (const Change& change : changes) events.push_back(EventOf(change.mutation, change.place, watched_));
    return events;
  }
  size_t under_way() {
    std::lock_guard lock(mutex_);
    return under_way_;
  }
  void Sent() {
    std::lock_guard lock(mutex_);
    held_.Remove(std::exchange(under_way_, 0));
  }
  size_t bytes() {
    std::lock_guard lock(mutex_);
    return held_.bytes();
  }

 private:
  struct Change {
    FeedPosition place;
    Mutation mutation;
  };
  static constexpr size_t kMaxBytes = 16 << 20;  // of keys and values; one change always fits

  static size_t BytesOf(const Mutation& mutation) {
    return mutation.key.size() + mutation.end.size() + mutation.value.size();
  }
  static Error FellBehind(const char* limit) {
    return Error(ErrorCode::kOverloaded, "the watch fell behind and lost changes", {{"limit", limit}});
  }

  void Push(const Mutation& mutation, Version version) {
    index_ = version == version_ ? index_ + 1 : 0;
    version_ = version;
    if (lost_) return;
    const size_t bytes = BytesOf(mutation);
    if (changes_.size() >= at_most_ || (!changes_.empty() && held_.bytes() + bytes > kMaxBytes)) {
      lost_ = FellBehind("max_watch_backlog");
    } else if (!held_.Add(bytes)) {
      held_.Remove(bytes);
      lost_ = FellBehind("max_inflight_bytes");
    } else {
      changes_.push_back({{version, index_}, mutation});
    }
  }

  const size_t at_most_;
  const KeyRange watched_;
  std::mutex mutex_;
  std::deque<Change> changes_;
  StreamBytes held_;
  size_t under_way_ = 0;  // of those
  Version version_;
  uint64_t index_ = 0;
  bool begun_ = false;
  std::optional<Error> lost_;  // why changes were lost
};

struct WatchQuery {
  KeyRange range;              // physical
  std::optional<FeedId> feed;  // that covers it
  std::optional<FeedPosition> from;
  bool events = false;  // server-sent
  bool before = false;
  std::chrono::milliseconds wait{};
};

class Watch final : public SlowOp {
 public:
  explicit Watch(WatchQuery query) : query_(std::move(query)) {}

  net::Task<Status> Run(Session& session, Answer& answer) override {
    Service& service = session.service;
    const Places places(service);
    if (service.watchers.load() > service.options.max_watchers) {
      co_return Error(ErrorCode::kOverloaded, "there are too many watches", {{"limit", "max_watchers"}});
    }
    const Waking waking(session.stream);
    const auto backlog = std::make_shared<Backlog>(service, query_.range);
    const Subscription subscription(service, query_, waking.waker, backlog);
    const TokenWatch token_watch(service, session.info.who != nullptr, waking.waker);
    if (query_.events && session.info.head_only) {
      Begin(session, answer);
      co_return Status();
    }
    const Status begun = co_await AwaitBegin(session, waking, *backlog);
    if (!begun.has_value()) co_return begun;
    const auto until = std::chrono::steady_clock::now() + query_.wait;
    if (query_.events) Begin(session, answer);
    while (!session.stream.aborted()) {
      waking.waker->Looking();
      Result<std::vector<WatchEvent>> found = std::vector<WatchEvent>();
      auto read = [this, &session, &backlog] { return query_.feed ? ReadFeed(session) : TakeFrom(*backlog); };
      if (query_.feed || backlog->bytes() > kLargeAnswer) {
        found = co_await OnWorker(session.stream.loop(), service.workers, read);
      } else {
        found = read();
      }
      if (session.info.who && !service.tokens.StillHolds(*session.info.who)) {
        found = Error(ErrorCode::kUnauthenticated, "the token is not valid any more");
      }
      const bool last = Last(session, found, until);
      if (!query_.events && last) {
        if (!found.has_value()) co_return std::move(found).error();
        const WorkOp::Write write = [this, &found, &session](Answer& poll, const std::stop_token&) -> Result<Cost> {
          AnswerPoll(poll, *found, session.cost);
          return session.cost;
        };
        if (BytesOf(*found) <= kLargeAnswer) {
          AnswerPoll(answer, *found, session.cost);
          co_return Status();
        }
        const Status answered = co_await AnswerOnWorker(session, answer, write, session.Turn(WorkerPool::Lane::kShort));
        co_return answered;
      }
      if (query_.events) {
        AppendEvents(session, found, last);
        const bool sent = co_await session.Send(backlog->under_way());
        backlog->Sent();
        if (last || !sent) break;
      }
      if (!more_) co_await session.stream.Sleep(std::min(SleepUntil(service, until), TokenLasts(session)));
    }
    // Nothing can follow what was streamed, or was never answered.
    co_return Error(ErrorCode::kUnavailable, "the watch has ended");
  }

 private:
  // Counts itself among the watchers.
  struct Places {
    explicit Places(Service& counted) : service(counted) { service.watchers.fetch_add(1); }
    ~Places() { service.watchers.fetch_sub(1); }
    Service& service;
  };

  struct Subscription {
    Subscription(Service& service, const WatchQuery& query, const std::shared_ptr<Waker>& waker,
                 const std::shared_ptr<Backlog>& backlog)
        : subscriptions(service.store.subscriptions()),
          id(query.feed ? Woken(query.range, waker) : Told(query.range, waker, backlog)) {}
    ~Subscription() { subscriptions.Cancel(id); }

    Subscriptions::Id Woken(const KeyRange& range, const std::shared_ptr<Waker>& waker) const {
      return subscriptions.WatchSettled(range, [waker](const Mutation*, Version) { Waker::Wake(waker); });
    }
    Subscriptions::Id Told(const KeyRange& range, const std::shared_ptr<Waker>& waker,
                           const std::shared_ptr<Backlog>& backlog) const {
      return subscriptions.WatchLive(range, [waker, backlog](const Subscriptions::News& news) {
        backlog->Tell(news);
        Waker::Wake(waker);
      });
    }

    Subscriptions& subscriptions;
    const Subscriptions::Id id;
  };

  // Wakes the watch when a token is changed, which may be its own. The table of tokens is told first.
  struct TokenWatch {
    TokenWatch(Service& service, bool wanted, const std::shared_ptr<Waker>& waker)
        : subscriptions(service.store.subscriptions()) {
      if (!wanted) return;
      id = subscriptions.Watch(TokenKeys(), [waker](const Mutation*, Version) { Waker::Wake(waker); });
    }
    ~TokenWatch() {
      if (id != 0) subscriptions.Cancel(id);
    }
    Subscriptions& subscriptions;
    Subscriptions::Id id = 0;
  };

  // Until every change from now on is told, which a client must be able to rely on. A live poll that does not wait has
  // no use for it.
  net::Task<Status> AwaitBegin(Session& session, const Waking& waking, Backlog& backlog) {
    const Millis patience = session.service.options.request_timeout;
    const auto until = std::chrono::steady_clock::now() + patience;
    if (query_.feed) {
      co_await FindPlace(session);
      co_return Status();
    }
    if (session.info.head_only || (!query_.events && query_.wait == Millis(0))) co_return Status();
    while (!session.stream.aborted()) {
      waking.waker->Looking();
      if (backlog.begun()) co_return Status();
      const auto left = std::chrono::ceil<Millis>(until - std::chrono::steady_clock::now());
      if (left <= Millis(0) || session.stream.loop().draining() || session.stream.PeerGone()) break;
      co_await session.stream.Sleep(std::min(left, session.service.options.heartbeat));
    }
    co_return Error(ErrorCode::kUnavailable,
                    "the watch could not begin: not all processes are known to tell of changes");
  }

  // Where in the feed it begins: behind all that is committed, unless the client says where. What the process has
  // committed is waited for, unless others take long; no worker is held for that.
  net::Task<> FindPlace(Session& session) {
    Engine& engine = session.service.engine();
    const Version last = engine.LastVersion();
    const auto until = std::chrono::steady_clock::now() + kSettling;
    Millis pause = kSettlingLook;
    while (engine.Settled() < last && std::chrono::steady_clock::now() < until && !session.stream.aborted()) {
      engine.FollowNow();
      co_await session.stream.Sleep(pause);
      pause *= 2;
    }
    next_ = query_.from.value_or(FeedPosition{engine.Settled().Next(), 0});
  }

  // On a worker, which it does not keep waiting for what is not settled: the watch is woken when it is.
  Result<std::vector<WatchEvent>> ReadFeed(Session& session) {
    std::vector<WatchEvent> events;
    // Changes of the feed that are not of the range cost no more than a page at a time.
    KVARTS_TRY(const FeedPage page,
               session.service.store.feeds().Read(*query_.feed, next_, kFeedPage, kStreamPartBytes, &session.cost.read,
                                                  session.service.engine().Settled()));
    for (const FeedEntry& entry : page.entries) {
      const bool concerns = entry.op == Mutation::Op::kEraseRange ? query_.range.Intersects({entry.key, entry.end})
                                                                  : query_.range.Contains(entry.key);
      if (concerns) events.push_back(EventOf(entry, query_.before, query_.range));
    }
    next_ = page.next;
    more_ = page.more;
    return events;
  }

  // A poll is answered once, with all that there is.
  Result<std::vector<WatchEvent>> TakeFrom(Backlog& backlog) {
    return backlog.Take(query_.events ? kStreamPartBytes : SIZE_MAX, &more_);
  }

  void Begin(Session& session, Answer& answer) {
    ResponseWriter& head = answer.BeginStream(200);
    head.ContentType("text/event-stream");
    head.Header("Cache-Control", "no-store");
    chunked_ = head.Stream();
    // Something to read at once, so that the client knows that it is heard.
    if (!session.info.head_only) Append(session, ": watching\n\n");
  }

  void Append(Session& session, std::string_view text) const {
    Bytes& out = session.stream.output();
    if (chunked_) {
      AppendChunk(&out, text);
    } else {
      out.append(text);
    }
  }

  // Whether the watch is over: something went wrong, the server stops, or a poll has its answer.
  bool Last(Session& session, const Result<std::vector<WatchEvent>>& found,
            std::chrono::steady_clock::time_point until) const {
    if (!found.has_value() || session.stream.loop().draining() || session.stream.PeerGone()) return true;
    if (query_.events) return false;
    // Nothing is no answer while the feed has more to look at, within reason.
    if (more_) until += session.service.options.request_timeout;
    return !found->empty() || session.info.head_only || std::chrono::steady_clock::now() >= until;
  }

  void AppendEvents(Session& session, const Result<std::vector<WatchEvent>>& found, bool last) const {
    Bytes text;
    if (!found.has_value()) {
      text.append("event: lost\ndata: ");
      JsonWriter(&text).BeginObject().Field("detail", found.error().text()).EndObject();
      text.append("\n\n");
    } else if (found->empty()) {
      text.append(": heartbeat\n\n");
    } else {
      for (const WatchEvent& event : *found) {
        // An id is a promise that it can be resumed from.
        if (query_.feed) text.append(fmt::format("id: {}\n", PlaceText(event.place)));
        text.append(fmt::format("event: {}\ndata: ", OpName(event.op)));
        text.append(event.data).append("\n\n");
      }
    }
    Append(session, text);
    if (last && chunked_) AppendLastChunk(&session.stream.output());
  }

  void AnswerPoll(Answer& answer, const std::vector<WatchEvent>& events, const Cost& cost) const {
    ResponseWriter& head = answer.Begin(200, cost);
    head.ContentType("application/json");
    JsonWriter json(head.body());
    json.BeginObject().Name("changes").BeginArray();
    for (const WatchEvent& event : events) json.Raw(event.data);
    json.EndArray().Name("next");
    if (query_.feed) {
      json.Text(SinceText(next_));
    } else {
      json.Null();
    }
    json.EndObject();
    answer.Finish();
  }

  std::chrono::milliseconds SleepUntil(const Service& service, std::chrono::steady_clock::time_point until) const {
    using std::chrono::milliseconds;
    if (query_.events) return service.options.heartbeat;
    const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
    return std::clamp(left, milliseconds(0), service.options.heartbeat);
  }

  // How long the token is valid.
  static std::chrono::milliseconds TokenLasts(const Session& session) {
    using std::chrono::milliseconds;
    if (!session.info.who || session.info.who->token().expiry == kNever) return milliseconds::max();
    const Timestamp now = session.service.engine().Now();
    const Timestamp expiry = session.info.who->token().expiry;
    if (expiry <= now) return milliseconds(0);
    return milliseconds((expiry.micros - now.micros) / 1000 + 1);
  }

  const WatchQuery query_;
  FeedPosition next_;
  bool more_ = false;  // right away: of the feed, or of the backlog
  bool chunked_ = false;
};

// The feed whose range holds all of this one.
std::optional<FeedId> FeedOf(const NamespaceTable& table, const KeyRange& user_range) {
  for (const NamespaceTable::Entry& entry : table.entries()) {
    if (entry->feed && entry->Region().Contains(user_range)) return entry->feed;
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<SlowOp>> WatchKeys(Call& call) {
  call.info.takes_long = true;
  static constexpr std::array<std::string_view, 2> kForms = {"application/json", "text/event-stream"};
  const auto form = ChooseMedia(call.head.accept(), kForms);
  if (!form) {
    return NotAcceptable("the answer is application/json or text/event-stream", call.head.accept());
  }
  QueryReader query(call.head.query());
  WatchQuery watch;
  watch.events = *form == 1;
  const KeyRange range = RangeOf(query);
  watch.before = query.Flag("before");
  watch.wait = std::chrono::seconds(query.Uint("wait", kDefaultWait, 0, kMaxWait));
  const auto since = query.Get("since");
  if (since) {
    watch.from = AfterPlace(*since);
    query.Require(watch.from.has_value(), "since", "a place is VERSION or VERSION.INDEX");
  }
  KVARTS_CHECK_OK(query.Finish());
  KVARTS_CHECK_OK(Authorize(call, Right::kRead, range));
  KVARTS_TRY(watch.range, CheckedUserRange(range, call.service.engine().limits()));
  watch.feed = FeedOf(call.service.catalog.current(), range);
  // What a browser says when it connects again.
  if (watch.feed && call.head.Has(Field::kLastEventId)) {
    watch.from = AfterPlace(call.head.last_event_id());
    if (!watch.from) return Error(ErrorCode::kInvalidArgument, "Last-Event-ID is no place of this watch");
  }
  if (since && !watch.feed) {
    return Error(
        ErrorCode::kInvalidArgument,
        "no feed keeps the changes of this range, so a watch of it cannot be resumed: read it, and watch anew");
  }
  return std::make_unique<Watch>(std::move(watch));
}

}  // namespace kvarts::http
