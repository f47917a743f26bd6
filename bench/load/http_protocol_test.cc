#include "load/http_protocol.h"

#include <gtest/gtest.h>

namespace kvarts::load {
namespace {

const HttpProtocol kHttp({});

Answer Look(std::string_view in, OperationKind asked = OperationKind::kGet) { return kHttp.Look(asked, in); }

// Whatever is cut off, the answer is partial, asks for more than is there, and never for more than there will be.
void ExpectWholeOnlyAtItsEnd(const std::string& answer) {
  for (size_t n = 0; n < answer.size(); ++n) {
    const Answer part = Look(std::string_view(answer).substr(0, n));
    EXPECT_EQ(part.verdict, Verdict::kPartial) << n;
    EXPECT_GT(part.bytes, n);
    EXPECT_LE(part.bytes, answer.size()) << n;
  }
  const Answer whole = Look(answer + "HTTP/1.1 200");
  EXPECT_EQ(whole.verdict, Verdict::kGood);
  EXPECT_EQ(whole.bytes, answer.size());
}

TEST(HttpProtocol, FindsTheEndByContentLength) {
  ExpectWholeOnlyAtItsEnd("HTTP/1.1 200 OK\r\nServer: x\r\ncontent-LENGTH:  5 \r\nETag: \"1\"\r\n\r\nhello");
  ExpectWholeOnlyAtItsEnd("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
}

TEST(HttpProtocol, FindsTheEndOfChunks) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  ExpectWholeOnlyAtItsEnd(head + "0\r\n\r\n");
  ExpectWholeOnlyAtItsEnd(head + "5\r\nhello\r\n1A;name=value\r\nabcdefghijklmnopqrstuvwxyz\r\n0\r\n\r\n");
  ExpectWholeOnlyAtItsEnd(head + "2\r\n\r\n\r\n0\r\nTrailer: x\r\n\r\n");
}

TEST(HttpProtocol, JudgesTheStatusByWhatWasAsked) {
  const std::string_view missing = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
  EXPECT_EQ(Look(missing).verdict, Verdict::kMissing);
  EXPECT_EQ(Look(missing, OperationKind::kPath).verdict, Verdict::kUnexpected);
  EXPECT_EQ(Look(missing, OperationKind::kPut).verdict, Verdict::kUnexpected);
  const std::string_view created = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
  EXPECT_EQ(Look(created, OperationKind::kPut).verdict, Verdict::kGood);
  EXPECT_EQ(Look(created).verdict, Verdict::kUnexpected);
  EXPECT_EQ(Look("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", OperationKind::kFill).verdict, Verdict::kUnexpected);
}

TEST(HttpProtocol, AnAnswerWithoutContentHasNoBody) {
  const std::string_view empty = "HTTP/1.1 204 No Content\r\n\r\n";
  EXPECT_EQ(Look(empty, OperationKind::kPut).verdict, Verdict::kGood);
  EXPECT_EQ(Look(empty, OperationKind::kPut).bytes, empty.size());
}

TEST(HttpProtocol, SeesThatTheServerCloses) {
  EXPECT_TRUE(Look("HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n").closes);
  EXPECT_TRUE(Look("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").closes);
  EXPECT_FALSE(Look("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n").closes);
}

TEST(HttpProtocol, WhatIsNoAnswerIsBroken) {
  for (const std::string_view in : {
           "SSH-2.0-OpenSSH\r\n\r\n",
           "HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n",
           "HTTP/1.1 100 Continue\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 1x\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
           "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
           "HTTP/1.1 200 OK\r\nServer: no length\r\n\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nabc\r\n",
       }) {
    EXPECT_EQ(Look(in).verdict, Verdict::kBroken) << in;
  }
  EXPECT_EQ(Look(std::string(100'000, 'x')).verdict, Verdict::kBroken);
}

TEST(HttpProtocol, RequestsAreWhole) {
  HttpSettings settings;
  settings.value_bytes = 3;
  settings.headers = {"Kvarts-Durability: sync"};
  settings.accept_raw = true;
  const HttpProtocol http(settings);
  std::string value;
  AppendValue(7, 3, &value);

  std::string get;
  http.AppendRequest({OperationKind::kGet, 7}, &get);
  EXPECT_EQ(get,
            "GET /keys/user:00000000000000007 HTTP/1.1\r\nHost: 127.0.0.1\r\nKvarts-Durability: sync\r\n"
            "Accept: application/octet-stream\r\n\r\n");
  std::string put;
  http.AppendRequest({OperationKind::kPut, 7}, &put);
  EXPECT_EQ(put,
            "PUT /keys/user:00000000000000007 HTTP/1.1\r\nHost: 127.0.0.1\r\nKvarts-Durability: sync\r\n"
            "Content-Type: application/octet-stream\r\nContent-Length: 3\r\n\r\n" +
                value);
  std::string fill;
  http.AppendRequest({OperationKind::kFill, 7, 2}, &fill);
  EXPECT_TRUE(fill.starts_with("POST /commit HTTP/1.1\r\n"));
  EXPECT_NE(fill.find(R"({"mutations":[{"op":"put","key":"user:00000000000000007","value":")" + value +
                      R"("},{"op":"put","key":"user:00000000000000008","value":")"),
            fill.npos);
}

}  // namespace
}  // namespace kvarts::load
