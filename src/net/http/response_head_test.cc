#include "net/http/response_head.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <ctime>

namespace kvarts::http {
namespace {

constexpr uint64_t kSecond = 1'000'000;
const HttpDate kDate({784'111'777 * kSecond});
constexpr const char* kDateLine = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";

TEST(StatusLineTest, EveryStatusThatIsUsedHasItsLine) {
  for (const int status : {100, 200, 201, 202, 204, 206, 304, 400, 401, 403, 404, 405, 406, 408, 409, 410,
                           411, 412, 413, 414, 415, 417, 422, 428, 429, 431, 500, 501, 503, 504, 505}) {
    EXPECT_TRUE(StatusLine(status).starts_with("HTTP/1.1 " + std::to_string(status) + " ")) << status;
    EXPECT_TRUE(StatusLine(status).ends_with("\r\n"));
    EXPECT_FALSE(ReasonPhrase(status).empty());
  }
  EXPECT_EQ(ReasonPhrase(404), "Not Found");
  EXPECT_EQ(ReasonPhrase(431), "Request Header Fields Too Large");
}

TEST(StatusLineTest, OthersHaveThatOfTheirClass) {
  EXPECT_EQ(StatusLine(418), StatusLine(400));
  EXPECT_EQ(StatusLine(299), StatusLine(200));
  EXPECT_EQ(StatusLine(599), StatusLine(500));
  for (const int status : {-1, 0, 99, 600, 1 << 30}) EXPECT_EQ(StatusLine(status), StatusLine(500));
}

TEST(HttpDateTest, IsWhatTheRfcShows) {
  EXPECT_EQ(kDate.line(), kDateLine);
  EXPECT_EQ(kDate.date(), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(HttpDate({0}).date(), "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST(HttpDateTest, ChangesWithTheSecond) {
  HttpDate date({784'111'777 * kSecond});
  date.Refresh({784'111'777 * kSecond + 999'999});
  EXPECT_EQ(date.line(), kDateLine);
  date.Refresh({784'111'778 * kSecond});
  EXPECT_EQ(date.date(), "Sun, 06 Nov 1994 08:49:38 GMT");
}

RC_GTEST_PROP(HttpDateProperty, IsWhatTheSystemSays, ()) {
  const auto second = *rc::gen::inRange<uint64_t>(0, kLastTimestamp.micros / kSecond);
  const auto time = static_cast<time_t>(second);
  tm parts;
  gmtime_r(&time, &parts);
  char text[64];
  strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  RC_ASSERT(HttpDate({second * kSecond}).date() == text);
}

// An answer of this body, begun with room for the length of another.
Bytes Answer(const Bytes& body, size_t expected, ResponseWriter::Options options = {}, int status = 200) {
  Bytes out;
  ResponseWriter answer(&out, kDate, options);
  answer.Begin(status);
  answer.ContentType("text/plain");
  answer.body(expected)->append(body);
  answer.Finish();
  return out;
}

TEST(ResponseWriterTest, WritesHeadAndBody) {
  Bytes out = "before";
  ResponseWriter answer(&out, kDate, {});
  answer.Begin(200);
  answer.ContentType("application/json");
  answer.ETag("17");
  answer.Header("Kvarts-Cost", "keys=1");
  answer.body()->append("{\"a\": 1}");
  EXPECT_EQ(answer.body_size(), 8u);
  answer.Finish();
  EXPECT_EQ(out,
            std::string("beforeHTTP/1.1 200 OK\r\n") + kDateLine +
                "Content-Type: application/json\r\nETag: \"17\"\r\nKvarts-Cost: keys=1\r\nContent-Length: 8\r\n\r\n"
                "{\"a\": 1}");
}

TEST(ResponseWriterTest, TheLengthFitsWhateverWasExpected) {
  for (const size_t size : {0, 1, 9, 10, 99, 100, 999, 1000, 123'456}) {
    for (const size_t expected : {size_t{0}, size_t{1}, size_t{10}, size_t{500}, size_t{99'999}, ~size_t{0}}) {
      const Bytes body(size, 'x');
      EXPECT_EQ(Answer(body, expected), std::string("HTTP/1.1 200 OK\r\n") + kDateLine +
                                            "Content-Type: text/plain\r\nContent-Length: " + std::to_string(size) +
                                            "\r\n\r\n" + body);
    }
  }
}

TEST(ResponseWriterTest, AnswersStandBehindEachOther) {
  Bytes out;
  Bytes expected;
  for (const size_t size : {5, 5000, 0, 50}) {
    ResponseWriter answer(&out, kDate, {});
    answer.Begin(404);
    answer.ContentType("text/plain");
    answer.body()->append(size, 'y');
    answer.Finish();
    expected += Answer(Bytes(size, 'y'), size, {}, 404);
  }
  EXPECT_EQ(out, expected);
}

TEST(ResponseWriterTest, HeadHasTheLengthButNotTheBody) {
  for (const size_t expected : {1, 100, 100'000}) {
    const Bytes out = Answer("0123456789", expected, {.head_only = true});
    EXPECT_TRUE(out.ends_with("\r\nContent-Length: 10\r\n\r\n")) << out;
  }
}

TEST(ResponseWriterTest, SomeAnswersHaveNoBodyAndNoLength) {
  for (const int status : {204, 304}) {
    const Bytes out = Answer("dropped", 100, {}, status);
    EXPECT_EQ(out.find("Content-Length"), Bytes::npos);
    EXPECT_TRUE(out.ends_with("Content-Type: text/plain\r\n\r\n"));
  }
  Bytes out;
  ResponseWriter answer(&out, kDate, {});
  answer.Begin(200);
  answer.Finish();
  EXPECT_TRUE(out.ends_with("\r\nContent-Length: 0\r\n\r\n")) << "an answer without a body still says so";
}

TEST(ResponseWriterTest, WithoutABodyItsSizeIsZeroWhateverStandsBefore) {
  Bytes out(1000, 'x');
  ResponseWriter answer(&out, kDate, {});
  answer.Begin(304);
  EXPECT_EQ(answer.body_size(), 0U);
  answer.body()->append("abc");
  EXPECT_EQ(answer.body_size(), 3U);
}

TEST(ResponseWriterTest, AnETagIsExtendedWhereItStands) {
  Bytes out;
  ResponseWriter answer(&out, kDate, {});
  answer.Begin(200);
  answer.ExtendETag("-none");
  answer.ETag("17");
  answer.ContentType("text/plain");
  answer.body()->append("abc");
  const Bytes body = answer.TakeBody();
  answer.ExtendETag("-a");
  answer.ExtendETag("-b");
  answer.body()->append(body);
  answer.Finish();
  EXPECT_TRUE(out.ends_with("ETag: \"17-a-b\"\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nabc")) << out;
}

TEST(ResponseWriterTest, ConnectionIsSaidWhereItIsNotUnderstood) {
  EXPECT_EQ(Answer("", 1, {.keep_alive = true, .minor_version = 1}).find("Connection"), Bytes::npos);
  EXPECT_NE(Answer("", 1, {.keep_alive = false, .minor_version = 1}).find("\r\nConnection: close\r\n"), Bytes::npos);
  EXPECT_NE(Answer("", 1, {.keep_alive = false, .minor_version = 0}).find("\r\nConnection: close\r\n"), Bytes::npos);
  EXPECT_NE(Answer("", 1, {.keep_alive = true, .minor_version = 0}).find("\r\nConnection: keep-alive\r\n"),
            Bytes::npos);
}

TEST(ResponseWriterTest, NoValueEndsItsLine) {
  Bytes out;
  ResponseWriter answer(&out, kDate, {});
  answer.Begin(200);
  answer.Header("X", BytesView("a\r\nSet-Cookie: b\0\x7f\t\xc3\xa5\r", 22));
  answer.Finish();
  EXPECT_NE(out.find("X: a  Set-Cookie: b   \xc3\xa5 \r\n"), Bytes::npos) << out;
}

TEST(ResponseWriterTest, TheBodyCanBeTakenBack) {
  Bytes out = "before";
  ResponseWriter answer(&out, kDate, {});
  answer.Begin(200);
  answer.body()->append("a long text");
  EXPECT_EQ(answer.TakeBody(), "a long text");
  EXPECT_EQ(answer.TakeBody(), "");
  answer.Header("Content-Encoding", "gzip");
  answer.body()->append("short");
  answer.Finish();
  EXPECT_EQ(out, std::string("beforeHTTP/1.1 200 OK\r\n") + kDateLine +
                     "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nshort");
  Bytes other = "before";
  ResponseWriter discarded(&other, kDate, {});
  discarded.Begin(200);
  discarded.body()->append("half of it");
  discarded.Discard();
  EXPECT_EQ(other, "before");
  discarded.Begin(500);
  discarded.Finish();
  EXPECT_EQ(other,
            std::string("beforeHTTP/1.1 500 Internal Server Error\r\n") + kDateLine + "Content-Length: 0\r\n\r\n");
}

TEST(ResponseWriterTest, Streams) {
  Bytes out;
  ResponseWriter answer(&out, kDate, {});
  answer.Begin(200);
  EXPECT_TRUE(answer.Stream());
  AppendChunk(&out, "0123456789abcdef!");
  AppendChunk(&out, "");
  AppendChunk(&out, "x");
  AppendLastChunk(&out);
  EXPECT_TRUE(answer.keep_alive());
  EXPECT_EQ(out, std::string("HTTP/1.1 200 OK\r\n") + kDateLine +
                     "Transfer-Encoding: chunked\r\n\r\n11\r\n0123456789abcdef!\r\n1\r\nx\r\n0\r\n\r\n");
}

TEST(ResponseWriterTest, StreamsOfTheOldVersionEndWithTheConnection) {
  for (const bool keep_alive : {true, false}) {
    Bytes out;
    ResponseWriter answer(&out, kDate, {.keep_alive = keep_alive, .minor_version = 0});
    answer.Begin(200);
    answer.ContentType("text/plain");
    EXPECT_FALSE(answer.Stream());
    EXPECT_FALSE(answer.keep_alive());
    EXPECT_EQ(out,
              std::string("HTTP/1.1 200 OK\r\n") + kDateLine + "Connection: close\r\nContent-Type: text/plain\r\n\r\n");
  }
}

}  // namespace
}  // namespace kvarts::http
