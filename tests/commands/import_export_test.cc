// export and import, through a server and on a directory.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "commands/served_store.h"
#include "support/files.h"

namespace kvarts::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ImportExport : public CommandsOnEveryWay {
 protected:
  static std::string Line(const std::string& key, const std::string& value) {
    return "{\"key\":\"" + key + "\",\"value\":\"" + value + "\"}\n";
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, ImportExport, kEveryWay, &WayName);

TEST_P(ImportExport, WhatIsExportedIsImportedAgain) {
  Done({"put", "text", "Ada \"\\x0a"});
  Done({"put", "--hex", "00ff", "ff00"});
  Done({"put", "json", "--json-value", "{\"a\": 1}", "--ttl", "1h"});
  Done({"put", "typed", "png", "--type", "image/png", "--ttl", "1h"});
  Done({"put", "empty", ""});
  const std::string lines = Done({"export"});
  EXPECT_THAT(LinesOf(lines), SizeIs(6));
  for (const std::string& line : LinesOf(lines)) EXPECT_TRUE(IsJson(line)) << line;
  EXPECT_EQ(LinesOf(lines).back(), R"({"end":true,"count":5,"cursor":null})");

  const Ran imported = RunKvarts({"import", "--data", temp_ / "copy"}, lines);
  EXPECT_EQ(imported.code, 0) << imported.err;
  EXPECT_THAT(imported.out, ContainsRegex("imported 5 keys in [0-9]+ ms\n"));
  const std::string copied = RunKvarts({"scan", "--data", temp_ / "copy"}).out;
  EXPECT_EQ(copied, Done({"scan"}));
  const std::string typed = RunKvarts({"get", "typed", "--json", "--data", temp_ / "copy"}).out;
  EXPECT_THAT(typed, AllOf(HasSubstr("\"type\":\"image/png\""), HasSubstr("\"expiry\":\"2")));
}

// Every kind of value there is: what comes out of the copy is, line by line, what came out of the original.
TEST_P(ImportExport, EveryKindOfValueComesBackAsWhatItWas) {
  Done({"namespace", "declare", "short", "short/<id>", "--default-ttl", "1h"});
  Done({"put", "bytes", "text"});
  Done({"put", "--hex", "62696e", "00ff"});
  Done({"put", "json", "--json-value", R"({"a": [1, null, "x"]})"});
  Done({"put", "number", "--json-value", "17"});
  Done({"put", "picture", R"(\x89PNG)", "--type", "image/png"});
  Done({"put", "page", "<p>", "--type", "text/html; charset=utf-8", "--ttl", "1h"});
  Done(
      {"commit"},
      R"({"mutations":[{"op":"add","key":"added","by":-9223372036854775808},{"op":"increment","key":"counted","by":41,"ttl":3600},
      {"op":"put","key":"made","value":7,"counter":true},
      {"op":"put","key":"enveloped","value":{"n":1},"envelope":{"schemaVersion":3,"entityType":"case","tenantId":"acme"}},
      {"op":"put","key":"short/for-ever","value":"x","ttl":null},
      {"op":"put","key":"short/typed","value":"x","type":"text/x","ttl":null},
      {"op":"put","key":"short/default","value":"x"}]})");
  const std::string lines = Done({"export"});
  const std::vector<std::string> copy = {"--data", temp_ / "copy"};
  const auto on_copy = [&](std::vector<std::string> words, const std::string& input = {}) {
    words.insert(words.end(), copy.begin(), copy.end());
    const Ran ran = RunKvarts(words, input);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return ran.out;
  };
  on_copy({"namespace", "declare", "short", "short/<id>", "--default-ttl", "1h"});
  on_copy({"import"}, lines);
  // Versions are the copy's own, and what is left of a lifetime is rounded on the way.
  const auto comparable = [](const std::string& text) {
    const std::string versionless = std::regex_replace(text, std::regex(R"("version":"[0-9]+")"), "");
    return std::regex_replace(versionless, std::regex(R"("expiry":"[^"]+")"), R"("expiry":"then")");
  };
  EXPECT_EQ(comparable(on_copy({"export"})), comparable(lines));
  // A counter is one, which an add that does not read relies on.
  for (const char* counter : {"counted", "made"}) {
    on_copy({"commit"}, fmt::format(R"({{"mutations":[{{"op":"add","key":"{}","by":1}}]}})", counter));
  }
  EXPECT_EQ(on_copy({"get", "counted"}), "42");
  EXPECT_EQ(on_copy({"get", "made"}), "8");
}

TEST_P(ImportExport, KeepsToPrefixAndBounds) {
  Done({"import"}, Line("a", "1") + Line("b:1", "2") + Line("b:2", "3") + Line("c", "4"));
  EXPECT_THAT(LinesOf(Done({"export", "b:"})), SizeIs(3));
  EXPECT_THAT(LinesOf(Done({"export", "--start", "b:2", "--keys-only"})), SizeIs(3));
  EXPECT_THAT(Done({"export", "none"}), R"({"end":true,"count":0,"cursor":null})"
                                        "\n");
}

TEST_P(ImportExport, FilesHaveTheirNameOnlyWhenTheyAreWhole) {
  std::string lines;
  for (int i = 0; i < 3000; ++i) lines += Line("k" + std::to_string(i), std::string(100, 'v'));
  Done({"import", "--durability", "none", "--batch", "700"}, lines);
  const Ran ran = Run({"export", "--file", temp_ / "out"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, ContainsRegex("^exported 3,000 keys, [0-9.]+ KiB in "));
  EXPECT_THAT(LinesOf(ReadBytes(temp_ / "out")), SizeIs(3001));
  EXPECT_FALSE(std::filesystem::exists(temp_ / "out.partial"));
  const Ran refused = Run({"export", "--file", temp_ / "none/out"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("the output cannot be written"));
}

TEST_P(ImportExport, ALineThatIsWrongIsNamedAndCanBeContinuedFrom) {
  std::string lines;
  for (int i = 1; i <= 25; ++i) lines += i == 18 ? "{\"kye\":1}\n" : Line("k" + std::to_string(100 + i), "v");
  std::ofstream(temp_ / "in") << lines;
  const Ran ran = Run({"import", temp_ / "in", "--batch", "5"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err,
            "kvarts: 17 keys were written; --from-line 18 goes on where this one stopped\n"
            "kvarts: there is no such field (line 18, field kye, position 1)\n");
  EXPECT_EQ(Run({"import", temp_ / "in", "--batch", "5", "--json"}).err,
            R"({"type":"urn:kvarts:invalid_argument","detail":"there is no such field","line":"18","field":"kye",)"
            R"("position":"1","written":"17","from_line":"18"})"
            "\n");
  EXPECT_THAT(LinesOf(Done({"scan"})), SizeIs(17));
  EXPECT_THAT(Done({"import", temp_ / "in", "--from-line", "19", "--json"}), R"({"written":7,"expired":0})"
                                                                             "\n");
  EXPECT_THAT(LinesOf(Done({"scan"})), SizeIs(24));
}

TEST_P(ImportExport, WhatTheServerRefusesIsNamedByTheLineWhereItsBatchBegins) {
  const std::string lines = Line("a", "1") + Line("b", "2") + Line(std::string(9000, 'x'), "3") + Line("d", "4");
  const Ran ran = Run({"import", "--batch", "2"}, lines);
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("2 keys were written; --from-line 3 goes on"), HasSubstr("(line 3")));
}

TEST_P(ImportExport, AnExportThatWasCutOffIsNoticed) {
  const Ran ran = Run({"import"}, Line("a", "1") + "{\"end\":true,\"count\":2,\"cursor\":null}\n");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("the export is not whole"));
}

TEST_P(ImportExport, AnExportWithoutItsLastLineIsNoticedAndWhatThereIsIsWritten) {
  Done({"import"}, Line("a", "1") + Line("b", "2") + Line("c", "3"));
  const std::string lines = Done({"export"});
  const std::string cut = lines.substr(0, lines.find("{\"key\":\"c\""));
  const Ran ran = RunKvarts({"import", "--data", temp_ / "copy"}, cut);
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_EQ(ran.err,
            "kvarts: 2 keys were written; they stay, and the rest needs a whole export\n"
            "kvarts: the export is not whole: its last line, {\"end\":true}, is missing (line 2)\n");
  EXPECT_EQ(RunKvarts({"scan", "--data", temp_ / "copy"}).out, "a\t1\nb\t2\n");
  EXPECT_EQ(RunKvarts({"import", "--from-line", "2", "--data", temp_ / "copy"}, cut).code, 1);
  // Cut off within a line.
  EXPECT_EQ(RunKvarts({"import", "--data", temp_ / "copy"}, lines.substr(0, cut.size() + 5)).code, 1);
  // Two exports, of which the second is cut off.
  EXPECT_EQ(RunKvarts({"import", "--data", temp_ / "copy"}, lines + cut).code, 1);
  EXPECT_EQ(RunKvarts({"import", "--data", temp_ / "copy"}, lines + lines).code, 0);
}

TEST_P(ImportExport, WhatHasExpiredIsNotWritten) {
  const std::string past = "{\"key\":\"a\",\"value\":\"x\",\"expiry\":\"2020-01-01T00:00:00.000000Z\"}\n";
  EXPECT_THAT(Done({"import"}, past + "\n" + Line("b", "y")), HasSubstr("imported 1 key in "));
  EXPECT_EQ(Done({"scan", "--keys-only"}), "b\n");
}

TEST_P(ImportExport, BatchesAreCutBySizeToo) {
  std::string lines;
  for (int i = 0; i < 5; ++i) lines += Line("k" + std::to_string(i), std::string(700'000, 'v'));
  EXPECT_THAT(Done({"import"}, lines), HasSubstr("imported 5 keys"));
}

TEST_P(ImportExport, ShowsABarOnATerminalOnly) {
  std::string lines;
  for (int i = 0; i < 20'000; ++i) lines += Line("k" + std::to_string(i), std::string(200, 'v'));
  std::ofstream(temp_ / "in") << lines;
  OnTerminal import(Words({"import", temp_ / "in", "--batch", "100"}));
  EXPECT_THAT(import.Await("imported "), AllOf(HasSubstr(" keys"), HasSubstr(" %")));
  EXPECT_EQ(import.Wait(), 0);
}

}  // namespace
}  // namespace kvarts::test
