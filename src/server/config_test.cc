#include "server/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "server/toml_file.h"
#include "support/temp_dir.h"

namespace kvarts {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ConfigTest : public testing::Test {
 protected:
  // Names a file with this text.
  void File(const std::string& text) {
    sources_.file = dir_ / "kvarts.toml";
    std::ofstream(*sources_.file) << text;
  }

  LoadedConfig Loaded() {
    Result<LoadedConfig> loaded = LoadConfig(sources_);
    EXPECT_TRUE(loaded) << loaded.error();
    return loaded.has_value() ? *loaded : LoadedConfig{};
  }

  // The problems, with the file's name cut down to F.
  std::vector<std::string> Problems() {
    const Result<LoadedConfig> loaded = LoadConfig(sources_);
    std::vector<std::string> lines;
    if (loaded.has_value()) return lines;
    std::stringstream text{std::string(loaded.error().field("problems"))};
    for (std::string line; std::getline(text, line);) {
      const std::string path = dir_ / "kvarts.toml";
      if (const size_t at = line.find(path); at != std::string::npos) line.replace(at, path.size(), "F");
      lines.push_back(line);
    }
    return lines;
  }

  std::string OriginOf(const LoadedConfig& loaded, std::string_view name) {
    return loaded.OriginOf(*FindOption(name)).ToString();
  }

  test::TempDir dir_;
  ConfigSources sources_;
};

TEST_F(ConfigTest, DefaultsAreThoseOfTheStruct) {
  const LoadedConfig loaded = Loaded();
  EXPECT_THAT(loaded.options.listen, ElementsAre("127.0.0.1:7700"));
  EXPECT_EQ(loaded.options.http.max_body_bytes, 64U << 20);
  EXPECT_EQ(loaded.options.durability, Durability::kSync);
  for (const Option& option : OptionTable()) EXPECT_EQ(loaded.OriginOf(option).ToString(), "default") << option.name;
  EXPECT_THAT(ConfigProblems(ServerOptions{}), IsEmpty());
}

TEST_F(ConfigTest, EachOriginWinsOverThoseBelow) {
  // In the order of their strength; every pair of them is tried, and all.
  const std::vector<std::string> values = {"1MiB", "2MiB", "3MiB"};
  const std::vector<std::string> origins = {"file " + (dir_ / "kvarts.toml") + ":2",
                                            "environment KVARTS_HTTP_MAX_BODY_BYTES", "flag --http-max-body-bytes"};
  for (unsigned given = 0; given < 8; ++given) {
    sources_ = {};
    if ((given & 1) != 0) File("[http]\nmax_body_bytes = \"1MiB\"\n");
    if ((given & 2) != 0) sources_.environment["KVARTS_HTTP_MAX_BODY_BYTES"] = "2MiB";
    if ((given & 4) != 0) sources_.flags["http-max-body-bytes"] = {"3MiB"};
    const LoadedConfig loaded = Loaded();
    const size_t strongest = given >= 4 ? 2 : given >= 2 ? 1 : 0;
    EXPECT_EQ(loaded.options.http.max_body_bytes, given == 0 ? 64U << 20 : (strongest + 1) << 20) << given;
    EXPECT_EQ(OriginOf(loaded, "http.max_body_bytes"), given == 0 ? "default" : origins[strongest]) << given;
    EXPECT_EQ(OriginOf(loaded, "http.max_head_bytes"), "default");
  }
}

TEST_F(ConfigTest, ListsAreReplacedAndNotJoined) {
  File("listen = [\"127.0.0.1:1\", \"unix:/run/k\"]\n");
  EXPECT_THAT(Loaded().options.listen, ElementsAre("127.0.0.1:1", "unix:/run/k"));
  sources_.environment["KVARTS_LISTEN"] = "127.0.0.1:2,[::1]:2";
  EXPECT_THAT(Loaded().options.listen, ElementsAre("127.0.0.1:2", "[::1]:2"));
  sources_.flags["listen"] = {"127.0.0.1:3"};
  EXPECT_THAT(Loaded().options.listen, ElementsAre("127.0.0.1:3"));
  // One address may stand without brackets, and no origins is a list too.
  sources_ = {};
  File("listen = \"127.0.0.1:1\"\n[http]\ncors_origins = []\n");
  EXPECT_THAT(Loaded().options.listen, ElementsAre("127.0.0.1:1"));
  EXPECT_EQ(OriginOf(Loaded(), "http.cors_origins"), "file " + (dir_ / "kvarts.toml") + ":3");
}

TEST_F(ConfigTest, TheFileIsNamedByFlagOrEnvironment) {
  EXPECT_EQ(Loaded().file, "");
  File("loops = 3\n");
  const std::string path = *sources_.file;
  sources_.file.reset();
  sources_.environment["KVARTS_CONFIG"] = path;
  EXPECT_EQ(Loaded().options.loops, 3U);
  std::ofstream(dir_ / "other.toml") << "loops = 4\n";
  sources_.file = dir_ / "other.toml";
  EXPECT_EQ(Loaded().options.loops, 4U);
  EXPECT_EQ(Loaded().file, dir_ / "other.toml");

  sources_.file = dir_ / "missing.toml";
  EXPECT_THAT(Problems(),
              ElementsAre(AllOf(HasSubstr("missing.toml: the configuration file cannot be read: No such"))));
  sources_.file = dir_.path().string();
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("the configuration file cannot be read")));
  sources_.file = "";
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("cannot be read")));
  sources_.file = dir_ / "large.toml";
  std::ofstream(*sources_.file) << std::string(kMaxConfigBytes, '#');
  EXPECT_THAT(Problems(), IsEmpty());
  std::ofstream(*sources_.file) << std::string(kMaxConfigBytes + 1, '#');
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("the configuration file is too large")));
}

TEST_F(ConfigTest, EveryTypeIsReadFromAFile) {
  File(R"(data = "/var/lib/kvarts"
engine = "memory"
loops = 2
memory_budget = 67108864
sync_interval = "250ms"
drain_timeout = 5
hot_cache = "1MiB"
[metrics]
enabled = false
[tls]
min_version = "1.3"
[log]
level = "debug"
)");
  const ServerOptions options = Loaded().options;
  EXPECT_EQ(options.data, "/var/lib/kvarts");
  EXPECT_EQ(options.engine, EngineKind::kMemory);
  EXPECT_EQ(options.loops, 2U);
  EXPECT_EQ(options.memory_budget, 64U << 20);
  EXPECT_EQ(options.sync_interval, Duration::Millis(250));
  EXPECT_EQ(options.drain_timeout, Duration::Seconds(5));
  EXPECT_FALSE(options.metrics_enabled);
  EXPECT_EQ(options.tls.min_version, TlsVersion::k13);
  EXPECT_EQ(options.log_level, LogLevel::kDebug);
}

TEST_F(ConfigTest, SaysEverythingThatIsWrongAtOnce) {
  File(R"(lopps = 2
engine = "rockdsb"
loops = -1
memory_budget = "7MiB"
sync_interval = "5x"
data = ["a", "b"]
durability = "quorums"
worker_threads = 1.5
max_body_bytes = 1
[http]
idle_timeout = 1979-05-27
[metrics]
enabled = "yes"
[htpp]
max_headers = 5
[nonsense]
)");
  sources_.environment["KVARTS_LOOPS"] = "many";
  sources_.flags["http-max-headers"] = {"7"};
  EXPECT_THAT(
      Problems(),
      ElementsAre("F:1: there is no such option: lopps; did you mean loops?",
                  "F:2: engine: rockdsb: not one of the choices (rocksdb, memory, postgres); did you mean rocksdb?",
                  "F:3: loops: -1: not a number",
                  "F:4: memory_budget: 7MiB: the value is too small (from 8MiB to 64TiB)",
                  "F:5: sync_interval: 5x: not a duration; write 60, 500ms, 5m, 2h or 7d",
                  "F:6: data: takes one value, not a list",
                  "F:7: durability: quorums: not one of the choices (none, interval, sync, quorum, applied); did you "
                  "mean quorum?",
                  "F:8: worker_threads: not a value that an option takes; texts stand in quotes",
                  "F:9: there is no such option: max_body_bytes; did you mean http.max_body_bytes?",
                  "F:11: http.idle_timeout: not a value that an option takes; texts stand in quotes",
                  "F:13: metrics.enabled: yes: not one of the choices (true, false)",
                  "F:15: there is no such option: htpp.max_headers; did you mean http.max_headers?",
                  "F:16: there is no such option: nonsense", "KVARTS_LOOPS: loops: many: not a number",
                  "--http-max-headers: http.max_headers: 7: the value is too small (from 8 to 10000)"));
}

TEST_F(ConfigTest, WhatIsNoTomlIsSaidWithItsLine) {
  File("loops = 1\ndata = \n");
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("F:2: the file is not TOML; ")));
  File("loops = 1\nloops = 2\n");
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("F:2: the file is not TOML; ")));
  File(std::string("a\0b", 3));
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("F:1: the file is not TOML; ")));
  File("data = \"\xff\"\n");
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("F:1: the file is not TOML; ")));
  std::string deep;
  for (int i = 0; i < 10'000; ++i) deep.append("[");
  File("listen = " + deep);
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("F:1: the file is not TOML; ")));
  File("http = 5\nlisten.x = 1\n");
  EXPECT_THAT(Problems(), ElementsAre(HasSubstr("F:1: there is no such option: http;"),
                                      "F:2: there is no such option: listen.x; did you mean listen?"));
}

TEST_F(ConfigTest, AWrongValueIsWrongEvenWhereItDoesNotCount) {
  File("loops = \"many\"\n");
  sources_.flags["loops"] = {"2"};
  EXPECT_THAT(Problems(), ElementsAre("F:1: loops: many: not a number"));
}

TEST_F(ConfigTest, VariablesThatAreAlmostOptionsAreNoted) {
  sources_.environment = {{"KVARTS_LOPS", "2"}, {"KVARTS_LONG", "1"}, {"KVARTS_LOOPS", "3"}, {"HOME", "/"}};
  EXPECT_THAT(Loaded().notes, ElementsAre("KVARTS_LOPS is no option; did you mean KVARTS_LOOPS?"));
}

TEST_F(ConfigTest, OptionsAreHeldAgainstEachOther) {
  const auto problems = [](void (*change)(ServerOptions&)) {
    ServerOptions options;
    change(options);
    return ConfigProblems(options);
  };
  EXPECT_THAT(problems([](ServerOptions& o) { o.tls.key = "k"; }), ElementsAre("tls.key: there is no tls.certificate"));
  EXPECT_THAT(problems([](ServerOptions& o) { o.tls.certificate = "c"; }),
              ElementsAre("tls.certificate: there is no tls.key"));
  EXPECT_THAT(problems([](ServerOptions& o) { o.tls.client_ca = "c"; }),
              ElementsAre("tls.client_ca: there is no tls.certificate"));
  EXPECT_THAT(problems([](ServerOptions& o) { o.tls = {.certificate = "c", .key = "k", .client_ca = "a"}; }),
              IsEmpty());
  EXPECT_THAT(problems([](ServerOptions& o) { o.scan.tombstones_warn = 100'000; }), IsEmpty());
  EXPECT_THAT(problems([](ServerOptions& o) { o.scan.tombstones_warn = 100'001; }),
              ElementsAre("scan.tombstones_warn: 100001 exceeds scan.tombstones_fail, which is 100000"));
  EXPECT_THAT(problems([](ServerOptions& o) { o.http.max_body_bytes = 1 << 30; }),
              ElementsAre("http.max_body_bytes: 1GiB exceeds http.max_inflight_bytes, which is 256MiB"));
  EXPECT_THAT(problems([](ServerOptions& o) { o.http.max_target_bytes = 41 << 10; }),
              ElementsAre("http.max_target_bytes: 41KiB exceeds http.max_head_bytes, which is 40KiB"));
  EXPECT_THAT(problems([](ServerOptions& o) { o.listen = {}; }), ElementsAre("listen: there is no address"));
  EXPECT_THAT(problems([](ServerOptions& o) { o.listen = {"127.0.0.1:0", "127.0.0.1:0"}; }), IsEmpty());
  EXPECT_THAT(problems([](ServerOptions& o) {
                o.listen = {"127.0.0.1:1", "localhost:1", "nowhere"};
              }),
              ElementsAre("listen: localhost:1: given twice",
                          "listen: nowhere: an address is host:port, [host]:port or unix:/path"));
  EXPECT_THAT(problems([](ServerOptions& o) { o.data.clear(); }), ElementsAre("data: there is no directory"));
  EXPECT_THAT(problems([](ServerOptions& o) { o.durability = Durability::kQuorum; }),
              ElementsAre("durability: quorum: only the postgres engine has replicas that can promise it"));
  EXPECT_THAT(problems([](ServerOptions& o) { o.engine = EngineKind::kPostgres; }),
              ElementsAre("shards: the postgres engine needs the file that names its servers"));
  EXPECT_THAT(problems([](ServerOptions& o) { o.http.cors_origins = {"*", "https://example.org:8443"}; }), IsEmpty());
  for (const char* wrong : {"example.org", "https://", "://a", "https://a/b", "https://a b", "https://a\nb", ""}) {
    ServerOptions options;
    options.http.cors_origins = {wrong};
    EXPECT_EQ(ConfigProblems(options).size(), 1U) << wrong;
  }
}

TEST_F(ConfigTest, TheDefaultFileChangesNothingWithOrWithoutItsComments) {
  const std::string text = DefaultConfigFile();
  File(text);
  const LoadedConfig commented = Loaded();
  for (const Option& option : OptionTable()) EXPECT_EQ(commented.OriginOf(option).ToString(), "default") << option.name;
  std::string plain;
  std::stringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    // Comments for people have a blank behind the sign.
    const bool option = line.starts_with('#') && line.size() > 1 && line[1] != ' ';
    plain.append(option ? line.substr(1) : line).append("\n");
  }
  File(plain);
  const LoadedConfig all = Loaded();
  for (const Option& option : OptionTable()) {
    EXPECT_EQ(all.OriginOf(option).kind, Origin::Kind::kFile) << option.name;
    EXPECT_EQ(option.Text(all.options), option.Text(ServerOptions{})) << option.name;
  }
}

TEST(EnvironmentOf, TakesABlockApart) {
  const char* const block[] = {"A=1", "B=", "C=x=y", "nonsense", nullptr};
  const auto environment = EnvironmentOf(block);
  EXPECT_EQ(environment.size(), 3U);
  EXPECT_EQ(environment.at("C"), "x=y");
  EXPECT_TRUE(EnvironmentOf(nullptr).empty());
}

}  // namespace
}  // namespace kvarts
