#include "base/base64url.h"

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
