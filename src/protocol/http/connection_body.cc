// How a connection takes the body of a request that arrives apart from its head.
#include "protocol/http/connection.h"

namespace kvarts::http {
namespace {

constexpr HttpError kTooManyBytes{503, "requests under way hold too much memory"};
constexpr HttpError kBodyTooLarge{413, "the body is larger than max_body_bytes, or than a route without one reads"};
constexpr HttpError kBodyCutOff{400, "the connection ended within the body"};

// Bodies up to this are not counted against max_inflight_bytes: the loop's scratch holds them.
constexpr uint64_t kFreeBytes = net::Loop::kScratchBytes;

}  // namespace

net::Task<> Connection::TakeBody() {
  stream_.SetDeadline(service_.options.request_timeout);
  // Else anybody could have the server keep bodies for nothing.
  if (AnswerByHead()) {
    const bool skipped = co_await SkipBody();
    if (!skipped) ending_ = true;
    head_text_ = {};
    co_return;
  }
  const HttpError failed = co_await ReadBody();
  if (failed) {
    // Nobody knows where the next request begins.
    Refuse(failed);
    held_.Release();
  } else {
    Dispatch(body_);
    // What was made of it is counted until it is done.
    if (batch_.empty() && !slow_) held_.Release();
  }
  body_ = {};
  head_text_ = {};
}

bool Connection::AnswerByHead() {
  RequestInfo info;
  FillInfo(&info);
  // A client that waits to be told to continue may now send the body or not.
  if (head_.expect_continue() || head_.content_length().value_or(UINT64_MAX) > kMaxSkipped) info.keep_alive = false;
  Answer answer(service_, loop_.date, info, &stream_.output());
  if (Admit(FindRoute(head_.method(), head_.path()), &info, answer)) return false;
  Done(info, answer.status(), {});
  return true;
}

net::Task<bool> Connection::SkipBody() {
  uint64_t left = head_.content_length().value_or(0);
  bool good = !ending_;
  if (good && !stream_.FlushNow()) {
    good = co_await Send();
  }
  stream_.SetDeadline(service_.options.request_timeout);
  while (good) {
    const uint64_t part = std::min<uint64_t>(left, stream_.input().size());
    stream_.Consume(part);
    left -= part;
    if (left == 0) break;
    good = co_await stream_.Read();
  }
  co_return good;
}

// Where none is taken a small one is read and forgotten: anybody may ask there.
uint64_t Connection::MaxBody() const {
  const Route* route = FindRoute(head_.method(), head_.path()).route;
  return route != nullptr && route->request_schema.empty() ? kMaxSkipped : service_.options.max_body_bytes;
}

net::Task<HttpError> Connection::ReadBody() {
  const uint64_t length = head_.content_length().value_or(0);
  if (length > MaxBody()) co_return kBodyTooLarge;
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
  ChunkedDecoder decoder(MaxBody());
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

bool Connection::HoldUpTo(uint64_t bytes) {
  if (bytes <= std::max(kFreeBytes, held_.bytes())) return true;
  // Small parts add up, in steps that count.
  return held_.Add(std::max(bytes - held_.bytes(), kFreeBytes + 1));
}

}  // namespace kvarts::http
