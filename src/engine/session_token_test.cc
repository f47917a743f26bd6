#include "engine/session_token.h"

#include <gtest/gtest.h>

namespace kvarts {
namespace {

TEST(SessionToken, IsReadAsItIsWritten) {
  EXPECT_EQ((SessionToken{2, 0x3000148}).ToString(), "00000002-0000000003000148");
  for (const SessionToken& position :
       {SessionToken{1, 0}, SessionToken{2, 0x3000148}, SessionToken{UINT32_MAX, UINT64_MAX}}) {
    const auto read = SessionToken::Parse(position.ToString());
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(*read, position);
  }
}

TEST(SessionToken, NothingElseIsRead) {
  for (const std::string& text :
       {std::string(), std::string("-"), std::string("00000001-000000000300014"),
        std::string("00000001-00000000030001480"), std::string("00000001-000000000300014a"),
        std::string("00000001_0000000003000148"), std::string("00000000-0000000003000148"),
        std::string("+0000001-0000000003000148"), std::string("0x000001-0000000003000148"),
        std::string(" 0000001-0000000003000148"), std::string("00000001-000000000300014\0", 25),
        std::string("00000001-00000000030001\xFF\xFF"), std::string(1 << 20, '0')}) {
    const auto read = SessionToken::Parse(text);
    ASSERT_FALSE(read.has_value()) << text.substr(0, 40);
    EXPECT_EQ(read.error().code(), ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace kvarts
