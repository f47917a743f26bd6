#include "protocol/http/connection.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <tuple>

#include "net/http/negotiate.h"
#include "protocol/common/await.h"
#include "protocol/http/access.h"
#include "protocol/http/problem.h"
#include "protocol/http/request_log.h"

namespace kvarts::http {
namespace {

uint64_t NowNanos() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

constexpr HttpError kTooManyConnections{503, "there are too many connections"};
constexpr HttpError kNoRoute{404, "there is no such route"};
constexpr HttpError kWrongMethod{405, "the route does not know this method"};
constexpr HttpError kEncodedBody{415, "a body must be sent without Content-Encoding"};

constexpr const char* kAllMethods = "GET, HEAD, PUT, POST, DELETE, PATCH, OPTIONS";

// What a write costs the engine besides its bytes, about.
constexpr size_t kWriteOverhead = 256;

// Answers are gathered up to this before they are sent.
constexpr size_t kMaxUnsent = 256 << 10;

// "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": the trace's id, or nothing (W3C Trace Context).
std::string_view TraceOf(std::string_view traceparent) {
  constexpr size_t kVersion = 3;
  constexpr size_t kId = 32;
  if (traceparent.size() < kVersion + kId + 1 || traceparent[2] != '-' || traceparent[kVersion + kId] != '-') return {};
  const std::string_view id = traceparent.substr(kVersion, kId);
  return id.find_first_not_of("0123456789abcdef") == std::string_view::npos ? id : std::string_view();
}

}  // namespace

Connection::Connection(net::Stream& stream, Service& service)
    : stream_(stream),
      service_(service),
      loop_(*service.loops[stream.loop().number()]),
      parser_(service.options.head),
      held_(service.inflight_bytes, service.options.max_inflight_bytes) {}

net::Task<> Connection::Run(bool refuse) {
  refuse_ = refuse;
  while (true) {
    const Step step = TakeRequest();
    // Answers go out together, but do not wait for anything; nor do they pile up, else a few requests that arrive
    // together could ask for more than there is memory.
    const bool waits = step != Step::kAnswered && step != Step::kRunBatch;
    if ((waits || stream_.output().size() > kMaxUnsent) && !stream_.FlushNow()) {
      const bool sent = co_await Send();
      if (!sent) co_return;
    }
    if (step == Step::kNeedHead) {
      const bool more = co_await Wait();
      if (!more) co_return;
    } else if (step == Step::kNeedBody) {
      co_await TakeBody();
    } else if (step == Step::kRunBatch) {
      co_await RunBatch();
    } else if (step == Step::kRunSlow) {
      co_await RunSlow();
    } else if (step == Step::kEnd) {
      break;
    }
  }
  co_await stream_.Close();
}

Connection::Step Connection::TakeRequest() {
  if (slow_) return Step::kRunSlow;
  if (ending_) return batch_.empty() ? Step::kEnd : Step::kRunBatch;
  if (BatchIsFull()) return Step::kRunBatch;
  if (stream_.input().empty()) return batch_.empty() ? Step::kNeedHead : Step::kRunBatch;
  const HeadResult parsed = parser_.Parse(stream_.input(), &head_);
  if (parsed.incomplete()) return batch_.empty() ? Step::kNeedHead : Step::kRunBatch;
  if (parsed.refused()) {
    if (!batch_.empty()) return Step::kRunBatch;
    Refuse(parsed.error);
    return Step::kEnd;
  }
  head_begun_ = false;
  if (!head_.has_body()) {
    const Step step = Dispatch({});
    if (step != Step::kRunBatch) stream_.Consume(parsed.size);
    return step;
  }
  const uint64_t length = head_.content_length().value_or(UINT64_MAX);
  // What is too large is refused where bodies are read.
  if (length <= std::min<uint64_t>(stream_.input().size() - parsed.size, service_.options.max_body_bytes)) {
    const Step step = Dispatch(stream_.input().substr(parsed.size, length));
    if (step != Step::kRunBatch) stream_.Consume(parsed.size + length);
    return step;
  }
  if (!batch_.empty()) return Step::kRunBatch;
  head_text_.assign(stream_.input().substr(0, parsed.size));
  head_.Rebase(head_text_.data());
  stream_.Consume(parsed.size);
  return Step::kNeedBody;
}

void Connection::FillInfo(RequestInfo* info) const {
  info->started_ns = NowNanos();
  info->minor_version = head_.minor_version();
  info->keep_alive = head_.keep_alive() && !refuse_ && !stream_.loop().draining();
  info->method = head_.method();
  info->head_only = head_.method() == Method::kHead;
  if (head_.Has(Field::kAcceptEncoding)) info->gzip = AcceptsGzip(head_.accept_encoding());
  if (head_.kvarts_headers() != 0) info->show_cost = head_.Header("Kvarts-Cost").has_value();
  if (head_.Has(Field::kTraceparent)) info->trace = TraceOf(head_.traceparent());
  if (head_.Has(Field::kOrigin)) {
    for (const std::string& origin : service_.options.cors_origins) {
      if (origin == "*" || origin == head_.origin()) info->cors_origin = &origin;
    }
  }
}

// Answers a request whose body is there, or makes the operation that will. kRunBatch when writes before it must be
// answered first: then the request is taken again.
Connection::Step Connection::Dispatch(std::string_view body) {
  const Found found = FindRoute(head_.method(), head_.path());
  const bool is_write = found.route != nullptr && std::holds_alternative<WriteHandler>(found.route->handler);
  if (!batch_.empty() && !is_write) return Step::kRunBatch;
  RequestInfo info;
  FillInfo(&info);
  loop_.metrics.bytes_in.Add(body.size());
  // A write that is refused is answered behind those before it.
  Answer answer(service_, loop_.date, info, batch_.empty() ? &stream_.output() : &behind_);
  if (Admit(found, &info, answer)) {
    Call call{service_, loop_, head_, body, found.values, info, answer};
    RunHandler(call, *found.route);
  } else {
    Done(info, answer.status(), {});
  }
  return Step::kAnswered;
}

// Whether a request is let in, as far as its head tells: there is such a route, and who asks may use it. What is not
// let in is answered.
bool Connection::Admit(const Found& found, RequestInfo* info, Answer& answer) {
  info->route = found.route;
  if (refuse_) {
    answer.Problem(kTooManyConnections);
    return false;
  }
  if (found.route == nullptr) {
    AnswerWithoutRoute(*info, found, answer);
    return false;
  }
  // Else what was encoded would be stored as if it were the value.
  if (head_.has_body() && head_.Has(Field::kContentEncoding)) {
    answer.Problem(kEncodedBody);
    return false;
  }
  if (!found.route->right) return true;
  Result<std::shared_ptr<const Credential>> who = Authenticate(service_, head_, &last_token_);
  Status may;
  if (who.has_value()) may = AuthorizeRoute(who->get(), found.route->method, *found.route->right);
  if (const Status origin = CheckOrigin(service_, head_, *info); !origin.has_value()) may = origin;
  if (!who.has_value() && may.has_value()) may = who.error();
  if (may.has_value()) {
    info->who = *std::move(who);
    return true;
  }
  if (may.error().code() == ErrorCode::kRateLimited) loop_.metrics.rate_limited.Add();
  answer.Problem(may.error());
  return false;
}

void Connection::AnswerWithoutRoute(const RequestInfo& info, const Found& found, Answer& answer) const {
  const bool whole_server = head_.path() == "*";
  if ((found.path_exists || whole_server) && head_.method() == Method::kOptions) {
    AnswerOptions(answer, info, whole_server ? std::string(kAllMethods) : AllowedMethods(head_.path()));
  } else if (found.path_exists) {
    answer.Problem(kWrongMethod, AllowedMethods(head_.path()));
  } else {
    answer.Problem(kNoRoute);
  }
}

// What a path can be asked for; to a browser also what a script may send.
void Connection::AnswerOptions(Answer& answer, const RequestInfo& info, std::string_view methods) {
  ResponseWriter& head = answer.Begin(204, {});
  head.Header("Allow", methods);
  if (info.cors_origin != nullptr) {
    head.Header("Access-Control-Allow-Methods", methods);
    head.Header("Access-Control-Allow-Headers",
                "Authorization, Content-Type, If-Match, If-None-Match, Kvarts-Consistency, Kvarts-Cost, "
                "Kvarts-Durability, Kvarts-Session, Last-Event-ID, Prefer, traceparent");
    head.Header("Access-Control-Max-Age", "600");
  }
  answer.Finish();
}

void Connection::RunHandler(Call& call, const Route& route) {
  Status made;
  if (const auto* handler = std::get_if<SyncHandler>(&route.handler)) {
    made = (*handler)(call);
    slow_ = std::move(call.later);
  } else if (const auto* write_handler = std::get_if<WriteHandler>(&route.handler)) {
    Result<std::unique_ptr<WriteOp>> write = (*write_handler)(call);
    if (write.has_value()) {
      AddToBatch(*std::move(write), call);
      return;
    }
    made = std::move(write).error();
  } else {
    Result<std::unique_ptr<SlowOp>> slow = std::get<SlowHandler>(route.handler)(call);
    if (slow.has_value()) {
      slow_ = *std::move(slow);
    } else {
      made = std::move(slow).error();
    }
  }
  if (slow_) {
    slow_->info = std::move(call.info);
    return;
  }
  if (!made.has_value()) call.answer.Problem(made.error(), call.cost);
  Done(call.info, call.answer.status(), call.cost);
}

void Connection::AddToBatch(std::unique_ptr<WriteOp> write, Call& call) {
  ending_ = !call.info.keep_alive;
  write->info = std::move(call.info);
  batch_bytes_ += call.head.path().size() + call.body.size() + kWriteOverhead;
  batch_.push_back(std::move(write));
}

void Connection::Refuse(const HttpError& error) {
  loop_.metrics.requests_malformed.Add();
  RequestInfo info;
  info.keep_alive = false;
  Answer answer(service_, loop_.date, info, &stream_.output());
  answer.Problem(error);
  if (service_.options.metrics) loop_.metrics.answers[static_cast<size_t>(answer.status() / 100) % 6].Add();
  ending_ = true;
}

void Connection::Done(const RequestInfo& info, int status, const Cost& cost) {
  const uint64_t now = NowNanos();
  const uint64_t nanos = now - info.started_ns;
  if (service_.options.metrics) CountDone(info, status, cost, nanos);
  const auto slow = static_cast<uint64_t>(service_.options.slow_request.count()) * 1'000;
  if (slow != 0 && nanos > slow && !info.takes_long) [[unlikely]]
    LogSlow(service_, loop_, info, status, cost, now);
  if (cost.read.skipped > service_.options.tombstones_warn) [[unlikely]]
    LogTombstones(service_, loop_, info, cost, now);
  if (info.who) {
    Cost charged = cost;
    charged.strong = info.strong_read;
    info.who->Charge(charged, service_.clock.Now());
  }
  if (!info.keep_alive) ending_ = true;
}

void Connection::CountDone(const RequestInfo& info, int status, const Cost& cost, uint64_t nanos) {
  LoopMetrics& metrics = loop_.metrics;
  const auto operation = static_cast<size_t>(info.route == nullptr ? Operation::kOther : info.route->operation);
  const size_t status_class = static_cast<size_t>(status / 100) % metrics.answers.size();
  const auto count = [&](auto& to) {
    if (!info.takes_long) to.latency[operation].RecordAlone(nanos);
    to.answers[status_class].Add();
    to.keys_read.Add(cost.read.keys);
    to.bytes_read.Add(cost.read.bytes);
    to.tombstones_skipped.Add(cost.read.skipped);
    to.keys_written.Add(cost.keys_written);
    to.bytes_written.Add(cost.bytes_written);
  };
  count(metrics);
  CountSent();
  if (info.place != NamespacePlaces::kNowhere) count(loop_.namespaces.At(info.place));
}

net::Task<bool> Connection::Send() {
  HeldBytes held(service_.inflight_bytes, service_.options.max_inflight_bytes);
  // Counted, but sent in any case: what was done is said.
  std::ignore = held.Add(stream_.output().size());
  stream_.Keep();
  stream_.SetSendDeadline(service_.options.write_timeout);
  const bool sent = co_await stream_.Flush();
  co_return sent;
}

net::Task<bool> Connection::Wait() {
  const bool idle = stream_.input().empty();
  if (idle && stream_.loop().draining()) co_return false;
  stream_.set_idle(idle);
  // A head that has begun does not get more time with every byte.
  if (idle) {
    stream_.SetDeadline(service_.options.idle_timeout);
    head_begun_ = false;
  } else if (!std::exchange(head_begun_, true)) {
    stream_.SetDeadline(service_.options.head_timeout);
  }
  const bool got = co_await stream_.Read();
  stream_.set_idle(false);
  co_return got;
}

net::Task<> Connection::RunSlow() {
  const std::unique_ptr<SlowOp> op = std::move(slow_);
  stream_.Keep();
  stream_.ClearDeadline();
  Answer answer(service_, loop_.date, op->info, &stream_.output());
  Session session{service_, loop_, stream_, op->info};
  const Status ran = co_await op->Run(session, answer);
  stream_.UnwatchPeer();
  if (!ran.has_value()) {
    // What a scan stepped over before it was given up was work, too.
    const std::string_view skipped = ran.error().field("skipped");
    uint64_t more = 0;
    std::from_chars(skipped.data(), skipped.data() + skipped.size(), more);
    session.cost.read.skipped += more;
    if (answer.status() == 0) {
      answer.Problem(ran.error(), session.cost);
    } else {
      ending_ = true;
    }
  }
  // An answer that only the end of the connection ends.
  if (answer.status() != 0 && !answer.writer().keep_alive()) ending_ = true;
  Done(op->info, answer.status(), session.cost);
  held_.Release();
}

HttpProtocol::Match HttpProtocol::Sniff(std::string_view first) const {
  // A method, a space, and a target that begins with a slash, a star or a scheme; other protocols have lines that
  // begin with a word and a space too.
  const size_t space = first.find(' ');
  for (const char c : first.substr(0, space)) {
    if (c >= 'A' && c <= 'Z') continue;
    if (first == "\r") return Match::kMaybe;
    return first.starts_with("\r\n") ? Match::kYes : Match::kNo;
  }
  if (space == std::string_view::npos) return first.size() < kMaxSniffBytes ? Match::kMaybe : Match::kNo;
  if (space == 0) return Match::kNo;
  if (space + 1 == first.size()) return space + 1 < kMaxSniffBytes ? Match::kMaybe : Match::kYes;
  const char target = first[space + 1];
  return target == '/' || target == '*' || target == 'h' || target == 'H' ? Match::kYes : Match::kNo;
}

net::Task<> HttpProtocol::Serve(net::Stream& stream, bool refuse) {
  Connection connection(stream, service_);
  co_await connection.Run(refuse);
}

}  // namespace kvarts::http
