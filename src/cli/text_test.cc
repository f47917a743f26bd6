#include "cli/text.h"

#include <gtest/gtest.h>

#include "cli/error_text.h"
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

TEST(ErrorText, PutsTheSubjectFirstAndFactsInBrackets) {
  const Error error(ErrorCode::kTooLarge, "the key is too long",
                    {{"limit", "max_key_bytes"}, {"at_most", "8"}, {"key", "abc"}, {"cause", "two\nlines\n"}});
  EXPECT_EQ(ErrorText(error), "the key is too long: abc (limit max_key_bytes, at most 8); two lines");
  EXPECT_EQ(ErrorText(Error(ErrorCode::kConflict, "lost a race")), "lost a race");
  EXPECT_EQ(ErrorText(Error(ErrorCode::kInvalidArgument, "wrong", {{"problems", "a\nb"}})), "wrong:\n  a\n  b");
}

}  // namespace
}  // namespace kvarts::cli
