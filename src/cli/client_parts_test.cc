// The small parts of commands that talk to a server: words, queries, items, progress, input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "cli/answers.h"
#include "cli/error_text.h"
#include "cli/input.h"
#include "cli/item.h"
#include "cli/key_words.h"
#include "cli/progress_bar.h"
#include "support/temp_dir.h"

namespace kvarts::cli {
namespace {

Result<Arguments> Parse(const std::vector<std::string>& words) {
  static const Syntax kSyntax = {.arguments = {{"KEY", true}},
                                 .options = Joined(RangeOptions(), WordOptions()),
                                 .description = {},
                                 .check = &CheckWords};
  return ParseArguments(kSyntax, words);
}

TEST(KeyWords, AreEscapedTextHexOrBase64) {
  const Bytes wanted("a\0\xff", 3);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"a\\x00\\xff"}, {"6100ff", "--hex"}, {"YQD/", "--base64"}}) {
    const auto arguments = Parse(words);
    ASSERT_TRUE(arguments) << arguments.error();
    EXPECT_EQ(*DecodeWord(*arguments, words[0]), wanted);
  }
  for (const std::vector<std::string>& words : {std::vector<std::string>{"\\xz"},
                                                {"6", "--hex"},
                                                {"YQ", "--base64"},
                                                {"--start", "\\"},
                                                {"--end", "zz", "--hex"},
                                                {"61", "--hex", "--base64"}}) {
    EXPECT_FALSE(Parse(words)) << words[0];
  }
}

TEST(KeyWords, RangesAreAPrefixOrBounds) {
  EXPECT_TRUE(RangeOf(*Parse({}))->IsEverything());
  EXPECT_EQ(Query().Add(*RangeOf(*Parse({"a b&\\x00"}))).text(), "?prefix=a%20b%26%00");
  EXPECT_EQ(Query().Add(*RangeOf(*Parse({"--start", "a", "--end", "b"}))).Add("limit", "1").text(),
            "?start=a&end=b&limit=1");
  EXPECT_FALSE(RangeOf(*Parse({"a", "--end", "b"})));
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  RangeOf(*Parse({"--start", "ff", "--hex"}))->Write(writer);
  writer.EndObject();
  EXPECT_EQ(json, R"({"start_base64":"/w=="})");
}

TEST(KeyWords, KeysAreEncodedAsOneSegment) {
  EXPECT_EQ(KeyPath("/keys/", "a/b?c#d%e ü\x01"), "/keys/a%2Fb%3Fc%23d%25e%20%C3%BC%01");
}

TEST(KeyWords, SecondsHaveNoNeedlessDigits) {
  EXPECT_EQ(Seconds(30'000'000), "30");
  EXPECT_EQ(Seconds(1'500'000), "1.5");
  EXPECT_EQ(Seconds(1), "0.000001");
  EXPECT_EQ(Seconds(0), "0");
  EXPECT_EQ(Seconds(100'000'000), "100");
}

TEST(Item, TakesTextsJsonAndBytes) {
  const auto item = [](std::string_view json) { return *Item::Of(*JsonObject::Parse(json)); };
  EXPECT_EQ(item(R"({"key":"a","value":"x","version":"7","expiry":null})").value, "x");
  EXPECT_EQ(item(R"({"key":"a","value":{"b": 1}})").value, "{\"b\": 1}");
  EXPECT_EQ(item(R"({"key":"a","value":null})").value, "null");
  EXPECT_EQ(item(R"({"key_base64":"/w==","value_base64":"/w=="})").key, "\xff");
  EXPECT_EQ(item(R"({"key_base64":"/w==","value_base64":"/w=="})").value, "\xff");
  EXPECT_EQ(item(R"({"key":"a"})").value, std::nullopt);
  EXPECT_EQ(item(R"({"key":"a","value":1,"version":"7","expiry":"soon","type":"t","envelope":{}})").About(),
            "version 7, expires soon, t, in an envelope");
  EXPECT_FALSE(Item::Of(*JsonObject::Parse("{}")));
}

TEST(Item, ValuesCannotDisturbATerminal) {
  EXPECT_EQ(ValueForTerminal("two\nlines \\ ü\n", 100), "two\nlines \\ ü\n");
  EXPECT_EQ(ValueForTerminal("\x1b[2J\r\a", 100), "\\x1b[2J\\x0d\\x07");
  EXPECT_EQ(ValueForTerminal("\xff\n", 100), "\\xff\\x0a");
  EXPECT_EQ(ValueForTerminal("üüü", 3), "ü… (6 B)");
  EXPECT_EQ(ValueForTerminal("", 3), "");
}

TEST(JsonObject, ReadsWhatItKnowsAndRefusesWhatIsNone) {
  const auto object = JsonObject::Parse(R"({"a":"x","n":7,"l":["p","q",1],"o":{"b":1},"z":null,"t":true})");
  ASSERT_TRUE(object) << object.error();
  EXPECT_EQ(object->Text("a"), "x");
  EXPECT_EQ(object->Uint("n"), 7U);
  EXPECT_EQ(object->Uint("a"), std::nullopt);
  EXPECT_EQ(object->Text("z"), "");
  EXPECT_TRUE(object->Is("t"));
  EXPECT_EQ(CellOf(*object, "l"), "p, q, 1");
  EXPECT_EQ(object->Elements("l")->size(), 3U);
  EXPECT_FALSE(object->Elements("none"));
  EXPECT_FALSE(object->Objects("l"));
  EXPECT_EQ(FieldsOf(*object), "a  x\nn  7\nl  p, q, 1\no  {\"b\":1}\nt  true\n");
  for (const std::string_view text : {"", "[]", "{", "{\"a\":\"\xff\"}"}) EXPECT_FALSE(JsonObject::Parse(text)) << text;
}

TEST(Answers, TablesHaveHeadingsAndDashes) {
  const auto object = JsonObject::Parse(R"({"id":"1","scopes":["read","write:prefix=a"],"name":"\u001b[1m"})");
  EXPECT_EQ(TableOf({*object}, {{"id", "id"}, {"scopes", "scopes"}, {"name", "who"}, {"rate", "rate"}}),
            "id  scopes                who      rate\n1   read, write:prefix=a  \\x1b[1m  -\n");
}

TEST(Progress, HasABarWhereTheWholeIsKnown) {
  EXPECT_EQ(ProgressText({.done = 512, .total = 1024, .text = "3 keys", .elapsed = Duration::Seconds(2)}),
            "[============>           ]  50.0 %  3 keys  256 B/s  2.0 s left");
  EXPECT_EQ(ProgressText({.done = 1024, .total = 1024, .text = "3 keys", .elapsed = Duration::Seconds(1)}),
            "[========================] 100.0 %  3 keys  1.0 KiB/s");
  // A file that grows is not more than whole.
  EXPECT_EQ(ProgressText({.done = 2048, .total = 1024, .elapsed = Duration::Seconds(1)}),
            "[========================] 100.0 %  2.0 KiB/s");
  EXPECT_EQ(ProgressText({.done = 5000, .in_bytes = false, .text = "moving", .elapsed = Duration::Seconds(1)}),
            "moving  5,000/s");
  EXPECT_EQ(
      ProgressText({.done = 900, .before = 800, .total = 1000, .in_bytes = false, .elapsed = Duration::Seconds(2)}),
      "[=====================>  ]  90.0 %  50/s  2.0 s left")
      << "what was done before somebody looked says nothing of the rate";
  EXPECT_EQ(ProgressText({.done = 1, .total = 0, .text = "x", .elapsed = Duration::Millis(1)}), "x");
  EXPECT_EQ(ProgressText({.done = 0, .total = 4, .elapsed = Duration::Seconds(9)}),
            "[>                       ]   0.0 %");
}

TEST(Input, IsReadWholeUpToItsLimit) {
  const test::TempDir dir;
  std::ofstream(dir / "f", std::ios::binary) << std::string("a\0b\n", 4);
  EXPECT_EQ(*ReadInput(dir / "f", 4), std::string("a\0b\n", 4));
  EXPECT_EQ(ReadInput(dir / "f", 3).error().code(), ErrorCode::kTooLarge);
  EXPECT_EQ(ReadInput(dir / "none", 4).error().code(), ErrorCode::kUnavailable);
  EXPECT_FALSE(ReadInput(dir.path(), 4));
}

TEST(Input, LinesAreCountedAndBounded) {
  const test::TempDir dir;
  std::ofstream(dir / "f", std::ios::binary) << "one\r\n\n" << std::string(70'000, 'x') << "\nlast";
  const auto lines = LineInput::Open(dir / "f", 100'000);
  ASSERT_TRUE(lines) << lines.error();
  EXPECT_EQ((*lines)->size(), 70'011U);
  EXPECT_EQ(**(*lines)->Next(), "one");
  EXPECT_EQ(**(*lines)->Next(), "");
  EXPECT_EQ((**(*lines)->Next()).size(), 70'000U);
  EXPECT_EQ(**(*lines)->Next(), "last");
  EXPECT_EQ((*lines)->number(), 4U);
  EXPECT_EQ(*(*lines)->Next(), std::nullopt);
  EXPECT_EQ((*lines)->bytes_read(), 70'011U);

  const auto bounded = LineInput::Open(dir / "f", 1000);
  EXPECT_EQ(**(*bounded)->Next(), "one");
  EXPECT_EQ(**(*bounded)->Next(), "");
  const auto refused = (*bounded)->Next();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kTooLarge);
  EXPECT_EQ(refused.error().field("line"), "3");
}

}  // namespace
}  // namespace kvarts::cli
