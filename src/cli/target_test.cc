#include "cli/target.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "cli/error_text.h"
#include "support/temp_dir.h"

namespace kvarts::cli {
namespace {

Result<Target> Parse(const std::vector<std::string>& words, const Environment& environment = {}) {
  static const Syntax kSyntax = OverApi({.arguments = {}, .options = {}, .description = {}});
  KVARTS_TRY(const Arguments arguments, ParseArguments(kSyntax, words));
  return TargetOf(arguments, environment);
}

std::string UrlOf(const std::vector<std::string>& words, const Environment& environment = {}) {
  const auto target = Parse(words, environment);
  return target.has_value() ? target->url : ErrorText(target.error());
}

TEST(Target, OptionsWinOverTheEnvironmentAndThatOverTheDefault) {
  EXPECT_EQ(UrlOf({}), "http://127.0.0.1:7700");
  EXPECT_EQ(UrlOf({}, {{"KVARTS_SERVER", "http://db:1"}}), "http://db:1");
  EXPECT_EQ(UrlOf({}, {{"KVARTS_SERVER", ""}}), "http://127.0.0.1:7700");
  EXPECT_EQ(UrlOf({"--server", "https://db:2/"}, {{"KVARTS_SERVER", "http://db:1"}}), "https://db:2");
  EXPECT_EQ(Parse({"--data", "d"}, {{"KVARTS_SERVER", "http://db:1"}})->place.data, "d");
  EXPECT_EQ(Parse({"--shards", "f"}, {{"KVARTS_SERVER", "http://db:1"}})->place.shards, "f");
}

TEST(Target, ASocketIsNamedByItsPath) {
  const auto target = Parse({"--server", "unix:/run/k.sock"});
  ASSERT_TRUE(target) << target.error();
  EXPECT_EQ(target->unix_socket, "/run/k.sock");
  EXPECT_EQ(target->ToString(), "unix:/run/k.sock");
}

TEST(Target, RefusesWhatIsNoServer) {
  for (const std::string text : {"", "localhost:7700", "ftp://a", "unix:", "http://", "http://a b", "http://a\r\nX: y",
                                 "http://a?b", "http://user:secret@a"}) {
    const auto target = Parse({"--server", text});
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().code(), ErrorCode::kInvalidArgument);
  }
}

TEST(Target, IsOneOfAServerADirectoryAndAFileOfShards) {
  EXPECT_EQ(UrlOf({"--server", "http://a", "--data", "d"}), "--server and --data exclude each other");
  EXPECT_EQ(UrlOf({"--server", "http://a", "--shards", "f"}), "--server and --shards exclude each other");
  EXPECT_EQ(UrlOf({"--data", "d", "--shards", "f"}), "--data and --shards exclude each other");
  EXPECT_EQ(UrlOf({"--data", ""}), "--data needs a directory");
  EXPECT_EQ(UrlOf({"--shards", ""}), "--shards needs a file");
  EXPECT_EQ(Parse({"--shards", "f"})->ToString(), "f");
}

TEST(Target, TokensComeFromAnOptionAFileOrTheEnvironment) {
  const test::TempDir dir;
  std::ofstream(dir / "token") << "kv_file\n";
  EXPECT_EQ(Parse({})->token, "");
  EXPECT_EQ(Parse({}, {{"KVARTS_TOKEN", "kv_env"}})->token, "kv_env");
  EXPECT_EQ(Parse({"--token", "kv_flag"}, {{"KVARTS_TOKEN", "kv_env"}})->token, "kv_flag");
  EXPECT_EQ(Parse({"--token-file", dir / "token"}, {{"KVARTS_TOKEN", "kv_env"}})->token, "kv_file");
  EXPECT_FALSE(Parse({"--token-file", dir / "none"}));
  EXPECT_FALSE(Parse({"--token", "a", "--token-file", dir / "token"}));
  for (const std::string text : {"", "two words", "a\r\nHost: b", "\xff"})
    EXPECT_FALSE(Parse({"--token", text})) << text;
}

TEST(Target, OptionsOfACommandStayItsOwn) {
  const Syntax syntax = OverApi({.arguments = {}, .options = {{"json", OptionKind::kText, "X"}}, .description = {}});
  EXPECT_EQ(syntax.options.front().kind, OptionKind::kText);
  EXPECT_EQ(std::ranges::count(syntax.options, "json", &OptionSyntax::name), 1);
  EXPECT_EQ(UsageLine(syntax), "[--json X] [OPTIONS]");
}

}  // namespace
}  // namespace kvarts::cli
