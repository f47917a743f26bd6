#include "net/http/target.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace kvarts::http {
namespace {

TEST(PercentTest, Decodes) {
  EXPECT_EQ(*PercentDecode(""), "");
  EXPECT_EQ(*PercentDecode("abc"), "abc");
  EXPECT_EQ(*PercentDecode("a%2Fb%2fc"), "a/b/c");
  EXPECT_EQ(*PercentDecode("%00%ff%FF"), Bytes("\0\xff\xff", 3));
  EXPECT_EQ(*PercentDecode("a+b"), "a+b") << "a plus sign is a space in values of queries only";
  EXPECT_EQ(*PercentDecode("%2541"), "%41") << "once";
  EXPECT_EQ(*PercentDecode("\xc3\xa5"), "\xc3\xa5");
}

TEST(PercentTest, RefusesWhatIsNoEscape) {
  for (const char* text : {"%", "%4", "a%", "%4g", "%g4", "%%41", "% 41", "%+1", "%-1", "%0x", "abc%4"}) {
    const auto decoded = PercentDecode(text);
    ASSERT_FALSE(decoded.has_value()) << text;
    EXPECT_EQ(decoded.error().code(), ErrorCode::kInvalidArgument);
    Bytes scratch;
    EXPECT_FALSE(PercentDecode(text, &scratch).has_value()) << text;
  }
  EXPECT_EQ(PercentDecode("ab%zz").error().field("position"), "2");
}

TEST(PercentTest, CopiesOnlyWhatNeedsDecoding) {
  Bytes scratch;
  const std::string_view plain = "user:1";
  const auto same = PercentDecode(plain, &scratch);
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(same->data(), plain.data());
  EXPECT_TRUE(scratch.empty());
  const auto decoded = PercentDecode("user%3a1", &scratch);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(*decoded, "user:1");
  EXPECT_EQ(decoded->data(), scratch.data());
}

TEST(PercentTest, Encodes) {
  EXPECT_EQ(PercentEncode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(PercentEncode("a/b c+d&e=f?#%"), "a%2Fb%20c%2Bd%26e%3Df%3F%23%25");
  EXPECT_EQ(PercentEncode(BytesView("\0\xff", 2)), "%00%FF");
}

RC_GTEST_PROP(PercentProperty, WhatIsEncodedDecodes, (const std::string& bytes)) {
  const Bytes encoded = PercentEncode(bytes);
  RC_ASSERT(*PercentDecode(encoded) == bytes);
  const std::string text = "key=" + encoded + "&other=1";
  QueryReader query(text);
  RC_ASSERT(query.Get("key") == bytes);
}

TEST(QueryReaderTest, TakesParametersByName) {
  QueryReader query("limit=20&prefix=a%2Fb+c&reverse&&empty=&equals=a=b&flag=false&na%6De=x&");
  EXPECT_EQ(query.Uint("limit", 5, 1, 100), 20u);
  EXPECT_EQ(query.Get("prefix"), "a/b c");
  EXPECT_TRUE(query.Flag("reverse"));
  EXPECT_EQ(query.Get("empty"), "");
  EXPECT_EQ(query.Get("equals"), "a=b");
  EXPECT_FALSE(query.Flag("flag", true));
  EXPECT_EQ(query.Get("name", "none"), "x");
  EXPECT_TRUE(query.Finish().has_value());
}

TEST(QueryReaderTest, AbsentParametersHaveTheirFallback) {
  for (const char* text : {"", "&", "&&&"}) {
    QueryReader query(text);
    EXPECT_EQ(query.Get("a"), std::nullopt);
    EXPECT_EQ(query.Get("a", "b"), "b");
    EXPECT_EQ(query.Uint("a", 7, 10, 20), 7u);
    EXPECT_TRUE(query.Flag("a", true));
    EXPECT_EQ(query.Choice("a", {"x", "y"}, 1), 1u);
    EXPECT_TRUE(query.Finish().has_value());
  }
}

TEST(QueryReaderTest, NumbersAreWholeAndInRange) {
  const auto said = [](const char* value) -> std::string {
    const std::string text = std::string("n=") + value;
    QueryReader query(text);
    const uint64_t number = query.Uint("n", 0, 2, 10);
    const Status status = query.Finish();
    return status.has_value() ? std::to_string(number) : status.error().ToString();
  };
  EXPECT_EQ(said("2"), "2");
  EXPECT_EQ(said("10"), "10");
  const std::string range = "invalid_argument: a parameter is out of range (parameter=n, at_least=2, at_most=10)";
  for (const char* value : {"1", "11", "0", "18446744073709551616", "99999999999999999999999"}) {
    EXPECT_EQ(said(value), range) << value;
  }
  for (const char* value : {"", "a", "-3", "%2B3", "3a", "3.0", "0x3", "3+", "+3", "%203"}) {
    EXPECT_EQ(said(value), "invalid_argument: a parameter is not a whole number (parameter=n)") << value;
  }
}

TEST(QueryReaderTest, FlagsAndChoicesAreWords) {
  QueryReader good("a=true&b=json&c");
  EXPECT_TRUE(good.Flag("a"));
  EXPECT_EQ(good.Choice("b", {"raw", "json"}, 0), 1u);
  EXPECT_TRUE(good.Flag("c"));
  EXPECT_TRUE(good.Finish().has_value());
  QueryReader flag("a=yes");
  EXPECT_FALSE(flag.Flag("a"));
  EXPECT_EQ(flag.Finish().error().text(), "a parameter is neither true nor false");
  QueryReader choice("b=xml");
  EXPECT_EQ(choice.Choice("b", {"raw", "json"}, 0), 0u);
  EXPECT_EQ(choice.Finish().error().ToString(),
            "invalid_argument: a parameter is not one of its choices (parameter=b, choices=raw, json)");
}

TEST(QueryReaderTest, WhatNobodyAskedForIsRefused) {
  QueryReader query("limit=1&limti=2");
  query.Uint("limit", 1, 1, 10);
  EXPECT_EQ(query.Finish().error().ToString(), "invalid_argument: an unknown parameter (parameter=limti)");
  EXPECT_FALSE(QueryReader("=x").Finish().has_value());
  EXPECT_FALSE(QueryReader("a").Finish().has_value());
}

TEST(QueryReaderTest, WhatIsGivenTwiceIsRefused) {
  for (const char* text : {"a=1&a=2", "a=1&a=1", "a&a", "a=1&%61=2"}) {
    QueryReader query(text);
    EXPECT_EQ(query.Get("a"), std::nullopt) << "neither can be trusted";
    EXPECT_EQ(query.Finish().error().ToString(), "invalid_argument: a parameter is given twice (parameter=a)") << text;
  }
}

TEST(QueryReaderTest, BadEscapesAreRefused) {
  QueryReader value("a=%4&b=1");
  EXPECT_EQ(value.Get("a", "fallback"), "fallback");
  EXPECT_EQ(value.Get("b"), std::nullopt) << "the first fault sticks";
  EXPECT_EQ(value.Finish().error().field("parameter"), "a");
  EXPECT_FALSE(QueryReader("%zz=1").Finish().has_value());
}

TEST(QueryReaderTest, ParametersAreBounded) {
  std::string text;
  for (size_t i = 0; i < QueryReader::kMaxParameters; ++i)
    text += "p" + std::to_string(i) + "=" + std::to_string(i) + "&";
  QueryReader full(text);
  for (size_t i = 0; i < QueryReader::kMaxParameters; ++i) {
    EXPECT_EQ(full.Uint("p" + std::to_string(i), 99, 0, 50), i);
  }
  EXPECT_TRUE(full.Finish().has_value());
  const std::string more = text + "q";
  EXPECT_EQ(QueryReader(more).Finish().error().text(), "too many parameters");
}

TEST(QueryReaderTest, NamesInErrorsAreShortAndPrintable) {
  const std::string text = "%00%ff" + std::string(10'000, 'a') + "=1";
  const Status status = QueryReader(text).Finish();
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().field("parameter").substr(0, 9), "\\x00\\xffa");
  EXPECT_LT(status.error().field("parameter").size(), 300u);
}

TEST(QueryReaderTest, RequirementsOfTheCallerStick) {
  QueryReader query("a=1&b=2");
  query.Require(true, "a", "must hold");
  EXPECT_TRUE(query.ok());
  query.Require(false, "a", "must hold");
  EXPECT_EQ(query.Finish().error().ToString(), "invalid_argument: must hold (parameter=a)");
}

}  // namespace
}  // namespace kvarts::http
