#include "base/base64.h"

#include <gtest/gtest.h>

namespace kvarts {
namespace {

TEST(Base64UrlTest, KnownTexts) {
  const std::pair<Bytes, std::string> known[] = {
      {"", ""},           {"f", "Zg"},          {"fo", "Zm8"},          {"foo", "Zm9v"},
      {"foob", "Zm9vYg"}, {"fooba", "Zm9vYmE"}, {"foobar", "Zm9vYmFy"}, {"\xfb\xff\xfe", "-__-"},
  };
  for (const auto& [bytes, text] : known) {
    EXPECT_EQ(ToBase64Url(bytes), text);
    ASSERT_TRUE(FromBase64Url(text).has_value()) << text;
    EXPECT_EQ(*FromBase64Url(text), bytes);
  }
}

TEST(Base64Test, KnownTexts) {
  const std::pair<Bytes, std::string> known[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
      {"\xfb\xff\xfe", "+//+"},
  };
  for (const auto& [bytes, text] : known) {
    EXPECT_EQ(ToBase64(bytes), text);
    ASSERT_TRUE(FromBase64(text).has_value()) << text;
    EXPECT_EQ(*FromBase64(text), bytes);
  }
}

TEST(Base64Test, EveryByteAndLengthRoundTrips) {
  Bytes bytes;
  for (int i = 0; i < 300; ++i) {
    Bytes text = "before:";
    AppendBase64(&text, bytes);
    ASSERT_TRUE(text.starts_with("before:"));
    const auto decoded = FromBase64(text.substr(7));
    ASSERT_TRUE(decoded.has_value()) << i;
    EXPECT_EQ(*decoded, bytes);
    bytes.push_back(static_cast<char>(i * 7));
  }
}

TEST(Base64Test, AnythingElseIsRefused) {
  for (const char* text : {"A",    "Zg",   "Zg=",  "Zg===",  "Zh==",         "Zm9=",      "Zm8",
                           "=",    "==",   "===",  "====",   "Z===",         "Zg==Zg==",  "Zm9vY",
                           "Z g=", "Zm9-", "Zm9_", "Zm9v\n", "Zg==\n\n\n\n", "\xc3\xa5Zg"}) {
    const auto decoded = FromBase64(text);
    ASSERT_FALSE(decoded.has_value()) << text;
    EXPECT_EQ(decoded.error().code(), ErrorCode::kInvalidArgument);
  }
}

TEST(Base64UrlTest, EveryByteAndLengthRoundTrips) {
  Bytes bytes;
  for (int i = 0; i < 300; ++i) {
    const auto decoded = FromBase64Url(ToBase64Url(bytes));
    ASSERT_TRUE(decoded.has_value()) << i;
    EXPECT_EQ(*decoded, bytes);
    bytes.push_back(static_cast<char>(i * 7));
  }
}

TEST(Base64UrlTest, AnythingElseIsRefused) {
  for (const char* text : {"A", "Zg=", "Zg==", "Zh", "Zm9", "Zm9vY", "Z g", "Zm9+", "Zm9/", "\xc3\xa5Zg"}) {
    const auto decoded = FromBase64Url(text);
    ASSERT_FALSE(decoded.has_value()) << text;
    EXPECT_EQ(decoded.error().code(), ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace kvarts
