#include "base/lower_case.h"

#include <gtest/gtest.h>

namespace kvarts {
namespace {

TEST(LowerCaseTest, KnowsEveryScript) {
  EXPECT_EQ(LowerCase(""), "");
  EXPECT_EQ(LowerCase("Ada@Example.ORG"), "ada@example.org");
  EXPECT_EQ(LowerCase("ÄÖÜ ÇĞİŞ ŁŻŹ"), "äöü çğiş łżź");
  EXPECT_EQ(LowerCase("ΑΒΓ ДЖЯ ԱԲԳ"), "αβγ джя աբգ");
  EXPECT_EQ(LowerCase("ẞ Ⅳ Ａ 𐐀"), "ß ⅳ ａ 𐐨");
}

TEST(LowerCaseTest, LeavesAloneWhatHasNoCase) {
  for (const std::string_view text : {"äöüß", "123 -_.", "漢字", "😀", "\xff\xc3("}) {
    EXPECT_EQ(LowerCase(text), text) << text;
  }
  EXPECT_EQ(LowerCase("A\xff"
                      "B"),
            "a\xff"
            "b");
}

TEST(LowerCaseTest, TwiceIsOnce) {
  const std::string text = "ǄǅǆȺȾΆϴҔӁᲐḀἈℲⰀꞋ";
  EXPECT_EQ(LowerCase(LowerCase(text)), LowerCase(text));
  EXPECT_NE(LowerCase(text), text);
}

}  // namespace
}  // namespace kvarts
