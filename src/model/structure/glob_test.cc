#include "model/structure/glob.h"

#include <gtest/gtest.h>

namespace kvarts::structure {
namespace {

TEST(GlobTest, Matches) {
  EXPECT_TRUE(GlobMatches("*", ""));
  EXPECT_TRUE(GlobMatches("a*c", "abbc"));
  EXPECT_TRUE(GlobMatches("a?c", "abc"));
  EXPECT_FALSE(GlobMatches("a?c", "ac"));
  EXPECT_TRUE(GlobMatches("[a-c]x", "bx"));
  EXPECT_TRUE(GlobMatches("[c-a]x", "bx"));
  EXPECT_TRUE(GlobMatches("[^a]", "b"));
  EXPECT_FALSE(GlobMatches("[^a]", "a"));
  EXPECT_TRUE(GlobMatches("\\*", "*"));
  EXPECT_FALSE(GlobMatches("\\*", "a"));
  EXPECT_TRUE(GlobMatches("[\\]]", "]"));
  EXPECT_FALSE(GlobMatches("", "a"));
  EXPECT_FALSE(GlobMatches("a", "ab"));
}

TEST(GlobTest, AHostilePatternCostsNoMoreThanBothSizesMultiplied) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern.append("a*");
  EXPECT_FALSE(GlobMatches(pattern + "b", std::string(5000, 'a')));
}

TEST(GlobTest, SaysWhatEveryMatchBeginsWith) {
  EXPECT_EQ(GlobBeginning("user:*"), "user:");
  EXPECT_EQ(GlobBeginning("us\\*er?"), "us*er");
  EXPECT_EQ(GlobBeginning("*"), "");
  EXPECT_EQ(GlobBeginning("abc"), "abc");
}

}  // namespace
}  // namespace kvarts::structure
