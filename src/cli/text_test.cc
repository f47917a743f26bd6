#include "cli/text.h"

#include <gtest/gtest.h>

#include "cli/error_text.h"
#include "cli/nearest.h"
#include "cli/table.h"

namespace kvarts::cli {
namespace {

TEST(Text, Bytes) {
  EXPECT_EQ(HumanBytes(0), "0 B");
  EXPECT_EQ(HumanBytes(1023), "1023 B");
  EXPECT_EQ(HumanBytes(1024), "1.0 KiB");
  EXPECT_EQ(HumanBytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(HumanBytes(1536ULL << 20), "1.5 GiB");
  EXPECT_EQ(HumanBytes(UINT64_MAX), "16.0 EiB");
}

TEST(Text, CountsDurationsAndTimes) {
  EXPECT_EQ(HumanCount(0), "0");
  EXPECT_EQ(HumanCount(999), "999");
  EXPECT_EQ(HumanCount(1234567), "1,234,567");
  EXPECT_EQ(Counted(1, "key", "keys"), "1 key");
  EXPECT_EQ(Counted(2000, "key", "keys"), "2,000 keys");
  EXPECT_EQ(HumanDuration(Duration::Millis(350)), "350 ms");
  EXPECT_EQ(HumanDuration(Duration::Millis(29'870)), "29.8 s");
  EXPECT_EQ(HumanDuration(Duration::Seconds(303)), "5 min 3 s");
  EXPECT_EQ(HumanDuration(Duration::Seconds(7500)), "2 h 5 min");
  EXPECT_EQ(HumanDuration(Duration::Seconds(273'600)), "3 d 4 h");
  EXPECT_EQ(HumanTime(Timestamp{1'700'000'000'000'000}), "2023-11-14 22:13:20 UTC");
  EXPECT_EQ(HumanTime(kNever), "never");
}

TEST(Text, ParsesSizes) {
  EXPECT_EQ(ParseSize("4096").value_or(0), 4096U);
  EXPECT_EQ(ParseSize("64MiB").value_or(0), 64U << 20);
  EXPECT_EQ(ParseSize("64mib").value_or(0), 64U << 20);
  EXPECT_EQ(ParseSize("2GB").value_or(0), 2'000'000'000U);
  for (const char* wrong : {"", "MiB", "64M", "64 MiB", "-1", "1.5GiB", "99999999999999999999", "99999999999TiB"}) {
    EXPECT_FALSE(ParseSize(wrong)) << wrong;
  }
}

TEST(Text, ParsesDurationsAndNumbers) {
  EXPECT_EQ(ParseDuration("60")->micros, 60'000'000);
  EXPECT_EQ(ParseDuration("500ms")->micros, 500'000);
  EXPECT_EQ(ParseDuration("7d")->micros, 7 * 86'400'000'000);
  EXPECT_EQ(ParseDuration("-5")->micros, -5'000'000);
  for (const char* wrong : {"", "s", "5x", "5 m", "1.5h", "9223372036854775807d"}) {
    EXPECT_FALSE(ParseDuration(wrong)) << wrong;
  }
  EXPECT_EQ(ParseInteger("-9223372036854775808").value_or(0), INT64_MIN);
  EXPECT_EQ(ParseInteger("+5").value_or(0), 5);
  EXPECT_FALSE(ParseInteger("+-5"));
  EXPECT_FALSE(ParseInteger("9223372036854775808"));
  EXPECT_FALSE(ParseCount("-1"));
}

TEST(Text, ShowsUtf8AndEscapesTheRest) {
  EXPECT_EQ(Shown("Åsa 漢 😀"), "Åsa 漢 😀");
  EXPECT_EQ(Shown(BytesView("a\0\n\x7f\\", 5)), R"(a\x00\x0a\x7f\\)");
  EXPECT_EQ(Shown("\xc3"), R"(\xc3)");
  EXPECT_EQ(Shown("\xc3\x28"), R"(\xc3()");
  EXPECT_EQ(Shown("\xc0\x80"), R"(\xc0\x80)") << "an overlong zero";
  EXPECT_EQ(Shown("\xed\xa0\x80"), R"(\xed\xa0\x80)") << "a surrogate";
  EXPECT_EQ(Shown("\xe2\x80\xae"), R"(\xe2\x80\xae)") << "what turns the text around";
  EXPECT_EQ(Shown("\xc2\x9b"), R"(\xc2\x9b)") << "a control of the terminal";
}

TEST(Text, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(ShownWord("user:1"), "user:1");
  EXPECT_EQ(ShownWord("two words"), "\"two words\"");
  EXPECT_EQ(ShownWord(""), "\"\"");
  EXPECT_EQ(ShownWord("\"a"), R"("\"a")");
  EXPECT_EQ(ShownWord("#a"), "\"#a\"");
  EXPECT_EQ(ShownWord("{\"a\":1}"), "{\"a\":1}");
}

TEST(Text, CutsLongValuesBetweenCharacters) {
  EXPECT_EQ(ShownShort("short", 5), "short");
  EXPECT_EQ(ShownShort("longer", 5), "longe… (6 B)");
  EXPECT_EQ(ShownShort("ÅÅÅ", 3), "Å… (6 B)");
}

TEST(Text, AlignsColumns) {
  Table table({Table::Align::kLeft, Table::Align::kRight});
  table.Add({"Åsa", "1"});
  table.Add({"a", "1,000"});
  table.Add({"only"});
  EXPECT_EQ(table.ToString(1), " Åsa       1\n a     1,000\n only\n");
}

TEST(Nearest, IsWhatWasProbablyMeant) {
  const std::vector<std::string_view> names = {"get", "put", "delete", "deleteif", "scan"};
  EXPECT_EQ(Nearest("gte", names), "get");
  EXPECT_EQ(Nearest("delte", names), "delete");
  EXPECT_EQ(Nearest("sc", names), "scan");
  EXPECT_EQ(Nearest("frobnicate", names), "");
  EXPECT_EQ(Nearest("", names), "");
  EXPECT_EQ(Nearest(std::string(100'000, 'x'), names), "");
}

TEST(ErrorText, PutsTheSubjectFirstAndFactsInBrackets) {
  const Error error(ErrorCode::kTooLarge, "the key is too long",
                    {{"limit", "max_key_bytes"}, {"at_most", "8"}, {"key", "abc"}, {"cause", "two\nlines\n"}});
  EXPECT_EQ(ErrorText(error), "the key is too long: abc (limit max_key_bytes, at most 8); two lines");
  EXPECT_EQ(ErrorText(Error(ErrorCode::kConflict, "lost a race")), "lost a race");
}

}  // namespace
}  // namespace kvarts::cli
