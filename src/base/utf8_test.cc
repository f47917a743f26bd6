#include "base/utf8.h"

#include <gtest/gtest.h>

#include <array>

#include "base/byte_search.h"

namespace kvarts {
namespace {

std::string Written(uint32_t number) {
  std::array<char, 4> buffer{};
  return {buffer.data(), WriteCharacter(buffer.data(), number)};
}

TEST(Utf8Test, EveryCharacterIsAcceptedAndReadBack) {
  for (uint32_t number = 0; number <= 0x10ffff; ++number) {
    if (number == 0xd800) number = 0xe000;
    const std::string text = Written(number);
    ASSERT_TRUE(IsUtf8(text)) << number;
    const Utf8Character character = FrontCharacter(text + "x");
    ASSERT_EQ(character.number, number);
    ASSERT_EQ(character.size, text.size());
    // Nor is a part of one a character.
    for (size_t cut = 1; cut < text.size(); ++cut) ASSERT_FALSE(IsUtf8(BytesView(text).substr(0, cut))) << number;
  }
}

TEST(Utf8Test, WhatIsNotWellFormedIsRefused) {
  constexpr BytesView kBad[] = {
      "\x80",              // a continuation alone
      "\xbf",              //
      "\xc3",              // cut off
      "\xc3\x28",          // followed by something else
      "\xe2\x82",          //
      "\xe2\x28\xa1",      //
      "\xe2\x82\x28",      //
      "\xf0\x9f\x98",      //
      "\xf0\x28\x8c\xbc",  //
      "\xf0\x90\x28\xbc",  //
      "\xf0\x90\x8c\x28",  //
      "\xc0\x80",          // overlong
      "\xc1\xbf",          //
      "\xe0\x80\x80",      //
      "\xe0\x9f\xbf",      //
      "\xf0\x80\x80\x80",  //
      "\xf0\x8f\xbf\xbf",  //
      "\xed\xa0\x80",      // surrogates
      "\xed\xbf\xbf",      //
      "\xf4\x90\x80\x80",  // above U+10FFFF
      "\xf5\x80\x80\x80",  //
      "\xf8\x88\x80\x80\x80",
      "\xfe",
      "\xff",
  };
  // At every place in a block of lanes, and with every tail.
  for (const BytesView bad : kBad) {
    for (size_t before = 0; before < 40; ++before) {
      for (const size_t after : {0, 1, 7, 16, 33}) {
        const std::string text = std::string(before, 'a') + std::string(bad) + std::string(after, 'z');
        ASSERT_FALSE(IsUtf8(text)) << ToHex(text);
        ASSERT_EQ(Utf8Prefix(text), before) << ToHex(text);
      }
    }
  }
}

TEST(Utf8Test, ZerosAndEdgesAreText) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8(BytesView("\0\0", 2)));
  EXPECT_TRUE(IsUtf8("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\xef\xbf\xbf"));
  EXPECT_TRUE(IsUtf8(std::string(1000, 'x') + "Åsa 漢 😀"));
}

TEST(Utf8Test, CuttingLeavesWholeCharacters) {
  EXPECT_EQ(CutText("Åsa", 10), "Åsa");
  EXPECT_EQ(CutText("aÅ", 2), "a");
  EXPECT_EQ(CutText("aÅ", 3), "aÅ");
  EXPECT_EQ(CutText("😀", 3), "");
  EXPECT_EQ(CutText("abc", 0), "");
}

TEST(ByteSearchTest, FindsTheFirstInEverySizeAndPlace) {
  for (size_t size = 0; size < 70; ++size) {
    // Of its own size, so that AddressSanitizer sees a read behind it.
    std::string text(size, 'a');
    const auto first_x = [&] { return FirstByte(text, [](ByteLanes lanes) { return lanes == 'x'; }); };
    ASSERT_EQ(first_x(), size);
    for (size_t i = size; i-- > 0;) {
      text[i] = 'x';
      ASSERT_EQ(first_x(), i) << size;
    }
    for (char& c : text) c = 'x';
    for (size_t i = 0; i < size; ++i) {
      ASSERT_EQ(first_x(), i) << size;
      text[i] = '\0';
    }
    ASSERT_EQ(first_x(), size);
  }
}

TEST(ByteSearchTest, TakesNothingBehindTheBytesForThem) {
  // The lanes behind a short text are zero, which is not one of its bytes.
  for (size_t size = 0; size < 40; ++size) {
    const std::string text(size, 'a');
    EXPECT_EQ(FirstByte(text, [](ByteLanes lanes) { return lanes == 0; }), size);
  }
}

}  // namespace
}  // namespace kvarts
