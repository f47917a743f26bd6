#include "encoding/tuple_text.h"

#include <gtest/gtest.h>

#include "encoding/tuple.h"

namespace kvarts {
namespace {

using std::string_literals::operator""s;

std::string Reprinted(std::string_view text) {
  const auto key = ParseTuple(text);
  return key.has_value() ? TupleToString(*key) : key.error().ToString();
}

TEST(TupleTextTest, PrintsForPeople) {
  Bytes key;
  TupleWriter(&key).Int(3).Text("a").Bytes("\0\xff"s).Int(5, Order::kDescending);
  TupleWriter(&key).Begin().Int(1).Null().End().Tail("user:\"1\"\\\n");
  EXPECT_EQ(TupleToString(key), "(3, \"a\", x'00ff', desc 5, (1, null), tail \"user:\\x221\\x22\\\\\\x0a\")");
  EXPECT_EQ(TupleToString(""), "()");
}

TEST(TupleTextTest, PrintsWhatDecodesAndTheRestAsHex) {
  Bytes key;
  TupleWriter(&key).Int(3);
  EXPECT_EQ(TupleToString(key + "\x30\x61"), "(3, !x'3061')");
  EXPECT_EQ(TupleToString("\xff"), "(!x'ff')");
  EXPECT_EQ(TupleToString(key + "\x50\x15"), "(3, !x'5015')");
}

TEST(TupleTextTest, ParsesWhatAPersonTypes) {
  EXPECT_EQ(Reprinted("  ( 1 ,-2,\"x\\\\\" ,  desc   ( ) ) "), "(1, -2, \"x\\\\\", desc ())");
  EXPECT_EQ(Reprinted("(X)"), Reprinted("(Y)"));
  EXPECT_EQ(Reprinted("(decimal 1.50, double 1e3, x'0A')"), "(decimal 1.5, double 1000, x'0a')");
  EXPECT_EQ(Reprinted("(true, false, null)"), "(true, false, null)");
  EXPECT_EQ(Reprinted("(double -0.0, double -inf, double nan)"), "(double 0, double -inf, double nan)");
}

TEST(TupleTextTest, RefusesWhatIsNotATuple) {
  for (const char* text : {"",
                           "1",
                           "(",
                           ")",
                           "(1",
                           "(1,)",
                           "(,1)",
                           "(1 2)",
                           "(1) 2",
                           "(\"a)",
                           "(x'0)",
                           "(x'0g')",
                           "(desc)",
                           "(nul)",
                           "(1.5)",
                           "(18446744073709551616)",
                           "(-9223372036854775809)",
                           "(decimal x)",
                           "(double 1e999)",
                           "(double)",
                           "(uuid 12)",
                           "(time 2026)",
                           "(time 2026-02-30T00:00:00.000000Z)",
                           "(time 1969-12-31T23:59:59.000000Z)",
                           "(\"\\q\")",
                           "(tail \"a\", 1)",
                           "((tail \"a\"))",
                           "(desc tail \"a\")",
                           "(desc desc 1)"}) {
    const auto key = ParseTuple(text);
    ASSERT_FALSE(key.has_value()) << text;
    EXPECT_EQ(key.error().code(), ErrorCode::kInvalidArgument) << text;
  }
}

TEST(TupleTextTest, RefusesTextThatIsNestedTooDeep) {
  const auto nested = [](int depth) {
    const auto size = static_cast<size_t>(depth) + 1;
    return std::string(size, '(') + std::string(size, ')');
  };
  EXPECT_TRUE(ParseTuple(nested(kMaxTupleDepth)).has_value());
  EXPECT_FALSE(ParseTuple(nested(kMaxTupleDepth + 1)).has_value());
  EXPECT_FALSE(ParseTuple(std::string(1'000'000, '(')).has_value());
}

TEST(TupleTextTest, AnErrorSaysWhere) { EXPECT_EQ(ParseTuple("(1, 2 3)").error().field("position"), "6"); }

}  // namespace
}  // namespace kvarts
