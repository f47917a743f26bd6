// The head of a request: its first line and its headers, taken apart in one pass and without an allocation.
//
//   HeadParser parser(limits);
//   const HeadResult result = parser.Parse(buffer, &head);   // again with more bytes while it is incomplete
//
// Strict as RFC 9112 allows, because whoever reads a request more kindly than its neighbour can be made to see a
// request that the neighbour did not: lines end in CR LF and nothing else, no line is folded, nothing stands between a
// name and its colon, a length is digits, said once, and never beside a transfer coding. A header that RequestHead
// keeps may be given once, lists such as Accept and If-Match included; Connection alone may be repeated. Anything else
// is checked and skipped.
//
// In one thing it is kinder than the RFC: a target may hold visible characters and bytes above 0x7f that should have
// been percent-encoded, since people type them and they mean only themselves.
//
// What was read is kept as places, not as pointers: when the buffer moves, Rebase is all it takes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "net/http/http_error.h"

namespace kvarts::http {

enum class Method : uint8_t { kGet, kHead, kPut, kPost, kDelete, kPatch, kOptions, kOther };

// The headers that are kept.
enum class Field : uint8_t {
  kHost,
  kAccept,
  kAcceptEncoding,
  kAuthorization,
  kContentEncoding,
  kContentType,
  kCookie,
  kIfMatch,
  kIfNoneMatch,
  kLastEventId,
  kOrigin,
  kPrefer,
  kTraceparent,
  // Those that are read on the spot.
  kContentLength,
  kExpect,
  kTransferEncoding,
  kCount,
};

struct HeadLimits {
  size_t max_head_bytes = 40 << 10;                // of everything up to the empty line; beyond it 431
  size_t max_headers = 100;                        // beyond it 431
  size_t max_target_bytes = (8 << 10) * 3 + 1024;  // a key of 8 KiB, all percent-encoded, fits; beyond it 414
};

class RequestHead {
 public:
  static constexpr size_t kMaxKvartsHeaders = 8;

  Method method() const { return method_; }
  std::string_view method_text() const { return At(method_text_); }
  // As it came, percent-encoded; begins with a slash, or is "*" (of OPTIONS).
  std::string_view path() const { return At(path_); }
  // As it came, without the question mark.
  std::string_view query() const { return At(query_); }
  int minor_version() const { return minor_version_; }
  // Whether the client wants the connection to stay open.
  bool keep_alive() const { return keep_alive_; }
  std::optional<uint64_t> content_length() const {
    return Has(Field::kContentLength) ? std::optional(content_length_) : std::nullopt;
  }
  bool chunked() const { return Has(Field::kTransferEncoding); }
  bool has_body() const { return chunked() || (Has(Field::kContentLength) && content_length_ > 0); }
  // The client waits for "100 Continue" before it sends the body.
  bool expect_continue() const { return Has(Field::kExpect) && minor_version_ > 0; }

  bool Has(Field field) const { return (seen_ >> static_cast<unsigned>(field) & 1) != 0; }
  // Without the blanks around it; empty when it is absent.
  std::string_view Get(Field field) const { return Has(field) ? At(fields_[static_cast<size_t>(field)]) : ""; }

  bool has_host() const { return Has(Field::kHost); }
  // Of the target if that names one, else of the header.
  std::string_view host() const { return Get(Field::kHost); }
  std::string_view accept() const { return Get(Field::kAccept); }
  std::string_view accept_encoding() const { return Get(Field::kAcceptEncoding); }
  std::string_view authorization() const { return Get(Field::kAuthorization); }
  std::string_view content_encoding() const { return Get(Field::kContentEncoding); }
  std::string_view content_type() const { return Get(Field::kContentType); }
  std::string_view cookie() const { return Get(Field::kCookie); }
  std::string_view if_match() const { return Get(Field::kIfMatch); }
  std::string_view if_none_match() const { return Get(Field::kIfNoneMatch); }
  std::string_view last_event_id() const { return Get(Field::kLastEventId); }
  std::string_view origin() const { return Get(Field::kOrigin); }
  std::string_view prefer() const { return Get(Field::kPrefer); }
  std::string_view traceparent() const { return Get(Field::kTraceparent); }

  // A header whose name begins with "Kvarts-", by its whole name in any case.
  std::optional<std::string_view> Header(std::string_view name) const;
  size_t kvarts_headers() const { return kvarts_count_; }
  std::string_view kvarts_name(size_t i) const { return At(kvarts_[i].name); }
  std::string_view kvarts_value(size_t i) const { return At(kvarts_[i].value); }

  // The bytes that were parsed now begin at `base`.
  void Rebase(const char* base) { base_ = base; }

 private:
  friend class HeadParser;
  struct Span {
    uint32_t at = 0;
    uint32_t size = 0;
  };
  struct KvartsHeader {
    Span name;
    Span value;
  };

  std::string_view At(Span span) const { return {base_ + span.at, span.size}; }
  // `text` lies in the bytes that begin at base_.
  Span SpanOf(std::string_view text) const {
    return {static_cast<uint32_t>(text.data() - base_), static_cast<uint32_t>(text.size())};
  }
  const char* base_ = nullptr;
  uint64_t content_length_ = 0;
  uint32_t seen_ = 0;  // a bit per Field
  Method method_ = Method::kOther;
  uint8_t minor_version_ = 1;
  uint8_t kvarts_count_ = 0;
  bool keep_alive_ = false;
  Span method_text_;
  Span path_;
  Span query_;
  std::array<Span, static_cast<size_t>(Field::kCount)> fields_;
  std::array<KvartsHeader, kMaxKvartsHeaders> kvarts_;
};

struct HeadResult {
  enum class State : uint8_t { kIncomplete, kComplete, kRefused };
  State state = State::kIncomplete;
  size_t size = 0;  // of a complete head, its empty line included
  HttpError error;  // of a refused one

  bool complete() const { return state == State::kComplete; }
  bool incomplete() const { return state == State::kIncomplete; }
  bool refused() const { return state == State::kRefused; }
};

// Remembers how far it has come, so that a head that arrives byte by byte costs no more than one that arrives at once,
// and gets the same answer at the same byte.
class HeadParser {
 public:
  explicit HeadParser(const HeadLimits& limits = {}) : limits_(limits) {}

  // `input` begins with the request and holds what was there at the last call, possibly elsewhere; `head` is the same
  // as at the last call. After an answer that is final the parser is ready for the next request.
  HeadResult Parse(std::string_view input, RequestHead* head);
  // Forgets a head that is incomplete.
  void Reset() { at_ = {}; }

 private:
  enum class Phase : uint8_t { kStart, kAfterEmptyLine, kHeaders };
  // How far the head has been read.
  struct Progress {
    size_t line = 0;     // where the line begins whose end is being looked for
    size_t scanned = 0;  // it has no end before here
    size_t headers = 0;
    Phase phase = Phase::kStart;
    bool host_in_target = false;
    bool asks_to_close = false;  // of the header Connection
    bool asks_to_stay = false;
  };

  HeadResult Refuse(HttpError error);
  // No line ends before `window`, where the input or the room for it ends.
  HeadResult Wait(size_t scanned, size_t window);
  // A line without its end, in each phase. `done` is set by the empty line that ends the head.
  HttpError TakeLine(std::string_view line, RequestHead* head, bool* done);
  HttpError TakeRequestLine(std::string_view line, RequestHead* head);
  HttpError TakeTarget(std::string_view target, RequestHead* head);
  HttpError TakeAbsoluteTarget(std::string_view target, RequestHead* head);
  HttpError TakeHeader(std::string_view line, RequestHead* head);
  HttpError TakeField(Field field, std::string_view value, RequestHead* head);
  void TakeConnection(std::string_view value);
  HttpError Finish(RequestHead* head) const;

  HeadLimits limits_;
  Progress at_;
};

}  // namespace kvarts::http
