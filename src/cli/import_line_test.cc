#include "cli/import_line.h"

#include <gtest/gtest.h>

namespace kvarts::cli {
namespace {

using Kind = ImportLine::Kind;

const Timestamp kNow = *Timestamp::Parse("2026-07-05T10:00:00Z");

ImportLine Parsed(std::string_view line) {
  const Result<ImportLine> parsed = ParseImportLine(line, kNow);
  EXPECT_TRUE(parsed) << line << ": " << parsed.error();
  return parsed.value_or(ImportLine());
}

TEST(ImportLine, ItemsBecomePutsWithTheirValuesAsTheyAreWritten) {
  EXPECT_EQ(Parsed(R"({"key":"a","value":"x\"\u0000","version":"17","expiry":null})").mutation,
            R"({"op":"put","key":"a","value":"x\"\u0000","ttl":null})");
  EXPECT_EQ(Parsed(R"( {"key_base64":"AP8=","value":{"a": [1,null]}} )").mutation,
            R"({"op":"put","key_base64":"AP8=","value":{"a": [1,null]}})");
  EXPECT_EQ(Parsed(R"({"key":"a","value_base64":"AP8="})").mutation, R"({"op":"put","key":"a","value_base64":"AP8="})");
  EXPECT_EQ(Parsed(R"({"key":"a","value":null})").mutation, R"({"op":"put","key":"a","value":null})");
  EXPECT_EQ(Parsed(R"({"key":"a","value":1,"envelope":{"schemaVersion":2}})").mutation,
            R"({"op":"put","key":"a","value":1,"envelope":{"schemaVersion":2}})");
}

TEST(ImportLine, AnExpiryBecomesWhatIsLeftOfIt) {
  EXPECT_EQ(Parsed(R"({"key":"a","value":"x","expiry":"2026-07-05T10:00:01.500000Z"})").mutation,
            R"({"op":"put","key":"a","value":"x","ttl":1.5})");
  EXPECT_EQ(Parsed(R"({"key":"a","value":"x","ttl":0.25})").mutation,
            R"({"op":"put","key":"a","value":"x","ttl":0.25})");
  EXPECT_EQ(Parsed(R"({"key":"a","value":"x","expiry":"2026-07-05T10:00:00.000001Z"})").kind, Kind::kItem);
  EXPECT_EQ(Parsed(R"({"key":"a","value":"x","expiry":"2026-07-05T10:00:00.000000Z"})").kind, Kind::kExpired);
}

TEST(ImportLine, TypesAndCountersStayWhatTheyAre) {
  EXPECT_EQ(Parsed(R"({"key":"a","value_base64":"AP8=","type":"image/png","ttl":2})").mutation,
            R"({"op":"put","key":"a","value_base64":"AP8=","type":"image/png","ttl":2})");
  // Marks are of what happened to the value where it was, and go with it.
  EXPECT_EQ(
      Parsed(R"({"key":"a","value":-7,"counter":true,"version":"1","expiry":null,"marks":["saturated"]})").mutation,
      R"({"op":"put","key":"a","value":-7,"counter":true,"ttl":null})");
}

TEST(ImportLine, AVersionTellsLinesOfAnExport) {
  EXPECT_TRUE(Parsed(R"({"key":"a","value":"x","version":"17","expiry":null})").exported);
  EXPECT_TRUE(Parsed(R"({"key":"a","value":"x","version":"17","expiry":"2026-07-05T09:00:00Z"})").exported);
  EXPECT_FALSE(Parsed(R"({"key":"a","value":"x","expiry":null})").exported);
}

TEST(ImportLine, EndsAndBlanksAreNoItems) {
  EXPECT_EQ(Parsed("").kind, Kind::kBlank);
  EXPECT_EQ(Parsed(" \t").kind, Kind::kBlank);
  EXPECT_EQ(Parsed(R"({"end":true,"count":7,"cursor":null})").kind, Kind::kEnd);
  EXPECT_EQ(Parsed(R"({"end":true,"count":7,"cursor":null})").count, 7U);
}

TEST(ImportLine, RefusesWhatItDoesNotUnderstand) {
  for (const std::string_view line : {"x",
                                      "[]",
                                      "{}",
                                      R"({"key":"a"})",
                                      R"({"value":"a"})",
                                      R"({"key":"","value":"a"})",
                                      R"({"key":1,"value":"a"})",
                                      R"({"key":"a","key_base64":"YQ==","value":"a"})",
                                      R"({"key":"a","value":"a","value_base64":"YQ=="})",
                                      R"({"key_base64":"?","value":"a"})",
                                      R"({"key_base64":"YQ","value":"a"})",
                                      R"({"key":"a","value_base64":{}})",
                                      R"({"key":"a","value":"a","expiry":"soon"})",
                                      R"({"key":"a","value":"a","ttl":0})",
                                      R"({"key":"a","value":"a","ttl":-1})",
                                      R"({"key":"a","value":"a","ttl":1e300})",
                                      R"({"key":"a","value":"a","envelope":1})",
                                      R"({"key":"a","value":"a","type":1})",
                                      R"({"key":"a","value":1,"counter":1})",
                                      R"({"key":"a","value":"a","tll":1})",
                                      R"({"key":"a","value":"a"}x)",
                                      "{\"key\":\"a\",\"value\":\"\xff\"}"}) {
    EXPECT_FALSE(ParseImportLine(line, kNow)) << line;
  }
}

}  // namespace
}  // namespace kvarts::cli
