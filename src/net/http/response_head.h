// Writes answers: a head, and a body straight behind it in the same buffer.
//
//   ResponseWriter answer(&buffer, date, {.keep_alive = head.keep_alive(), .minor_version = head.minor_version()});
//   answer.Begin(200);
//   answer.ContentType("application/json");
//   AppendJson(answer.body());
//   answer.Finish();
//
// The length of a body is known when it has been written. Content-Length is therefore the head's last line, with room
// for as many digits as the body is expected to have; Finish fills them in, and only when it turns out to have more or
// fewer digits are the bytes of the body moved. Several answers may stand in one buffer, one behind the other.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"

namespace kvarts::http {

// "HTTP/1.1 404 Not Found\r\n". A status that is not in the table has the line of the first of its class.
std::string_view StatusLine(int status);
// "Not Found"
std::string_view ReasonPhrase(int status);

// The header Date as text, kept until the second changes: whoever owns it calls Refresh about once a second. Not safe
// from several threads; every loop has its own.
class HttpDate {
 public:
  explicit HttpDate(Timestamp now) { Write(now.micros / 1'000'000); }
  void Refresh(Timestamp now) {
    if (const uint64_t second = now.micros / 1'000'000; second != second_) Write(second);
  }
  // "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
  std::string_view line() const { return {line_.data(), line_.size()}; }
  // "Sun, 06 Nov 1994 08:49:37 GMT"
  std::string_view date() const { return line().substr(6, 29); }

 private:
  void Write(uint64_t second);

  std::array<char, 37> line_;
  uint64_t second_ = 0;
};

class ResponseWriter {
 public:
  struct Options {
    bool keep_alive = true;
    int minor_version = 1;   // of the request
    bool head_only = false;  // the request was HEAD: the body is counted and not sent
  };

  ResponseWriter(Bytes* out, const HttpDate& date, Options options) : out_(out), date_(date), options_(options) {}
  ResponseWriter(const ResponseWriter&) = delete;
  ResponseWriter& operator=(const ResponseWriter&) = delete;

  // Writes the status line, Date and, where the client would expect something else, Connection.
  void Begin(int status);
  // A control character in a value becomes a space: no value ends its line.
  void Header(std::string_view name, std::string_view value);
  void ContentType(std::string_view type) { Header("Content-Type", type); }
  // Lines that are constants, each with its end.
  void Lines(std::string_view lines) { out_->append(lines); }
  // The tag without its quotes.
  void ETag(std::string_view tag);
  // Appends to the tag, if there is one; the head is open.
  void ExtendETag(std::string_view suffix);

  // Ends the head. The body is appended to what is returned, and nothing before it is touched.
  Bytes* body(size_t expected_bytes = 100);
  size_t body_size() const { return length_at_ == 0 ? 0 : out_->size() - body_at_; }
  // Takes back the body written so far and opens the head again: to compress it, or to answer something else.
  Bytes TakeBody();
  // Takes back everything since Begin.
  void Discard() { out_->resize(start_); }
  // Ends the answer; without a body() it has none.
  void Finish();

  // Instead of body() and Finish(): ends the head of an answer whose length nobody knows. True: what follows goes
  // through AppendChunk and ends with AppendLastChunk. False (HTTP/1.0): it goes out as it is, and the end of the
  // connection ends it; keep_alive() is false then. Of HEAD nothing follows.
  bool Stream();
  // Whether the connection stays open after this answer.
  bool keep_alive() const { return options_.keep_alive; }

 private:
  // 1xx, 204 and 304 have neither a body nor its length.
  bool bodiless() const { return status_ < 200 || status_ == 204 || status_ == 304; }

  Bytes* const out_;
  const HttpDate& date_;
  Options options_;
  int status_ = 0;
  size_t start_ = 0;      // of the head
  size_t tag_end_ = 0;    // of the ETag, at its closing quote; zero: there is none
  size_t length_at_ = 0;  // where the line Content-Length begins; zero: the head is open
  size_t digits_ = 0;     // the room for the length
  size_t body_at_ = 0;
};

// "HTTP/1.1 100 Continue\r\n\r\n"
std::string_view ContinueLine();
// One chunk of a stream; nothing if there is nothing in it, since that would end the stream.
void AppendChunk(Bytes* to, BytesView data);
void AppendLastChunk(Bytes* to);

}  // namespace kvarts::http
