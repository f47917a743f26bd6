#include "net/resp/reply_writer.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

namespace kvarts::resp {
namespace {

std::string Written(int version, const std::function<void(ReplyWriter&)>& write) {
  Bytes out;
  ReplyWriter reply(&out, version);
  write(reply);
  return out;
}

// What is the same in both versions.
std::string Written(const std::function<void(ReplyWriter&)>& write) {
  const std::string two = Written(2, write);
  EXPECT_EQ(Written(3, write), two);
  return two;
}

TEST(ReplyWriterTest, WhatBothVersionsHave) {
  EXPECT_EQ(Written([](ReplyWriter& reply) { reply.Simple("OK"); }), "+OK\r\n");
  EXPECT_EQ(Written([](ReplyWriter& reply) { reply.Bulk(BytesView("a\0b", 3)); }), std::string("$3\r\na\0b\r\n", 9));
  EXPECT_EQ(Written([](ReplyWriter& reply) { reply.Bulk(""); }), "$0\r\n\r\n");
  EXPECT_EQ(Written([](ReplyWriter& reply) { reply.Array(0); }), "*0\r\n");
  EXPECT_EQ(Written([](ReplyWriter& reply) { reply.Array(2).Int(1).Bulk("b"); }), "*2\r\n:1\r\n$1\r\nb\r\n");
}

TEST(ReplyWriterTest, IntegersToTheirEdges) {
  const auto written = [](int64_t number) { return Written([=](ReplyWriter& reply) { reply.Int(number); }); };
  EXPECT_EQ(written(0), ":0\r\n");
  EXPECT_EQ(written(-1), ":-1\r\n");
  EXPECT_EQ(written(INT64_MAX), ":9223372036854775807\r\n");
  EXPECT_EQ(written(INT64_MIN), ":-9223372036854775808\r\n");
}

TEST(ReplyWriterTest, AnErrorStaysInItsLine) {
  EXPECT_EQ(Written([](ReplyWriter& reply) { reply.Error("ERR no 'a\r\nb'"); }), "-ERR no 'a  b'\r\n");
}

TEST(ReplyWriterTest, TypesThatVersion2LacksAreWrittenAsOthers) {
  const auto both = [](const std::function<void(ReplyWriter&)>& write) {
    return Written(2, write) + "|" + Written(3, write);
  };
  EXPECT_EQ(both([](ReplyWriter& reply) { reply.Null(); }), "$-1\r\n|_\r\n");
  EXPECT_EQ(both([](ReplyWriter& reply) { reply.NullArray(); }), "*-1\r\n|_\r\n");
  EXPECT_EQ(both([](ReplyWriter& reply) { reply.Bool(true).Bool(false); }), ":1\r\n:0\r\n|#t\r\n#f\r\n");
  EXPECT_EQ(both([](ReplyWriter& reply) { reply.Map(1).Bulk("a").Int(1); }),
            "*2\r\n$1\r\na\r\n:1\r\n|%1\r\n$1\r\na\r\n:1\r\n");
  EXPECT_EQ(both([](ReplyWriter& reply) { reply.Set(1).Int(1); }), "*1\r\n:1\r\n|~1\r\n:1\r\n");
  EXPECT_EQ(both([](ReplyWriter& reply) { reply.Push(1).Int(1); }), "*1\r\n:1\r\n|>1\r\n:1\r\n");
  EXPECT_EQ(both([](ReplyWriter& reply) { reply.Verbatim("txt", "some"); }), "$4\r\nsome\r\n|=8\r\ntxt:some\r\n");
  EXPECT_EQ(both([](ReplyWriter& reply) { reply.BigNumber("123"); }), "$3\r\n123\r\n|(123\r\n");
}

TEST(ReplyWriterTest, DoublesHaveSeventeenDigits) {
  const auto written = [](double number) { return Written(3, [=](ReplyWriter& reply) { reply.Double(number); }); };
  EXPECT_EQ(written(1.5), ",1.5\r\n");
  EXPECT_EQ(written(0.1), ",0.10000000000000001\r\n");
  EXPECT_EQ(written(3), ",3\r\n");
  EXPECT_EQ(written(-1e20), ",-1e+20\r\n");
  EXPECT_EQ(written(1.7976931348623157e308), ",1.7976931348623157e+308\r\n");
  EXPECT_EQ(written(std::numeric_limits<double>::infinity()), ",inf\r\n");
  EXPECT_EQ(written(-std::numeric_limits<double>::infinity()), ",-inf\r\n");
  EXPECT_EQ(Written(2, [](ReplyWriter& reply) { reply.Double(-0.0); }), "$2\r\n-0\r\n");
}

}  // namespace
}  // namespace kvarts::resp
