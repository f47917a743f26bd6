// kvarts config, as a person and as a script use it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "cli/server_config.h"
#include "commands/kvarts_process.h"
#include "server/config.h"
#include "support/files.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;

// A variable of the environment, for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

std::string WithFile(const TempDir& dir, const std::string& text) {
  const std::string path = dir / "kvarts.toml";
  std::ofstream(path) << text;
  return path;
}

TEST(ConfigCommand, ShowsValuesAndOrigins) {
  const TempDir dir;
  const std::string file = WithFile(dir, "loops = 3\ndata = \"/srv/a\"\n[http]\nmax_headers = 50\n");
  const Variable data("KVARTS_DATA", "/srv/b");
  const Variable http_max_headers("KVARTS_HTTP_MAX_HEADERS", "60");
  const Ran ran = RunKvarts(
      {"config", "--config", file, "--http-max-headers", "70", "--listen", "127.0.0.1:1", "--listen", "[::1]:1"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, ContainsRegex("listen +127.0.0.1:1, \\[::1\\]:1 +flag --listen\n"));
  EXPECT_THAT(ran.out, ContainsRegex("loops +3 +file .*kvarts.toml:1\n"));
  EXPECT_THAT(ran.out, ContainsRegex("data +/srv/b +environment KVARTS_DATA\n"));
  EXPECT_THAT(ran.out, ContainsRegex("http.max_headers +70 +flag --http-max-headers\n"));
  EXPECT_THAT(ran.out, ContainsRegex("durability +sync +default\n"));
  EXPECT_THAT(ran.err, IsEmpty());

  const Ran json = RunKvarts({"config", "--config", file, "--json"});
  EXPECT_TRUE(IsJson(json.out)) << json.out;
  EXPECT_THAT(json.out, AllOf(HasSubstr(R"("listen":{"value":["127.0.0.1:7700"],"origin":"default"})"),
                              HasSubstr(R"("loops":{"value":3,"origin":"file","place":")"),
                              HasSubstr(R"("metrics.enabled":{"value":true,"origin":"default"})"),
                              HasSubstr(R"("data":{"value":"/srv/b","origin":"environment","place":"KVARTS_DATA"})")));
}

TEST(ConfigCommand, ShowsWhatAZeroStandsFor) {
  const Ran ran = RunKvarts({"config", "--limits-max-key-bytes", "4KiB", "--loops", "0"});
  EXPECT_THAT(ran.out, ContainsRegex("http.max_target_bytes +13KiB +default, by 0B\n"));
  EXPECT_THAT(ran.out, ContainsRegex("\nloops +[1-9][0-9]* +flag --loops, by 0\n"));
  EXPECT_THAT(ran.out, ContainsRegex("http.max_headers +100 +default\n"));
  EXPECT_THAT(RunKvarts({"config", "--http-max-target-bytes", "2KiB"}).out,
              ContainsRegex("http.max_target_bytes +2KiB +flag --http-max-target-bytes\n"));
  EXPECT_THAT(RunKvarts({"config", "--json"}).out,
              HasSubstr(R"("http.max_target_bytes":{"value":"0B","effective":"25KiB","origin":"default"})"));
}

TEST(ConfigCommand, SaysAllThatIsWrong) {
  const TempDir dir;
  const std::string file = WithFile(dir, "lopps = 3\nengine = \"x\"\n");
  const Ran ran = RunKvarts({"config", "--config", file});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "kvarts: the configuration is wrong:\n  " + file +
                         ":1: there is no such option: lopps; did you mean loops?\n  " + file +
                         ":2: engine: x: not one of the choices (rocksdb, memory, postgres)\n");
  EXPECT_EQ(RunKvarts({"config", "--tls-key", "k"}).err,
            "kvarts: the configuration is wrong:\n  tls.key: there is no tls.certificate\n");
  // What is wrong with a flag by itself is a wrong command line.
  EXPECT_EQ(RunKvarts({"config", "--loops", "many"}).code, 2);
  EXPECT_EQ(RunKvarts({"config", "--loops", "2000"}).code, 1);
}

TEST(ConfigCommand, ChecksAFileByItself) {
  const TempDir dir;
  const Variable loops("KVARTS_LOOPS", "many");
  const std::string good = WithFile(dir, "loops = 3\n");
  const Ran ok = RunKvarts({"config", "--check", good});
  EXPECT_EQ(ok.code, 0);
  EXPECT_EQ(ok.out, good + ": ok, 1 option set\n");
  const std::string bad = WithFile(dir, "loops = true\n");
  const Ran found = RunKvarts({"config", "--check", bad});
  EXPECT_EQ(found.code, 3);
  EXPECT_EQ(found.out, "the configuration is wrong:\n  " + bad + ":1: loops: true: not a number\n");
  EXPECT_EQ(RunKvarts({"config", "--check", dir / "missing"}).code, 3);
  EXPECT_EQ(RunKvarts({"config", "--check", bad, "--default"}).code, 2);
}

TEST(ConfigCommand, NotesVariablesThatWereProbablyMeant) {
  const Variable lops("KVARTS_LOPS", "3");
  const Ran ran = RunKvarts({"config"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.err, "kvarts: KVARTS_LOPS is no option; did you mean KVARTS_LOOPS?\n");
}

TEST(ConfigCommand, ThePackagedFileIsTheDefault) {
  EXPECT_EQ(ReadBytes(KVARTS_SOURCE_DIR "/packaging/kvarts.toml"), RunKvarts({"config", "--default"}).out)
      << "build/release/kvarts config --default > packaging/kvarts.toml";
}

TEST(ConfigCommand, EveryOptionIsAFlag) {
  // --config comes before those of the table.
  const auto flags = cli::ServerSyntaxOptions();
  ASSERT_EQ(flags.size(), OptionTable().size() + 1);
  const ServerOptions defaults;
  for (const Option& option : OptionTable()) {
    const cli::Syntax syntax = {.arguments = {}, .options = flags, .description = {}};
    std::vector<std::string> words;
    for (const std::string& word : option.Words(defaults)) words.insert(words.end(), {"--" + option.Flag(), word});
    const auto arguments = cli::ParseArguments(syntax, words);
    ASSERT_TRUE(arguments) << option.name << ": " << arguments.error();
    if (words.empty()) continue;
    const auto config = cli::LoadConfig(*arguments, nullptr);
    ASSERT_TRUE(config) << config.error();
    EXPECT_EQ(config->OriginOf(option).ToString(), "flag --" + option.Flag());
  }
}

}  // namespace
}  // namespace kvarts::test
