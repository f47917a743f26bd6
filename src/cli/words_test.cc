#include "cli/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cli/error_text.h"
#include "cli/text.h"

namespace kvarts::cli {

void PrintTo(const Word& word, std::ostream* out) { *out << (word.quoted ? "quoted " : "") << Shown(word.text); }

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Word Bare(const std::string& text) { return {text, false}; }
Word Quoted(const std::string& text) { return {text, true}; }

std::vector<Word> Split(const std::string& line) {
  const auto words = SplitWords(line);
  EXPECT_TRUE(words) << words.error();
  return words.value_or(std::vector<Word>());
}

std::string Refusal(const std::string& line) {
  const auto words = SplitWords(line);
  return words.has_value() ? "none" : ErrorText(words.error());
}

TEST(Words, AreSeparatedByBlanks) {
  EXPECT_THAT(Split("put  a\tb \r\n"), ElementsAre(Bare("put"), Bare("a"), Bare("b")));
  EXPECT_THAT(Split("   "), IsEmpty());
  EXPECT_THAT(Split(""), IsEmpty());
}

TEST(Words, CommentsAreNone) {
  EXPECT_THAT(Split("# put a b"), IsEmpty());
  EXPECT_THAT(Split("  # put a b"), IsEmpty());
  EXPECT_THAT(Split("put #1 a"), ElementsAre(Bare("put"), Bare("#1"), Bare("a")));
  EXPECT_THAT(Split("put a b # and why"), ElementsAre(Bare("put"), Bare("a"), Bare("b")));
  EXPECT_THAT(Split("put a \"#\" #"), ElementsAre(Bare("put"), Bare("a"), Quoted("#")));
}

TEST(Words, InQuotesMayHoldBlanks) {
  EXPECT_THAT(Split(R"("a b" 'c d' "")"), ElementsAre(Quoted("a b"), Quoted("c d"), Quoted("")));
  EXPECT_THAT(Split(R"("say \"hi\"")"), ElementsAre(Quoted("say \"hi\"")));
  EXPECT_THAT(Split(R"('as \x41 "it" is')"), ElementsAre(Quoted(R"(as \x41 "it" is)")));
}

TEST(Words, QuotesWithinAWordAreNothingSpecial) {
  EXPECT_THAT(Split(R"({"name":"Ada"} it's)"), ElementsAre(Bare(R"({"name":"Ada"})"), Bare("it's")));
}

TEST(Words, EscapesAreBytes) {
  EXPECT_THAT(Split(R"(\x00\xFF "\x20 \\" \")"),
              ElementsAre(Bare(std::string("\0\xff", 2)), Quoted("  \\"), Bare("\"")));
}

TEST(Words, SayWhereTheyAreBroken) {
  EXPECT_EQ(Refusal("put \"a b"), "a quote is not closed (column 5)");
  EXPECT_EQ(Refusal("put 'a b"), "a quote is not closed (column 5)");
  EXPECT_EQ(Refusal("\"a\"b"), "a blank must follow a closing quote (column 4)");
  EXPECT_EQ(Refusal("a\\"), "after a backslash comes a backslash, a quote or xNN (column 2)");
  EXPECT_EQ(Refusal("\\x1"), "after a backslash comes a backslash, a quote or xNN (column 1)");
  EXPECT_EQ(Refusal("\\n"), "after a backslash comes a backslash, a quote or xNN (column 1)");
  EXPECT_EQ(Refusal("\"\\x1\""), "after a backslash comes a backslash, a quote or xNN (column 2)");
}

RC_GTEST_PROP(Words, AnyBytesShownCanBeTypedAgain, (const std::vector<std::string>& values)) {
  std::string line;
  for (const std::string& value : values) line += ShownWord(value) + " ";
  const auto words = SplitWords(line);
  RC_ASSERT(words.has_value());
  RC_ASSERT(words->size() == values.size());
  for (size_t i = 0; i < values.size(); ++i) RC_ASSERT((*words)[i].text == values[i]);
}

TEST(WordReader, TakesWordsKeywordsAndNumbers) {
  const std::vector<Word> words = {Bare("key"), Bare("ttl"), Bare("5m"), Bare("-3"), Bare("12"), Quoted("ttl")};
  WordReader reader(words, "test");
  EXPECT_EQ(reader.Take("KEY").value_or(""), "key");
  EXPECT_FALSE(reader.TakeIf("limit"));
  EXPECT_TRUE(reader.TakeIf("ttl"));
  EXPECT_EQ(reader.TakeDuration("DURATION")->micros, Duration::Seconds(300).micros);
  EXPECT_EQ(reader.TakeInteger("N").value_or(0), -3);
  EXPECT_EQ(reader.TakeVersion("VERSION")->stamp, 12U);
  EXPECT_TRUE(reader.HasOther({"ttl"})) << "a word in quotes is no keyword";
  EXPECT_FALSE(reader.TakeIf("ttl"));
  EXPECT_EQ(ErrorText(reader.Finish().error()),
            "there is a word too many, and what has blanks is quoted: ttl; usage: test");
  EXPECT_EQ(reader.Take("LAST").value_or(""), "ttl");
  EXPECT_TRUE(reader.Finish());
  EXPECT_EQ(ErrorText(reader.Take("MORE").error()), "a word is missing: MORE; usage: test");
}

}  // namespace
}  // namespace kvarts::cli
