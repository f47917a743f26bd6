#include "protocol/http/connection.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

#include "base/log.h"
#include "net/http/negotiate.h"
#include "protocol/common/await.h"
#include "protocol/http/access.h"
#include "protocol/http/problem.h"

namespace kvarts::http {
namespace {

uint64_t NowNanos() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

constexpr HttpError kTooManyConnections{503, "there are too many connections"};
constexpr HttpError kTooManyBytes{503, "requests under way hold too much memory"};
constexpr HttpError kBodyTooLarge{413, "the body is larger than max_body_bytes"};
constexpr HttpError kBodyCutOff{400, "the connection ended within the body"};
constexpr HttpError kNoRoute{404, "there is no such route"};
constexpr HttpError kWrongMethod{405, "the route does not know this method"};
constexpr HttpError kEncodedBody{415, "a body must be sent without Content-Encoding"};

constexpr const char* kAllMethods = "GET, HEAD, PUT, POST, DELETE, PATCH, OPTIONS";

// Pressure of the engine from which on writes are delayed, and by how much at most.
constexpr double kThrottleFrom = 0.5;
constexpr std::chrono::milliseconds kLongestDelay{100};

// Bodies up to this are not counted against max_inflight_bytes: the loop's scratch holds them.
constexpr uint64_t kFreeBytes = net::Loop::kScratchBytes;

// Answers are gathered up to this before they are sent.
constexpr size_t kMaxUnsent = 256 << 10;

std::string_view MethodText(Method method) {
  constexpr std::array<std::string_view, 8> kTexts = {"GET",    "HEAD",  "PUT",     "POST",
                                                      "DELETE", "PATCH", "OPTIONS", "other"};
  return kTexts[static_cast<size_t>(method)];
}

void LogSlow(Service& service, LoopState& loop, const RequestInfo& info, int status, const Cost& cost, uint64_t now) {
  loop.metrics.slow_requests.Add();
  const auto not_logged = loop.slow_log.Pass(now);
  if (!not_logged) return;
  // The route and the namespace, and not the key: logs go to more eyes than values do.
  Log(LogLevel::kWarning, "a request was slow",
      {{"method", MethodText(info.method)},
       {"route", info.route == nullptr ? std::string_view() : info.route->path},
       {"namespace", info.place == NamespacePlaces::kNowhere ? std::string() : service.places.NameOf(info.place)},
       {"ms", (now - info.started_ns) / 1'000'000},
       {"status", status},
       {"trace", info.trace},
       {"keys_read", cost.read.keys},
       {"bytes_read", cost.read.bytes},
       {"skipped", cost.read.skipped},
       {"keys_written", cost.keys_written},
       {"bytes_written", cost.bytes_written},
       {"sync_us", cost.sync_wait_us},
       {"runs", cost.runs},
       {"not_logged", *not_logged}});
}

void LogTombstones(Service& service, LoopState& loop, const RequestInfo& info, const Cost& cost, uint64_t now) {
  loop.metrics.tombstone_warnings.Add();
  const auto not_logged = loop.tombstone_log.Pass(now);
  if (!not_logged) return;
  Log(LogLevel::kWarning, "a request stepped over many tombstones",
      {{"method", MethodText(info.method)},
       {"route", info.route == nullptr ? std::string_view() : info.route->path},
       {"namespace", info.place == NamespacePlaces::kNowhere ? std::string() : service.places.NameOf(info.place)},
       {"skipped", cost.read.skipped},
       {"keys_read", cost.read.keys},
       {"trace", info.trace},
       {"not_logged", *not_logged}});
}

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
      parser_(service.options.head) {}

net::Task<> Connection::Run(bool refuse) {
  refuse_ = refuse;
  Step step = Step::kAnswered;
  while (step != Step::kEnd) {
    step = TakeRequest();
    if (step == Step::kNeedHead) {
      const bool more = co_await Wait();
      if (!more) co_return;
    } else if (step == Step::kNeedBody) {
      step = co_await TakeBody();
    } else if (step == Step::kRunBatch) {
      co_await RunBatch();
    } else if (step == Step::kRunSlow) {
      co_await RunSlow();
    }
    // Else a few requests that arrive together could ask for more than there is memory.
    if (stream_.output().size() > kMaxUnsent) {
      const bool sent = co_await Send();
      if (!sent) co_return;
    }
  }
  const bool sent = co_await Send();
  if (sent) co_await stream_.Close();
}

Connection::Step Connection::TakeRequest() {
  if (slow_) return Step::kRunSlow;
  if (ending_) return batch_.empty() ? Step::kEnd : Step::kRunBatch;
  if (batch_.size() >= service_.options.max_pipelined) return Step::kRunBatch;
  if (stream_.input().empty()) return batch_.empty() ? Step::kNeedHead : Step::kRunBatch;
  const HeadResult parsed = parser_.Parse(stream_.input(), &head_);
  if (parsed.incomplete()) return batch_.empty() ? Step::kNeedHead : Step::kRunBatch;
  if (parsed.refused()) return batch_.empty() ? Refuse(parsed.error) : Step::kRunBatch;
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
  info.route = found.route;
  loop_.metrics.bytes_in.Add(body.size());
  Answer answer(service_, loop_, info, &stream_.output());
  if (refuse_) {
    answer.Problem(kTooManyConnections);
    return Step::kEnd;
  }
  if (found.route == nullptr) {
    const bool whole_server = head_.path() == "*";
    if ((found.path_exists || whole_server) && head_.method() == Method::kOptions) {
      AnswerOptions(answer, info, whole_server ? std::string(kAllMethods) : AllowedMethods(head_.path()));
    } else if (found.path_exists) {
      answer.Problem(kWrongMethod, AllowedMethods(head_.path()));
    } else {
      answer.Problem(kNoRoute);
    }
    return Done(info, answer.status(), {});
  }
  // Else what was encoded would be stored as if it were the value.
  if (!body.empty() && head_.Has(Field::kContentEncoding)) {
    if (!batch_.empty()) return Step::kRunBatch;
    answer.Problem(kEncodedBody);
    return Done(info, answer.status(), {});
  }
  if (found.route->right) {
    Result<std::shared_ptr<const Credential>> who = Authenticate(service_, head_, &last_token_);
    if (const Status origin = CheckOrigin(service_, head_, info); !origin.has_value()) who = origin.error();
    if (!who.has_value()) {
      if (!batch_.empty()) return Step::kRunBatch;
      if (who.error().code() == ErrorCode::kRateLimited) loop_.metrics.rate_limited.Add();
      answer.Problem(who.error());
      return Done(info, answer.status(), {});
    }
    info.who = *std::move(who);
  }
  Call call{service_, loop_, head_, body, found.rest, info, answer};
  return RunHandler(call, *found.route);
}

// What a path can be asked for; to a browser also what a script may send.
void Connection::AnswerOptions(Answer& answer, const RequestInfo& info, std::string_view methods) {
  ResponseWriter& head = answer.Begin(204, {});
  head.Header("Allow", methods);
  if (info.cors_origin != nullptr) {
    head.Header("Access-Control-Allow-Methods", methods);
    head.Header("Access-Control-Allow-Headers",
                "Authorization, Content-Type, If-Match, If-None-Match, Kvarts-Cost, Kvarts-Durability, Last-Event-ID, "
                "Prefer, traceparent");
    head.Header("Access-Control-Max-Age", "600");
  }
  answer.Finish();
}

Connection::Step Connection::RunHandler(Call& call, const Route& route) {
  if (const auto* handler = std::get_if<SyncHandler>(&route.handler)) {
    const Status answered = (*handler)(call);
    if (!answered.has_value()) call.answer.Problem(answered.error());
    return Done(call.info, call.answer.status(), call.cost);
  }
  if (const auto* handler = std::get_if<WriteHandler>(&route.handler)) {
    Result<std::unique_ptr<WriteOp>> made = (*handler)(call);
    if (made.has_value()) {
      (*made)->info = std::move(call.info);
      ending_ = !(*made)->info.keep_alive;
      batch_.push_back(*std::move(made));
      return Step::kAnswered;
    }
    if (!batch_.empty()) return Step::kRunBatch;
    call.answer.Problem(made.error());
    return Done(call.info, call.answer.status(), call.cost);
  }
  Result<std::unique_ptr<SlowOp>> made = std::get<SlowHandler>(route.handler)(call);
  if (!made.has_value()) {
    call.answer.Problem(made.error());
    return Done(call.info, call.answer.status(), call.cost);
  }
  slow_ = *std::move(made);
  slow_->info = std::move(call.info);
  return Step::kAnswered;
}

Connection::Step Connection::Refuse(const HttpError& error) {
  loop_.metrics.requests_malformed.Add();
  RequestInfo info;
  info.keep_alive = false;
  Answer answer(service_, loop_, info, &stream_.output());
  answer.Problem(error);
  if (service_.options.metrics) loop_.metrics.answers[static_cast<size_t>(answer.status() / 100) % 6].Add();
  return Step::kEnd;
}

Connection::Step Connection::Done(const RequestInfo& info, int status, const Cost& cost) {
  const uint64_t now = NowNanos();
  const uint64_t nanos = now - info.started_ns;
  if (service_.options.metrics) CountDone(info, status, cost, nanos);
  const auto slow = static_cast<uint64_t>(service_.options.slow_request.count()) * 1'000'000;
  if (nanos > slow && !info.takes_long) [[unlikely]]
    LogSlow(service_, loop_, info, status, cost, now);
  if (cost.read.skipped > service_.options.tombstones_warn) [[unlikely]]
    LogTombstones(service_, loop_, info, cost, now);
  if (info.who) info.who->Charge(cost, service_.clock.Now());
  if (!info.keep_alive) ending_ = true;
  return ending_ ? Step::kEnd : Step::kAnswered;
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
  if (stream_.FlushNow()) co_return true;
  // Counted, but sent in any case: what was done is said.
  Hold(stream_.output().size());
  stream_.Keep();
  stream_.SetSendDeadline(service_.options.write_timeout);
  const bool sent = co_await stream_.Flush();
  Release();
  co_return sent;
}

net::Task<bool> Connection::Wait() {
  bool good = stream_.FlushNow();
  if (!good) good = co_await Send();
  if (!good) co_return false;
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

net::Task<Connection::Step> Connection::TakeBody() {
  // A client may want the answers to what it has asked before it sends the body.
  bool sent = stream_.FlushNow();
  if (!sent) sent = co_await Send();
  if (!sent) co_return Step::kEnd;
  stream_.SetDeadline(service_.options.request_timeout);
  const HttpError failed = co_await ReadBody();
  if (failed) {
    // Nobody knows where the next request begins.
    Refuse(failed);
    Release();
    co_return Step::kEnd;
  }
  const Step step = Dispatch(body_);
  body_ = {};
  head_text_ = {};
  Release();
  co_return step;
}

net::Task<HttpError> Connection::ReadBody() {
  const uint64_t length = head_.content_length().value_or(0);
  if (length > service_.options.max_body_bytes) co_return kBodyTooLarge;
  // What is said is not held yet: who says much and sends nothing takes nobody's room.
  if (length > kFreeBytes && service_.inflight_bytes.load() + length > service_.options.max_inflight_bytes) {
    co_return kTooManyBytes;
  }
  if (head_.expect_continue()) {
    stream_.output().append(ContinueLine());
    stream_.Keep();
    const bool sent = co_await stream_.Flush();
    if (!sent) co_return kBodyCutOff;
  }
  if (head_.chunked()) {
    const HttpError failed = co_await ReadChunks();
    co_return failed;
  }
  body_.reserve(length);
  while (true) {
    const std::string_view part = stream_.input().substr(0, length - body_.size());
    if (!HoldUpTo(body_.size() + part.size())) co_return kTooManyBytes;
    body_.append(part);
    stream_.Consume(part.size());
    if (body_.size() == length) co_return kNoError;
    const bool more = co_await stream_.Read();
    if (!more) co_return kBodyCutOff;
  }
}

net::Task<HttpError> Connection::ReadChunks() {
  ChunkedDecoder decoder(service_.options.max_body_bytes);
  while (true) {
    const std::string_view input = stream_.input();
    const size_t before = body_.size();
    if (!HoldUpTo(before + input.size())) co_return kTooManyBytes;
    body_.resize(before + input.size());
    const ChunkedDecoder::Progress progress = decoder.Decode(input, body_.data() + before);
    body_.resize(before + progress.produced);
    stream_.Consume(progress.consumed);
    if (progress.error) co_return progress.error;
    if (progress.done) co_return kNoError;
    const bool more = co_await stream_.Read();
    if (!more) co_return kBodyCutOff;
  }
}

// How long a write waits so that the engine need not stall: not at all while compaction keeps up, more and more as it
// falls behind.
std::chrono::milliseconds Connection::WriteDelay() const {
  const double pressure = service_.engine().pressure();
  if (pressure <= kThrottleFrom) return {};
  const double excess = (pressure - kThrottleFrom) / (1 - kThrottleFrom);
  return std::chrono::milliseconds(static_cast<int64_t>(excess * excess * kLongestDelay.count()));
}

net::Task<> Connection::RunBatch() {
  stream_.Keep();
  stream_.ClearDeadline();
  const std::chrono::milliseconds delay = WriteDelay();
  if (delay.count() > 0) {
    loop_.metrics.throttled.Add(batch_.size());
    co_await stream_.Sleep(delay);
  }
  std::vector<Store::Request> requests;
  requests.reserve(batch_.size());
  for (const std::shared_ptr<WriteOp>& op : batch_) {
    requests.push_back({[op](Txn& txn) { return op->Apply(txn); }, std::move(op->options), nullptr});
  }
  const std::vector<Result<RunReport>> outcomes = co_await RunAll(stream_.loop(), service_.store, std::move(requests));
  for (size_t i = 0; i < batch_.size(); ++i) {
    WriteOp& op = *batch_[i];
    Answer answer(service_, loop_, op.info, &stream_.output());
    if (outcomes[i].has_value()) {
      op.Respond(answer, *outcomes[i]);
    } else {
      answer.Problem(outcomes[i].error());
    }
    Done(op.info, answer.status(), outcomes[i].has_value() ? outcomes[i]->cost : Cost());
  }
  batch_.clear();
}

net::Task<> Connection::RunSlow() {
  const std::unique_ptr<SlowOp> op = std::move(slow_);
  // Answers before it do not wait for it.
  bool sent = stream_.FlushNow();
  if (!sent) sent = co_await Send();
  if (!sent) stream_.Abort();
  stream_.Keep();
  stream_.ClearDeadline();
  Answer answer(service_, loop_, op->info, &stream_.output());
  Session session{service_, loop_, stream_, op->info, stream_.WatchPeer()};
  const Status ran = co_await op->Run(session, answer);
  stream_.UnwatchPeer();
  if (!ran.has_value()) {
    // What a scan stepped over before it was given up was work, too.
    const std::string_view skipped = ran.error().field("skipped");
    uint64_t more = 0;
    std::from_chars(skipped.data(), skipped.data() + skipped.size(), more);
    session.cost.read.skipped += more;
    if (answer.status() == 0) {
      answer.Problem(ran.error());
    } else {
      ending_ = true;
    }
  }
  // An answer that only the end of the connection ends.
  if (answer.status() != 0 && !answer.writer().keep_alive()) ending_ = true;
  Done(op->info, answer.status(), session.cost);
}

bool Connection::Hold(uint64_t bytes) {
  if (bytes <= kFreeBytes) return true;
  held_ += bytes;
  return service_.inflight_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes <=
         service_.options.max_inflight_bytes;
}

bool Connection::HoldUpTo(uint64_t bytes) {
  if (bytes <= std::max(kFreeBytes, held_)) return true;
  // Small parts add up, in steps that count.
  return Hold(std::max(bytes - held_, kFreeBytes + 1));
}

void Connection::Release() { service_.inflight_bytes.fetch_sub(std::exchange(held_, 0), std::memory_order_relaxed); }

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
