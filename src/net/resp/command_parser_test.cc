#include "net/resp/command_parser.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace kvarts::resp {
namespace {

using Command = std::vector<std::string>;

// What a connection's bytes come to: commands, one behind the other, and the error that ends them, if one does.
struct Parsed {
  std::vector<Command> commands;
  std::string error = {};
  size_t left = 0;  // bytes that are not a whole command
  friend bool operator==(const Parsed&, const Parsed&) = default;
};

std::ostream& operator<<(std::ostream& out, const Parsed& parsed) {
  for (const Command& command : parsed.commands) out << ::testing::PrintToString(command) << ' ';
  return out << parsed.error << " left=" << parsed.left;
}

Parsed ParseInPieces(const std::string& bytes, size_t piece, const CommandParser::Limits& limits) {
  Parsed parsed;
  CommandParser parser;
  size_t begin = 0;
  for (size_t arrived = std::min(piece, bytes.size());; arrived = std::min(arrived + piece, bytes.size())) {
    while (begin < arrived) {
      // In memory of its own size, which is another one each time.
      const std::string input = bytes.substr(begin, arrived - begin);
      const auto state = parser.Parse(input, limits);
      if (state == CommandParser::State::kError) {
        parsed.error = parser.error();
        return parsed;
      }
      if (state == CommandParser::State::kMore) {
        EXPECT_GT(parser.wanted(), input.size());
        break;
      }
      parsed.commands.emplace_back(parser.arguments().begin(), parser.arguments().end());
      begin += parser.consumed();
    }
    if (arrived == bytes.size()) break;
  }
  parsed.left = bytes.size() - begin;
  return parsed;
}

Parsed Parse(const std::string& bytes, const CommandParser::Limits& limits = {}) {
  const Parsed whole = ParseInPieces(bytes, std::max<size_t>(bytes.size(), 1), limits);
  for (const size_t piece : {1, 2, 3, 7}) {
    EXPECT_EQ(ParseInPieces(bytes, piece, limits), whole) << "in pieces of " << piece;
  }
  return whole;
}

std::string Array(const Command& command) {
  std::string bytes = "*" + std::to_string(command.size()) + "\r\n";
  for (const std::string& argument : command) {
    bytes += "$" + std::to_string(argument.size()) + "\r\n" + argument + "\r\n";
  }
  return bytes;
}

std::string ErrorOf(const std::string& bytes, const CommandParser::Limits& limits = {}) {
  return Parse(bytes, limits).error;
}

TEST(CommandParserTest, ArraysOfBulkStringsAreCommands) {
  const Parsed parsed = Parse(Array({"SET", "key", std::string("a\0\r\n*1\r\n", 8)}) + Array({"GET", ""}));
  EXPECT_EQ(parsed, (Parsed{{{"SET", "key", std::string("a\0\r\n*1\r\n", 8)}, {"GET", ""}}}));
}

TEST(CommandParserTest, LinesOfWordsAreCommands) {
  EXPECT_EQ(Parse("PING\r\n  set\tkey \v value  \nget key\n"),
            (Parsed{{{"PING"}, {"set", "key", "value"}, {"get", "key"}}}));
}

TEST(CommandParserTest, WordsMayBeQuoted) {
  EXPECT_EQ(Parse(R"(a "b c\x41\n\"" 'd \n\' "e' f"g h")"
                  "\n"),
            (Parsed{{{"a", "b cA\n\"", R"(d \n' "e)", "fg h"}}}));
  EXPECT_EQ(Parse(R"("" '' "\xzz\a\b\r\t\q")"
                  "\n"),
            (Parsed{{{"", "", "xzz\a\b\r\tq"}}}));
}

TEST(CommandParserTest, QuotesThatDoNotFitAreRefused) {
  for (const char* line : {"get \"key", "get 'key", "get \"key\"s", "get 'key's", "get \"key\\", "get \"key\\\""}) {
    EXPECT_EQ(ErrorOf(std::string(line) + "\r\n"), "Protocol error: unbalanced quotes in request") << line;
  }
}

TEST(CommandParserTest, NothingIsACommandWithoutArguments) {
  EXPECT_EQ(Parse("\r\n\n*0\r\n*-1\r\n*-12\r\nPING\n"), (Parsed{{{}, {}, {}, {}, {}, {"PING"}}}));
}

TEST(CommandParserTest, WhatIsCutOffWaits) {
  const std::string whole = Array({"SET", "key", "value"});
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(Parse(whole.substr(0, size)), (Parsed{{}, "", size}));
  }
}

TEST(CommandParserTest, NumbersAreReadNarrowly) {
  for (const char* count : {"", "a", "+1", "01", "-0", " 1", "1 ", "1a", "2147483648", "99999999999999999999"}) {
    EXPECT_EQ(ErrorOf("*" + std::string(count) + "\r\n"), "Protocol error: invalid multibulk length") << count;
  }
  for (const char* size : {"", "a", "+1", "01", "-1", "-0", " 1", "1 ", "9223372036854775808"}) {
    EXPECT_EQ(ErrorOf("*1\r\n$" + std::string(size) + "\r\n"), "Protocol error: invalid bulk length") << size;
  }
  EXPECT_EQ(Parse("*2147483647\r\n").left, 13U);
}

TEST(CommandParserTest, AnArgumentIsABulkString) {
  EXPECT_EQ(ErrorOf("*1\r\n:5\r\n"), "Protocol error: expected '$', got ':'");
  EXPECT_EQ(ErrorOf("*2\r\n$1\r\na\r\n*1\r\n"), "Protocol error: expected '$', got '*'");
}

TEST(CommandParserTest, AnArgumentHasALimit) {
  const CommandParser::Limits limits{.max_bulk_bytes = 100};
  for (const size_t size : {99, 100}) {
    EXPECT_EQ(Parse(Array({std::string(size, 'x')}), limits).commands.size(), 1U) << size;
  }
  EXPECT_EQ(ErrorOf("*1\r\n$101\r\n", limits), "Protocol error: invalid bulk length");
}

TEST(CommandParserTest, LinesHaveALimit) {
  constexpr size_t kMax = CommandParser::kMaxLineBytes;
  const auto whole = [](const std::string& bytes) { return ParseInPieces(bytes, bytes.size(), {}); };
  EXPECT_EQ(whole(std::string(kMax, 'a')).left, kMax);
  EXPECT_EQ(whole(std::string(kMax + 1, 'a')).error, "Protocol error: too big inline request");
  EXPECT_EQ(whole("*" + std::string(kMax - 1, '1')).left, kMax);
  EXPECT_EQ(whole("*" + std::string(kMax, '1')).error, "Protocol error: too big mbulk count string");
  EXPECT_EQ(whole("*1\r\n$" + std::string(kMax - 1, '1')).left, kMax + 4);
  EXPECT_EQ(whole("*1\r\n$" + std::string(kMax, '1')).error, "Protocol error: too big bulk count string");
}

TEST(CommandParserTest, StrangersHaveNarrowerLimits) {
  const CommandParser::Limits limits{.stranger = true};
  const Command ten(10, "a");
  EXPECT_EQ(Parse(Array(ten), limits).commands, (std::vector<Command>{ten}));
  EXPECT_EQ(ErrorOf("*11\r\n", limits), "Protocol error: unauthenticated multibulk length");
  const std::string longest(16 << 10, 'a');
  EXPECT_EQ(ParseInPieces(Array({longest}), 1 << 20, limits).commands, (std::vector<Command>{{longest}}));
  EXPECT_EQ(ErrorOf("*1\r\n$16385\r\n", limits), "Protocol error: unauthenticated bulk length");
}

TEST(CommandParserTest, AfterAnErrorThereIsNothing) {
  CommandParser parser;
  EXPECT_EQ(parser.Parse("*a\r\n", {}), CommandParser::State::kError);
  EXPECT_EQ(parser.Parse("PING\r\n", {}), CommandParser::State::kError);
}

// Of a large argument nothing is looked at twice: who is told how much is wanted need not ask before.
TEST(CommandParserTest, ItSaysHowMuchIsWanted) {
  CommandParser parser;
  const std::string whole = Array({"SET", "key", std::string(1 << 20, 'x')});
  EXPECT_EQ(parser.Parse(whole.substr(0, 100), {}), CommandParser::State::kMore);
  EXPECT_EQ(parser.wanted(), whole.size());
  EXPECT_EQ(parser.Parse(whole, {}), CommandParser::State::kCommand);
  EXPECT_EQ(parser.consumed(), whole.size());
}

RC_GTEST_PROP(CommandParserTest, WhatIsWrittenIsRead, (const std::vector<Command>& commands)) {
  std::string bytes;
  for (const Command& command : commands) bytes += Array(command);
  const auto piece = *rc::gen::inRange<size_t>(1, 20);
  RC_ASSERT(ParseInPieces(bytes, piece, {}) == (Parsed{commands}));
}

}  // namespace
}  // namespace kvarts::resp
