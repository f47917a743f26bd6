#include "document/regex.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace kvarts {
namespace {

using testing::HasSubstr;

Regex Compiled(std::string_view pattern) {
  Result<Regex> regex = Regex::Compile(pattern);
  EXPECT_TRUE(regex.has_value()) << pattern << ": " << regex.error();
  return *regex;
}

TEST(RegexTest, MatchesTheWholeOrIsSomewhereIn) {
  const Regex regex = Compiled("b+");
  EXPECT_TRUE(regex.Matches("bbb"));
  EXPECT_FALSE(regex.Matches("abbb"));
  EXPECT_FALSE(regex.Matches("bbbc"));
  EXPECT_FALSE(regex.Matches(""));
  EXPECT_TRUE(regex.IsIn("abbc"));
  EXPECT_FALSE(regex.IsIn("ac"));
  EXPECT_TRUE(Compiled("").IsIn("anything"));
  EXPECT_FALSE(Compiled("").Matches("anything"));
  // Neither half of an alternative gets out of the anchors.
  EXPECT_FALSE(Compiled("a|b").Matches("ac"));
  EXPECT_FALSE(Compiled("a|b").Matches("cb"));
}

TEST(RegexTest, AnchorsAreTheEndsOfTheText) {
  const Regex regex = Compiled("^a$");
  EXPECT_TRUE(regex.IsIn("a"));
  EXPECT_FALSE(regex.IsIn("a\n"));
  EXPECT_FALSE(regex.IsIn("b\na\nb"));
  EXPECT_FALSE(Compiled("a.b").IsIn("a\nb"));
}

TEST(RegexTest, CharactersAreThoseOfUtf8) {
  EXPECT_TRUE(Compiled("^.$").IsIn("ä"));
  EXPECT_TRUE(Compiled("^.$").IsIn("🜚"));
  EXPECT_TRUE(Compiled("^[à-ü]+$").IsIn("äöü"));
  EXPECT_TRUE(Compiled(R"(^\p{L}+$)").IsIn("Ærøskøbing"));
  EXPECT_FALSE(Compiled("^.$").IsIn("ab"));
  // Zero is a character like any other.
  EXPECT_TRUE(Compiled("^a.b$").IsIn(std::string_view("a\0b", 3)));
  EXPECT_FALSE(Compiled("^a$").IsIn(std::string_view("a\0b", 3)));
}

TEST(RegexTest, WhatIsNoPatternIsRefusedWithTheReason) {
  const auto refusal = [](std::string_view pattern) {
    const Result<Regex> regex = Regex::Compile(pattern);
    return regex.has_value() ? "fine" : regex.error().ToString();
  };
  EXPECT_EQ(refusal("a[b"), "invalid_argument: not a regular expression (pattern=a[b, why=missing ]: [b)");
  EXPECT_THAT(refusal("(a"), HasSubstr("missing )"));
  EXPECT_THAT(refusal("a)"), HasSubstr("unexpected )"));
  EXPECT_THAT(refusal("*"), HasSubstr("no argument for repetition operator"));
  // What cannot be matched in linear time.
  EXPECT_THAT(refusal(R"((a)\1)"), HasSubstr("invalid escape sequence"));
  EXPECT_THAT(refusal("a(?=b)"), HasSubstr("invalid perl operator"));
  EXPECT_THAT(refusal("a(?<!b)"), HasSubstr("invalid perl operator"));
  EXPECT_EQ(refusal("\xff"), R"(invalid_argument: not a regular expression (pattern=\xff, why=it is not UTF-8))");
}

TEST(RegexTest, LengthAndMemoryAreBounded) {
  EXPECT_TRUE(Regex::Compile(std::string(Regex::kMaxPatternBytes, 'a')).has_value());
  const Result<Regex> longer = Regex::Compile(std::string(Regex::kMaxPatternBytes + 1, 'a'));
  ASSERT_FALSE(longer.has_value());
  EXPECT_EQ(longer.error().ToString(),
            "too_large: the regular expression is too long (limit=max_pattern_bytes, at_most=1024)");
  for (const char* pattern : {"a{1001}", "((a{100}){100}){100}", R"((\pL|\pN){900})"}) {
    const Result<Regex> large = Regex::Compile(pattern);
    ASSERT_FALSE(large.has_value()) << pattern;
    EXPECT_EQ(large.error().code(), ErrorCode::kInvalidArgument);
  }
}

TEST(RegexTest, CopiesAreEqualAndEqualityIsThatOfTheText) {
  const Regex regex = Compiled("a+");
  const Regex copy = regex;  // NOLINT: that it can be copied
  EXPECT_EQ(copy, regex);
  EXPECT_EQ(copy.text(), "a+");
  EXPECT_EQ(Compiled("a+"), regex);
  EXPECT_FALSE(Compiled("aa*") == regex);
}

// Each of these takes a matcher that tries one way after the other longer than anyone can wait.
TEST(RegexTest, NoPatternAndTextTakeMoreTimeThanTheirStepsSay) {
  std::string text;
  for (uint32_t i = 1; text.size() < 20'000; i = i * 1'664'525 + 1'013'904'223) text += (i >> 24) % 2 == 0 ? 'a' : 'b';
  for (const char* pattern : {"(a+)+$c", "(a|a)*c", "(a*)*c", "([ab]*)*c", "(a|b|ab){800}c", "(.*)(.*)(.*)(.*)(.*)c",
                              "[ab]*a[ab]{999}c", "((a|b|ab){40}){20}c"}) {
    const Regex regex = Compiled(pattern);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(regex.IsIn(text)) << pattern;
    EXPECT_FALSE(regex.Matches(text)) << pattern;
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
    // Fifty times what is said, for a machine that is busy, and sanitizers.
    EXPECT_LT(took.count(), 100'000 + static_cast<int64_t>(regex.Steps(text)) * 5) << pattern;
  }
  EXPECT_EQ(Compiled("a").Steps(""), 1u);
  EXPECT_LT(Compiled("^[a-z]+$").Steps(text), text.size());
}

}  // namespace
}  // namespace kvarts
