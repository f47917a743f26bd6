#include "base/shown.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace kvarts {
namespace {

TEST(Shown, ShowsUtf8AndEscapesTheRest) {
  EXPECT_EQ(Shown("Åsa 漢 😀"), "Åsa 漢 😀");
  EXPECT_EQ(Shown(BytesView("a\0\n\x7f\\", 5)), R"(a\x00\x0a\x7f\\)");
  EXPECT_EQ(Shown("\xc3"), R"(\xc3)");
  EXPECT_EQ(Shown("\xc3\x28"), R"(\xc3()");
  EXPECT_EQ(Shown("\xc0\x80"), R"(\xc0\x80)") << "an overlong zero";
  EXPECT_EQ(Shown("\xed\xa0\x80"), R"(\xed\xa0\x80)") << "a surrogate";
  EXPECT_EQ(Shown("\xe2\x80\xae"), R"(\xe2\x80\xae)") << "what turns the text around";
  EXPECT_EQ(Shown("\xc2\x9b"), R"(\xc2\x9b)") << "a control of the terminal";
  EXPECT_TRUE(IsUtf8("Åsa"));
  EXPECT_FALSE(IsUtf8("\xff"));
}

}  // namespace
}  // namespace kvarts
