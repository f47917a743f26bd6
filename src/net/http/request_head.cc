#include "net/http/request_head.h"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "net/http/characters.h"

namespace kvarts::http {
namespace {

constexpr size_t kMaxMethodBytes = 32;
constexpr std::string_view kVersionPrefix = "HTTP/";
constexpr size_t kVersionBytes = kVersionPrefix.size() + 3;

constexpr HttpError kBareLineFeed{400, "a line must end with CR LF"};
constexpr HttpError kBareReturn{400, "a CR must be followed by LF"};
constexpr HttpError kControl{400, "a control character in the head"};
constexpr HttpError kHeadTooLarge{431, "the head of the request is too large"};
constexpr HttpError kTooManyHeaders{431, "too many headers"};
constexpr HttpError kBadRequestLine{400, "the request line is not method, target and version, each after one space"};
constexpr HttpError kUnknownMethod{501, "a method of that name is not supported"};
constexpr HttpError kTargetTooLong{414, "the target of the request is too long"};
constexpr HttpError kBadTarget{400, "the target of the request is malformed"};
constexpr HttpError kBadVersion{505, "only HTTP/1.0 and HTTP/1.1 are spoken here"};
constexpr HttpError kFolded{400, "a header must not be folded over lines"};
constexpr HttpError kBadName{400, "the name of a header is malformed, or not followed by a colon at once"};
constexpr HttpError kRepeated{400, "a header is given twice that may be given once"};
constexpr HttpError kTooManyKvartsHeaders{400, "too many headers that begin with Kvarts-"};
constexpr HttpError kNoHost{400, "the header Host is missing"};
constexpr HttpError kBadHost{400, "the header Host is malformed"};
constexpr HttpError kBadLength{400, "the header Content-Length is not a number of bytes"};
constexpr HttpError kTwoFramings{400, "Content-Length and Transfer-Encoding exclude each other"};
constexpr HttpError kCodingInOldVersion{400, "HTTP/1.0 has no Transfer-Encoding"};
constexpr HttpError kUnknownCoding{501, "the only transfer coding is chunked"};
constexpr HttpError kUnknownExpectation{417, "the only expectation that is met is 100-continue"};

// Whether the name is `lower`, whose letters are all small, but for case. The name is a token as long as `lower`: so
// setting the bit that letters differ in makes no other character one that names are made of.
template <size_t kSizeAndZero>
bool NameIs(const char* name, const char (&lower)[kSizeAndZero]) {
  constexpr size_t kSize = kSizeAndZero - 1;
  const auto same = [name, &lower](size_t at, auto word) {
    decltype(word) expected = 0;
    std::memcpy(&word, name + at, sizeof(word));
    std::memcpy(&expected, lower + at, sizeof(word));
    return (word | static_cast<decltype(word)>(0x2020202020202020)) == expected;
  };
  if constexpr (kSize < 8) {
    static_assert(kSize >= 4);
    return same(0, uint32_t{}) && same(kSize - 4, uint32_t{});
  } else {
    for (size_t at = 0; at + 8 <= kSize; at += 8) {
      if (!same(at, uint64_t{})) return false;
    }
    return same(kSize - 8, uint64_t{});
  }
}

// Which of the headers that are kept; kCount: none.
Field FieldOf(std::string_view name) {
  const char* const at = name.data();
  switch (name.size()) {
    case 4:
      if (NameIs(at, "host")) return Field::kHost;
      break;
    case 6:
      if (NameIs(at, "accept")) return Field::kAccept;
      if (NameIs(at, "cookie")) return Field::kCookie;
      if (NameIs(at, "expect")) return Field::kExpect;
      if (NameIs(at, "origin")) return Field::kOrigin;
      if (NameIs(at, "prefer")) return Field::kPrefer;
      break;
    case 8:
      if (NameIs(at, "if-match")) return Field::kIfMatch;
      break;
    case 11:
      if (NameIs(at, "traceparent")) return Field::kTraceparent;
      break;
    case 12:
      if (NameIs(at, "content-type")) return Field::kContentType;
      break;
    case 13:
      if (NameIs(at, "authorization")) return Field::kAuthorization;
      if (NameIs(at, "if-none-match")) return Field::kIfNoneMatch;
      if (NameIs(at, "last-event-id")) return Field::kLastEventId;
      break;
    case 14:
      if (NameIs(at, "content-length")) return Field::kContentLength;
      break;
    case 15:
      if (NameIs(at, "accept-encoding")) return Field::kAcceptEncoding;
      break;
    case 16:
      if (NameIs(at, "content-encoding")) return Field::kContentEncoding;
      break;
    case 17:
      if (NameIs(at, "transfer-encoding")) return Field::kTransferEncoding;
      break;
    default:
      break;
  }
  return Field::kCount;
}

Method MethodOf(std::string_view text) {
  switch (text.size()) {
    case 3:
      if (text == "GET") return Method::kGet;
      if (text == "PUT") return Method::kPut;
      break;
    case 4:
      if (text == "HEAD") return Method::kHead;
      if (text == "POST") return Method::kPost;
      break;
    case 5:
      if (text == "PATCH") return Method::kPatch;
      break;
    case 6:
      if (text == "DELETE") return Method::kDelete;
      break;
    case 7:
      if (text == "OPTIONS") return Method::kOptions;
      break;
    default:
      break;
  }
  return Method::kOther;
}

// Digits and nothing else.
bool ParseLength(std::string_view text, uint64_t* length) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *length);
  return error == std::errc() && end == text.data() + text.size();
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<std::string_view> RequestHead::Header(std::string_view name) const {
  for (size_t i = 0; i < kvarts_count_; ++i) {
    const std::string_view own = kvarts_name(i);
    if (std::ranges::equal(own, name, {}, Lower, Lower)) return kvarts_value(i);
  }
  return std::nullopt;
}

HeadResult HeadParser::Refuse(HttpError error) {
  Reset();
  return {HeadResult::State::kRefused, 0, error};
}

HeadResult HeadParser::Wait(size_t scanned, size_t window) {
  if (window >= limits_.max_head_bytes) return Refuse(kHeadTooLarge);
  at_.scanned = scanned;
  return {};
}

HeadResult HeadParser::Parse(std::string_view input, RequestHead* head) {
  assert(at_.scanned <= input.size());
  const char* const base = input.data();
  head->base_ = base;
  // Every limit is a place in the head at which it is refused, however much more has arrived.
  const size_t window = std::min(input.size(), limits_.max_head_bytes);
  while (true) {
    size_t line_window = window;
    if (at_.phase != Phase::kHeaders) {
      line_window = std::min(window, at_.line + kMaxMethodBytes + limits_.max_target_bytes + kVersionBytes + 3);
    }
    const char* stop = FindControl(base + at_.scanned, base + line_window);
    while (stop != base + line_window && *stop == '\t') stop = FindControl(stop + 1, base + line_window);
    const auto end = static_cast<size_t>(stop - base);
    const std::string_view line(base + at_.line, end - at_.line);
    if (end == line_window) {
      if (end == window) return Wait(end, window);
      // Longer than its parts can be together, so one of them is too long.
      const HttpError error = TakeRequestLine(line, head);
      return Refuse(error ? error : kBadRequestLine);
    }
    if (*stop != '\r') return Refuse(*stop == '\n' ? kBareLineFeed : kControl);
    if (end + 1 == window) return Wait(end, window);
    if (stop[1] != '\n') return Refuse(kBareReturn);
    bool done = false;
    if (const HttpError error = TakeLine(line, head, &done)) return Refuse(error);
    at_.line = at_.scanned = end + 2;
    if (done) {
      const size_t size = at_.line;
      Reset();
      return {HeadResult::State::kComplete, size, kNoError};
    }
  }
}

HttpError HeadParser::TakeLine(std::string_view line, RequestHead* head, bool* done) {
  if (at_.phase == Phase::kHeaders) {
    if (!line.empty()) return TakeHeader(line, head);
    *done = true;
    return Finish(head);
  }
  // One empty line before a request is forgiven: some clients end a body with it.
  if (line.empty() && at_.phase == Phase::kStart) {
    at_.phase = Phase::kAfterEmptyLine;
    return kNoError;
  }
  at_.phase = Phase::kHeaders;
  return TakeRequestLine(line, head);
}

HttpError HeadParser::TakeRequestLine(std::string_view line, RequestHead* head) {
  head->seen_ = 0;
  head->kvarts_count_ = 0;
  size_t end = 0;
  while (end < line.size() && Is(line[end], kTokenClass)) ++end;
  if (end == 0) return kBadRequestLine;
  if (end > kMaxMethodBytes) return kUnknownMethod;
  if (end == line.size() || line[end] != ' ') return kBadRequestLine;
  const std::string_view method = line.substr(0, end);
  head->method_text_ = head->SpanOf(method);
  head->method_ = MethodOf(method);

  line.remove_prefix(end + 1);
  size_t size = 0;
  while (size < line.size() && Is(line[size], kTargetClass)) ++size;
  if (size > limits_.max_target_bytes) return kTargetTooLong;
  if (size == 0 || size == line.size()) return kBadRequestLine;
  if (line[size] != ' ') return line[size] == '#' ? kBadTarget : kBadRequestLine;
  const std::string_view version = line.substr(size + 1);
  if (version.size() != kVersionBytes || !version.starts_with(kVersionPrefix)) return kBadRequestLine;
  if (!IsDigit(version[5]) || version[6] != '.' || !IsDigit(version[7])) return kBadRequestLine;
  if (version[5] != '1' || version[7] > '1') return kBadVersion;
  head->minor_version_ = version[7] == '1' ? 1 : 0;
  return TakeTarget(line.substr(0, size), head);
}

HttpError HeadParser::TakeTarget(std::string_view target, RequestHead* head) {
  if (head->method_ == Method::kOther && head->method_text() == "CONNECT") return kUnknownMethod;
  if (target.front() != '/') {
    if (target != "*") return TakeAbsoluteTarget(target, head);
    if (head->method_ != Method::kOptions) return kBadTarget;
  }
  const size_t mark = target.find('?');
  head->path_ = head->SpanOf(target.substr(0, mark));
  head->query_ = head->SpanOf(mark == std::string_view::npos ? target.substr(target.size()) : target.substr(mark + 1));
  return kNoError;
}

HttpError HeadParser::TakeAbsoluteTarget(std::string_view target, RequestHead* head) {
  const size_t colon = target.find(':');
  if (colon == std::string_view::npos || target.substr(colon).substr(0, 3) != "://") return kBadTarget;
  const std::string_view scheme = target.substr(0, colon);
  if (!EqualsIgnoringCase(scheme, "http") && !EqualsIgnoringCase(scheme, "https")) return kBadTarget;
  const std::string_view rest = target.substr(colon + 3);
  const size_t end = std::min(rest.find_first_of("/?"), rest.size());
  const std::string_view host = rest.substr(0, end);
  if (host.empty() || !AllAre(host, kHostClass)) return kBadTarget;
  head->fields_[static_cast<size_t>(Field::kHost)] = head->SpanOf(host);
  at_.host_in_target = true;

  const std::string_view local = rest.substr(end);
  const size_t mark = std::min(local.find('?'), local.size());
  // Without a path it is "/"; there is one in front of the host.
  head->path_ = head->SpanOf(mark == 0 ? target.substr(colon + 2, 1) : local.substr(0, mark));
  head->query_ = head->SpanOf(local.substr(std::min(mark + 1, local.size())));
  return kNoError;
}

HttpError HeadParser::TakeHeader(std::string_view line, RequestHead* head) {
  if (++at_.headers > limits_.max_headers) return kTooManyHeaders;
  size_t end = 0;
  while (end < line.size() && Is(line[end], kTokenClass)) ++end;
  if (end == 0 || end == line.size() || line[end] != ':') return IsBlank(line[0]) ? kFolded : kBadName;
  const std::string_view name = line.substr(0, end);
  const std::string_view value = Trimmed(line.substr(end + 1));

  const Field field = FieldOf(name);
  if (field != Field::kCount) return TakeField(field, value, head);
  if (end == 10 && NameIs(name.data(), "connection")) {
    TakeConnection(value);
  } else if (end > 7 && NameIs(name.data(), "kvarts-")) {
    if (head->Header(name)) return kRepeated;
    if (head->kvarts_count_ == RequestHead::kMaxKvartsHeaders) return kTooManyKvartsHeaders;
    head->kvarts_[head->kvarts_count_++] = {head->SpanOf(name), head->SpanOf(value)};
  }
  return kNoError;
}

HttpError HeadParser::TakeField(Field field, std::string_view value, RequestHead* head) {
  // A second Cookie is nobody's business but a proxy's.
  if (head->Has(field)) return field == Field::kCookie ? kNoError : kRepeated;
  head->seen_ |= 1u << static_cast<unsigned>(field);
  switch (field) {
    case Field::kHost:
      if (!AllAre(value, kHostClass)) return kBadHost;
      if (at_.host_in_target) return kNoError;
      break;
    case Field::kContentLength:
      if (!ParseLength(value, &head->content_length_)) return kBadLength;
      break;
    case Field::kTransferEncoding:
      if (!EqualsIgnoringCase(value, "chunked")) return kUnknownCoding;
      break;
    case Field::kExpect:
      if (!EqualsIgnoringCase(value, "100-continue")) return kUnknownExpectation;
      break;
    default:
      break;
  }
  head->fields_[static_cast<size_t>(field)] = head->SpanOf(value);
  return kNoError;
}

void HeadParser::TakeConnection(std::string_view value) {
  while (true) {
    const size_t comma = value.find(',');
    const std::string_view option = Trimmed(value.substr(0, comma));
    if (EqualsIgnoringCase(option, "close")) at_.asks_to_close = true;
    if (EqualsIgnoringCase(option, "keep-alive")) at_.asks_to_stay = true;
    if (comma == std::string_view::npos) return;
    value.remove_prefix(comma + 1);
  }
}

HttpError HeadParser::Finish(RequestHead* head) const {
  const bool modern = head->minor_version_ > 0;
  if (modern && !head->has_host()) return kNoHost;
  if (head->chunked() && head->Has(Field::kContentLength)) return kTwoFramings;
  if (head->chunked() && !modern) return kCodingInOldVersion;
  if (at_.host_in_target) head->seen_ |= 1u << static_cast<unsigned>(Field::kHost);
  head->keep_alive_ = !at_.asks_to_close && (modern || at_.asks_to_stay);
  return kNoError;
}

}  // namespace kvarts::http
