#include "net/http/response_head.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "net/http/characters.h"

namespace kvarts::http {
namespace {

constexpr std::array<std::string_view, 32> kStatusLines = {
    "HTTP/1.1 100 Continue\r\n",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 201 Created\r\n",
    "HTTP/1.1 202 Accepted\r\n",
    "HTTP/1.1 204 No Content\r\n",
    "HTTP/1.1 206 Partial Content\r\n",
    "HTTP/1.1 300 Multiple Choices\r\n",
    "HTTP/1.1 304 Not Modified\r\n",
    "HTTP/1.1 400 Bad Request\r\n",
    "HTTP/1.1 401 Unauthorized\r\n",
    "HTTP/1.1 403 Forbidden\r\n",
    "HTTP/1.1 404 Not Found\r\n",
    "HTTP/1.1 405 Method Not Allowed\r\n",
    "HTTP/1.1 406 Not Acceptable\r\n",
    "HTTP/1.1 408 Request Timeout\r\n",
    "HTTP/1.1 409 Conflict\r\n",
    "HTTP/1.1 410 Gone\r\n",
    "HTTP/1.1 411 Length Required\r\n",
    "HTTP/1.1 412 Precondition Failed\r\n",
    "HTTP/1.1 413 Content Too Large\r\n",
    "HTTP/1.1 414 URI Too Long\r\n",
    "HTTP/1.1 415 Unsupported Media Type\r\n",
    "HTTP/1.1 417 Expectation Failed\r\n",
    "HTTP/1.1 422 Unprocessable Content\r\n",
    "HTTP/1.1 428 Precondition Required\r\n",
    "HTTP/1.1 429 Too Many Requests\r\n",
    "HTTP/1.1 431 Request Header Fields Too Large\r\n",
    "HTTP/1.1 500 Internal Server Error\r\n",
    "HTTP/1.1 501 Not Implemented\r\n",
    "HTTP/1.1 503 Service Unavailable\r\n",
    "HTTP/1.1 504 Gateway Timeout\r\n",
    "HTTP/1.1 505 HTTP Version Not Supported\r\n",
};

constexpr size_t kCodeAt = 9;

constexpr int CodeOf(std::string_view line) {
  return (line[kCodeAt] - '0') * 100 + (line[kCodeAt + 1] - '0') * 10 + (line[kCodeAt + 2] - '0');
}

// The place of each status, from 100 to 599, in kStatusLines.
constexpr std::array<uint8_t, 500> kPlaces = [] {
  std::array<uint8_t, 500> places{};
  for (size_t i = 0; i < kStatusLines.size(); ++i) {
    const auto code = static_cast<size_t>(CodeOf(kStatusLines[i]) - 100);
    places[code] = static_cast<uint8_t>(i);
  }
  for (size_t code = 0; code < places.size(); ++code) {
    if (places[code] == 0) places[code] = places[code - code % 100];
  }
  return places;
}();

constexpr std::string_view kContentLength = "Content-Length: ";
constexpr size_t kUsualHeadBytes = 256;

size_t DigitsOf(uint64_t number) {
  size_t digits = 1;
  for (; number >= 10; number /= 10) ++digits;
  return digits;
}

void WriteTwoDigits(char* to, uint64_t number) {
  to[0] = static_cast<char>('0' + number / 10);
  to[1] = static_cast<char>('0' + number % 10);
}

}  // namespace

std::string_view StatusLine(int status) {
  return kStatusLines[status < 100 || status > 599 ? kPlaces[400] : kPlaces[static_cast<size_t>(status) - 100]];
}

std::string_view ReasonPhrase(int status) {
  std::string_view line = StatusLine(status);
  line.remove_prefix(kCodeAt + 4);
  line.remove_suffix(2);
  return line;
}

void HttpDate::Write(uint64_t second) {
  second_ = second;
  constexpr std::string_view kDays = "ThuFriSatSunMonTueWed";  // the first of 1970 was a Thursday
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  constexpr std::string_view kForm = "Date: ---, -- --- ---- --:--:-- GMT\r\n";
  static_assert(kForm.size() == sizeof(line_));
  const uint64_t days = second / 86'400;
  const uint64_t of_day = second % 86'400;
  // Years from March on, so that the leap day is the last; eras of 400 years have equally many days.
  const uint64_t shifted = days + 719'468;
  const uint64_t of_era = shifted % 146'097;
  const uint64_t year_of_era = (of_era - of_era / 1460 + of_era / 36'524 - of_era / 146'096) / 365;
  const uint64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const uint64_t month_from_march = (5 * of_year + 2) / 153;
  const uint64_t day = of_year - (153 * month_from_march + 2) / 5 + 1;
  const uint64_t month = (month_from_march + 2) % 12;  // from zero
  const uint64_t year = shifted / 146'097 * 400 + year_of_era + (month < 2 ? 1 : 0);

  char* const line = line_.data();
  std::memcpy(line, kForm.data(), kForm.size());
  std::memcpy(line + 6, kDays.data() + days % 7 * 3, 3);
  WriteTwoDigits(line + 11, day);
  std::memcpy(line + 14, kMonths.data() + month * 3, 3);
  WriteTwoDigits(line + 18, year / 100 % 100);
  WriteTwoDigits(line + 20, year % 100);
  WriteTwoDigits(line + 23, of_day / 3600);
  WriteTwoDigits(line + 26, of_day / 60 % 60);
  WriteTwoDigits(line + 29, of_day % 60);
}

void ResponseWriter::Begin(int status) {
  status_ = status;
  start_ = out_->size();
  length_at_ = 0;
  tag_end_ = 0;
  if (out_->capacity() - start_ < kUsualHeadBytes) out_->reserve(std::max(start_ * 2, start_ + kUsualHeadBytes));
  out_->append(StatusLine(status)).append(date_.line());
  if (!options_.keep_alive) {
    out_->append("Connection: close\r\n");
  } else if (options_.minor_version == 0) {
    out_->append("Connection: keep-alive\r\n");
  }
}

void ResponseWriter::Header(std::string_view name, std::string_view value) {
  out_->append(name).append(": ", 2);
  const size_t at = out_->size();
  out_->append(value);
  char* const end = out_->data() + out_->size();
  for (char* from = out_->data() + at; from != end;) {
    from += FindControl(from, end) - from;
    if (from != end) *from++ = ' ';
  }
  out_->append("\r\n", 2);
}

void ResponseWriter::ETag(std::string_view tag) {
  out_->append("ETag: \"").append(tag);
  tag_end_ = out_->size();
  out_->append("\"\r\n", 3);
}

void ResponseWriter::ExtendETag(std::string_view suffix) {
  if (tag_end_ == 0) return;
  out_->insert(tag_end_, suffix);
  tag_end_ += suffix.size();
}

Bytes* ResponseWriter::body(size_t expected_bytes) {
  if (length_at_ != 0) return out_;
  length_at_ = out_->size();
  digits_ = DigitsOf(expected_bytes);
  if (!bodiless()) {
    // Twenty bytes hold any length; only as many of them stay.
    out_->append(kContentLength).append("00000000000000000000", digits_);
    out_->append("\r\n", 2);
  }
  out_->append("\r\n", 2);
  body_at_ = out_->size();
  return out_;
}

Bytes ResponseWriter::TakeBody() {
  if (length_at_ == 0) return {};
  Bytes taken = out_->substr(body_at_);
  out_->resize(length_at_);
  length_at_ = 0;
  return taken;
}

void ResponseWriter::Finish() {
  if (length_at_ == 0) body(0);
  if (bodiless()) return out_->resize(body_at_);
  const size_t size = body_size();
  const size_t digits = DigitsOf(size);
  const size_t at = length_at_ + kContentLength.size();
  if (options_.head_only) out_->resize(body_at_);
  if (digits > digits_) {
    out_->insert(at, digits - digits_, '0');
  } else if (digits < digits_) {
    out_->erase(at, digits_ - digits);
  }
  std::to_chars(out_->data() + at, out_->data() + at + digits, size);
}

bool ResponseWriter::Stream() {
  const bool chunked = options_.minor_version > 0;
  if (chunked) {
    out_->append("Transfer-Encoding: chunked\r\n");
  } else if (options_.keep_alive) {
    // The last Connection counts for nobody: the one that Begin wrote is taken out.
    constexpr std::string_view kStay = "Connection: keep-alive\r\n";
    out_->replace(out_->find(kStay, start_), kStay.size(), "Connection: close\r\n");
    options_.keep_alive = false;
  }
  out_->append("\r\n", 2);
  return chunked;
}

std::string_view ContinueLine() { return "HTTP/1.1 100 Continue\r\n\r\n"; }

void AppendChunk(Bytes* to, BytesView data) {
  if (data.empty()) return;
  char size[16];
  const auto [end, error] = std::to_chars(size, size + sizeof(size), data.size(), 16);
  to->append(size, end).append("\r\n", 2).append(data).append("\r\n", 2);
}

void AppendLastChunk(Bytes* to) { to->append("0\r\n\r\n", 5); }

}  // namespace kvarts::http
