#include "cli/arguments.h"

#include <gtest/gtest.h>

#include "cli/error_text.h"

namespace kvarts::cli {
namespace {

const Syntax& TestSyntax() {
  static const Syntax kSyntax = {.arguments = {{"DIR"}, {"KEY", true}},
                                 .options = {{"json"},
                                             {"limit", OptionKind::kCount, "N", "at most so many", {}, 1},
                                             {"size", OptionKind::kSize, "SIZE", "how large"},
                                             {"name", OptionKind::kText, "NAME"},
                                             {"prefix", OptionKind::kBytes, "P"},
                                             {"how", OptionKind::kChoice, "HOW", "in which way", {"fast", "slow"}}},
                                 .description = "A test."};
  return kSyntax;
}

Result<Arguments> Parse(const std::vector<std::string>& words) { return ParseArguments(TestSyntax(), words); }

std::string Refusal(const std::vector<std::string>& words) {
  const auto parsed = Parse(words);
  return parsed.has_value() ? "none" : ErrorText(parsed.error());
}

TEST(Arguments, TakesOptionsInBothSpellingsAndAnyOrder) {
  const auto parsed = Parse({"--limit", "5", "dir", "--size=64MiB", "--json", "--prefix", "a\\x00", "--how=slow"});
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(parsed->at(0), "dir");
  EXPECT_EQ(parsed->size(), 1U);
  EXPECT_EQ(parsed->Number("limit"), 5U);
  EXPECT_EQ(parsed->Number("size"), 64U << 20);
  EXPECT_EQ(parsed->Text("prefix"), std::string("a\0", 2));
  EXPECT_EQ(parsed->Text("how"), "slow");
  EXPECT_TRUE(parsed->Has("json"));
  EXPECT_FALSE(parsed->Has("name"));
  EXPECT_EQ(parsed->Text("name"), std::nullopt);
}

TEST(Arguments, ValuesMayLookLikeOptionsAndMayBeEmpty) {
  const auto parsed = Parse({"dir", "--name", "--json", "--prefix="});
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(parsed->Text("name"), "--json");
  EXPECT_FALSE(parsed->Has("json"));
  EXPECT_EQ(parsed->Text("prefix"), "");
  EXPECT_EQ(Parse({"dir", "--name=a=b"})->Text("name"), "a=b");
}

TEST(Arguments, TwoDashesEndTheOptions) {
  const auto parsed = Parse({"--json", "--", "--dir", "-k"});
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(parsed->at(0), "--dir");
  EXPECT_EQ(parsed->at(1), "-k");
  // A dash alone is a word.
  EXPECT_EQ(Parse({"-"})->at(0), "-");
  // So is a number.
  EXPECT_EQ(Parse({"-5"})->at(0), "-5");
}

TEST(Arguments, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(Refusal({"dir", "--jsno"}), "there is no such option: --jsno; did you mean --json?");
  EXPECT_EQ(Refusal({"dir", "--limt=5"}), "there is no such option: --limt; did you mean --limit?");
  EXPECT_EQ(Refusal({"dir", "--frobnicate"}), "there is no such option: --frobnicate");
  EXPECT_EQ(Refusal({"dir", "-j"}), "options begin with two dashes: -j");
  EXPECT_EQ(Refusal({}), "an argument is missing: DIR");
  EXPECT_EQ(Refusal({"dir", "key", "more"}), "there is a word too many: more");
}

TEST(Arguments, RefusesValuesThatMakeNoSense) {
  EXPECT_EQ(Refusal({"d", "--limit"}), "an option needs a value: --limit");
  EXPECT_EQ(Refusal({"d", "--json=yes"}), "an option takes no value: --json");
  EXPECT_EQ(Refusal({"d", "--json", "--json"}), "an option is given twice: --json");
  EXPECT_EQ(Refusal({"d", "--limit", "many"}),
            "an option has a value that it cannot take: --limit; many: not a number");
  EXPECT_EQ(Refusal({"d", "--limit", "99999999999999999999"}),
            "an option has a value that it cannot take: --limit; 99999999999999999999: the number is too large");
  EXPECT_EQ(Refusal({"d", "--limit", "0"}), "an option has a value that is too small: --limit (at least 1)");
  EXPECT_EQ(Refusal({"d", "--how", "fsat"}),
            "an option has a value that it cannot take: --how; fsat: must be one of fast, slow; did you mean fast?");
  EXPECT_EQ(Refusal({"d", "--prefix", "\\"}),
            "an option has a value with a broken escape: \\\\ and \\xNN are known: --prefix");
}

TEST(Arguments, TakesDurationsListsAndPaths) {
  const Syntax syntax = {.arguments = {{"WHAT", false, {"one", "two"}}},
                         .options = {{"wait", OptionKind::kDuration, "TIME", "how long", {}, 1000},
                                     {"listen", OptionKind::kList, "ADDRESS", "where"},
                                     {"file", OptionKind::kPath, "FILE", "which"}},
                         .description = "A test."};
  const auto parse = [&](const std::vector<std::string>& words) { return ParseArguments(syntax, words); };
  const auto refusal = [&](const std::vector<std::string>& words) {
    const auto parsed = parse(words);
    return parsed.has_value() ? "none" : ErrorText(parsed.error());
  };
  const auto parsed = parse({"one", "--wait", "30s", "--listen", "a", "--file=x", "--listen=b"});
  ASSERT_TRUE(parsed) << parsed.error();
  EXPECT_EQ(parsed->Number("wait"), 30'000'000U);
  EXPECT_EQ(parsed->Text("wait"), "30s");
  EXPECT_EQ(parsed->Texts("listen"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(parsed->Text("listen"), "a");
  EXPECT_EQ(parsed->Texts("file"), std::vector<std::string>{"x"});
  EXPECT_TRUE(parse({"one"})->Texts("listen").empty());
  EXPECT_EQ(refusal({"one", "--wait", "0"}), "an option has a value that is too small: --wait (at least 1ms)");
  EXPECT_EQ(refusal({"one", "--wait=-1s"}),
            "an option has a value that it cannot take: --wait; -1s: a duration is not negative");
  EXPECT_EQ(refusal({"one", "--file", "a", "--file", "b"}), "an option is given twice: --file");
  EXPECT_EQ(refusal({"tow"}),
            "an argument is not one of the words that it can be: tow: WHAT (choices one, two); did you mean two?");
}

TEST(Arguments, ManyOptionsAreNotAllInOneLine) {
  Syntax syntax = {.arguments = {{"DIR"}}, .options = {}, .description = "A test."};
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g", "h"};
  for (const std::string& name : names) syntax.options.push_back({name});
  EXPECT_EQ(UsageLine(syntax), "DIR [--a] [--b] [--c] [--d] [--e] [--f] [--g] [--h]");
  syntax.options.push_back(
      {"an-option-with-a-very-long-name", OptionKind::kCount, "N",
       "a text that is so long that it does not fit into a line of its own and has to be wrapped"});
  EXPECT_EQ(UsageLine(syntax), "DIR [OPTIONS]");
  EXPECT_TRUE(OptionLines(syntax).ends_with(
      "  --an-option-with-a-very-long-name N\n"
      "      a text that is so long that it does not fit into a line of its own and has to be\n      wrapped\n"));
}

TEST(Arguments, AsksTheCommandAboutWhatNoOptionKnows) {
  Syntax syntax = TestSyntax();
  syntax.check = [](const Arguments& arguments) -> Status {
    if (!arguments.Has("json")) return {};
    return Error(ErrorCode::kInvalidArgument, "not today");
  };
  EXPECT_TRUE(ParseArguments(syntax, std::vector<std::string>{"d"}));
  EXPECT_FALSE(ParseArguments(syntax, std::vector<std::string>{"d", "--json"}));
}

TEST(Arguments, PrintsHowACommandIsWritten) {
  EXPECT_EQ(UsageLine(TestSyntax()),
            "DIR [KEY] [--json] [--limit N] [--size SIZE] [--name NAME] [--prefix P] [--how HOW]");
  EXPECT_NE(OptionLines(TestSyntax()).find("  --how HOW    in which way: fast, slow\n"), std::string::npos);
}

}  // namespace
}  // namespace kvarts::cli
