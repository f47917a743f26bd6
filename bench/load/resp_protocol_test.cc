#include "load/resp_protocol.h"

#include <gtest/gtest.h>

namespace kvarts::load {
namespace {

const RespProtocol kResp({});

Answer Look(std::string_view in, OperationKind asked = OperationKind::kGet) { return kResp.Look(asked, in); }

void ExpectWholeOnlyAtItsEnd(const std::string& answer, Verdict verdict = Verdict::kGood) {
  for (size_t n = 0; n < answer.size(); ++n) {
    const Answer part = Look(std::string_view(answer).substr(0, n));
    EXPECT_EQ(part.verdict, Verdict::kPartial) << n;
    EXPECT_GT(part.bytes, n);
    EXPECT_LE(part.bytes, answer.size()) << n;
  }
  const Answer whole = Look(answer + "+OK\r\n");
  EXPECT_EQ(whole.verdict, verdict);
  EXPECT_EQ(whole.bytes, answer.size());
}

TEST(RespProtocol, FindsTheEndOfEveryKindOfAnswer) {
  ExpectWholeOnlyAtItsEnd("+OK\r\n");
  ExpectWholeOnlyAtItsEnd(":-12\r\n");
  ExpectWholeOnlyAtItsEnd("$5\r\nhello\r\n");
  ExpectWholeOnlyAtItsEnd("$0\r\n\r\n");
  ExpectWholeOnlyAtItsEnd("*0\r\n");
  ExpectWholeOnlyAtItsEnd("*2\r\n$1\r\na\r\n*2\r\n:1\r\n$-1\r\n");
  ExpectWholeOnlyAtItsEnd("%1\r\n+a\r\n,1.5\r\n");
}

TEST(RespProtocol, JudgesTheAnswer) {
  ExpectWholeOnlyAtItsEnd("$-1\r\n", Verdict::kMissing);
  ExpectWholeOnlyAtItsEnd("_\r\n", Verdict::kMissing);
  ExpectWholeOnlyAtItsEnd("-ERR no\r\n", Verdict::kUnexpected);
  EXPECT_EQ(Look("$-1\r\n", OperationKind::kPut).verdict, Verdict::kGood);
  EXPECT_EQ(Look("HTTP/1.1 400 Bad Request\r\n").verdict, Verdict::kBroken);
  EXPECT_EQ(Look("$x\r\n").verdict, Verdict::kBroken);
}

TEST(RespProtocol, WritesCommandsFromTheirTemplates) {
  const RespProtocol resp({.get = "ZRANK  set {key}", .put = "ZADD set {number} {key}", .value_bytes = 3});
  std::string out;
  resp.AppendRequest({OperationKind::kGet, 7}, &out);
  EXPECT_EQ(out, "*3\r\n$5\r\nZRANK\r\n$3\r\nset\r\n$22\r\nuser:00000000000000007\r\n");
  out.clear();
  resp.AppendRequest({OperationKind::kFill, 12, 1}, &out);
  EXPECT_EQ(out, "*4\r\n$4\r\nZADD\r\n$3\r\nset\r\n$2\r\n12\r\n$22\r\nuser:00000000000000012\r\n");
  out.clear();
  const RespProtocol strings({.value_bytes = 3});
  strings.AppendRequest({OperationKind::kPut, 1}, &out);
  EXPECT_TRUE(out.starts_with("*3\r\n$3\r\nSET\r\n$22\r\nuser:00000000000000001\r\n$3\r\n")) << out;
  EXPECT_EQ(Look("+OK\r\n", OperationKind::kPut).bytes, 5U);
}

}  // namespace
}  // namespace kvarts::load
