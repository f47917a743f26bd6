// /metrics, /stats and /hotkeys of a running server, what is logged about requests, and the alert rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

#include "encoding/json_reader.h"
#include "protocol/common/prometheus.h"
#include "support/exposition.h"
#include "support/files.h"
#include "support/observed_server.h"
#include "support/temp_dir.h"

namespace kvarts::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSubsetOf;
using testing::Not;
using testing::SizeIs;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kBatches = 10;
#else
constexpr size_t kBatches = 100;
#endif

Exposition Scrape(ObservedServer& server) {
  auto read = ParseExposition(server.Get("/metrics"));
  EXPECT_TRUE(read) << read.error();
  return read ? *std::move(read) : Exposition();
}

void Declare(ObservedServer& server, const std::string& name, const std::string& grammar) {
  const auto catalog = Catalog::Open(server.server().store());
  ASSERT_TRUE(catalog);
  NamespaceSpec spec;
  spec.name = name;
  spec.grammar = Grammar::Parse(grammar).value();
  const auto declared = (*catalog)->Declare(std::move(spec));
  ASSERT_TRUE(declared) << declared.error();
}

TEST(Metrics, FollowTheRulesOfTheFormat) {
  ObservedServer server;
  server.Put("user:1");
  const HttpAnswer answer = server.Ask("GET", "/metrics");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.Header("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  const auto read = ParseExposition(answer.body);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->families.at("kvarts_request_duration_seconds").type, "histogram");
  EXPECT_EQ(read->Value("kvarts_build_info", {{"version", KVARTS_VERSION}}), 1);
}

TEST(Metrics, AreOpenMetricsIfAskedFor) {
  ObservedServer server;
  const HttpAnswer answer =
      server.Ask("GET", "/metrics", {}, {{"Accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"}});
  EXPECT_EQ(answer.Header("Content-Type"), "application/openmetrics-text; version=1.0.0; charset=utf-8");
  const auto read = ParseExposition(answer.body, true);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->families.at("kvarts_commits").type, "counter");
}

TEST(Metrics, CountWhatRequestsDo) {
  ObservedServer server;
  for (int i = 0; i < 3; ++i) server.Put("user:" + std::to_string(i), "12345");
  EXPECT_EQ(server.Ask("GET", "/keys/user:1").status, 200);
  EXPECT_EQ(server.Ask("GET", "/keys/nobody").status, 404);
  EXPECT_EQ(server.Ask("GET", "/keys?prefix=user:").status, 200);
  const Exposition metrics = Scrape(server);
  const auto count = [&](const char* operation) {
    return metrics.Value("kvarts_request_duration_seconds_count", {{"operation", operation}});
  };
  EXPECT_EQ(count("get"), 2);
  EXPECT_EQ(count("commit"), 3);
  EXPECT_EQ(count("scan"), 1);
  EXPECT_EQ(metrics.Value("kvarts_http_responses_total", {{"code", "2xx"}}), 5);
  EXPECT_EQ(metrics.Value("kvarts_http_responses_total", {{"code", "4xx"}}), 1);
  EXPECT_EQ(metrics.Value("kvarts_written_keys_total"), 3);
  EXPECT_EQ(metrics.Value("kvarts_http_request_body_bytes_total"), 15);
  EXPECT_GT(metrics.Value("kvarts_http_sent_bytes_total"), 100);
  EXPECT_GE(metrics.Value("kvarts_connections"), 1);
  // By the names that Prometheus' own libraries give them.
  EXPECT_GT(metrics.Value("process_resident_memory_bytes"), 1 << 20);
  EXPECT_GT(metrics.Value("process_virtual_memory_bytes"), metrics.Value("process_resident_memory_bytes"));
  EXPECT_GE(metrics.Value("process_cpu_seconds_total"), 0);
  EXPECT_GT(metrics.Value("process_open_fds"), 3);
  EXPECT_GT(metrics.Value("process_max_fds"), metrics.Value("process_open_fds"));
  EXPECT_GT(metrics.Value("process_start_time_seconds"), 1'700'000'000);
  EXPECT_GT(metrics.Value("kvarts_tracked_rate", {{"operation", "write"}}), 0);
  EXPECT_EQ(metrics.Value("kvarts_partition_keys", {{"rank", "1"}}), 3);
  EXPECT_EQ(metrics.Value("kvarts_writable"), 1);
}

TEST(Metrics, CountByNamespace) {
  ObservedServer server;
  Declare(server, "users", "user/<id>");
  server.Put("user/1");
  server.Put("user/2");
  server.Put("free");
  EXPECT_EQ(server.Ask("GET", "/keys/user/1").status, 200);
  EXPECT_EQ(server.Ask("GET", "/keys/user/9").status, 404);
  EXPECT_EQ(server.Ask("GET", "/keys?prefix=user/").status, 200);
  EXPECT_EQ(server.Ask("POST", "/keys/get", R"({"keys":["user/1","free"]})").status, 200);
  EXPECT_EQ(server
                .Ask("POST", "/commit",
                     R"({"mutations":[{"op":"put","key":"user/3","value":"x"},)"
                     R"({"op":"delete_range","prefix":"user/4"}]})")
                .status,
            200);
  const Exposition metrics = Scrape(server);
  const auto answers = [&](const char* name, const char* code) {
    return metrics.Value("kvarts_namespace_responses_total", {{"namespace", name}, {"code", code}});
  };
  EXPECT_EQ(answers("users", "2xx"), 5);
  EXPECT_EQ(answers("users", "4xx"), 1);
  EXPECT_EQ(answers("(none)", "2xx"), 1);
  EXPECT_EQ(answers("(several)", "2xx"), 1);
  EXPECT_EQ(metrics.Value("kvarts_namespace_written_keys_total", {{"namespace", "(none)"}}), 1);
  EXPECT_EQ(
      metrics.Value("kvarts_namespace_request_duration_seconds_count", {{"namespace", "users"}, {"operation", "scan"}}),
      1);
  EXPECT_EQ(metrics.Value("kvarts_namespaces"), 1);
}

TEST(Metrics, WidePartitionsAreThoseThatNamespacesDeclare) {
  ObservedServer server;
  Declare(server, "events", "t/<tenant>/event/<id>");
  for (int i = 0; i < 30; ++i) server.Put("t/large/event/" + std::to_string(i), std::string(1000, 'x'));
  for (int i = 0; i < 3; ++i) server.Put("t/small/event/" + std::to_string(i));
  const std::string stats = server.Get("/stats");
  const size_t large = stats.find(R"({"prefix":"t/large/","bytes":)");
  const size_t small = stats.find(R"({"prefix":"t/small/","bytes":)");
  EXPECT_NE(large, std::string::npos) << stats;
  EXPECT_NE(small, std::string::npos);
  EXPECT_LT(large, small);
  const std::string text = server.Get("/metrics");
  EXPECT_THAT(text, HasSubstr("kvarts_partition_keys{rank=\"1\"} 30\n"));
  EXPECT_THAT(text, HasSubstr("kvarts_partition_keys{rank=\"2\"} 3\n"));
  EXPECT_THAT(text, Not(HasSubstr("large")));
}

// A million keys of a hundred thousand prefixes, and more namespaces than get a place of their own.
TEST(Metrics, StayBoundedWhateverTheKeys) {
  ObservedServer server;
  for (int i = 0; i < 80; ++i) Declare(server, "n" + std::to_string(i), "n" + std::to_string(i) + "/<id>");
  for (size_t batch = 0; batch < kBatches; ++batch) {
    std::string body = R"({"keys":[)";
    for (size_t i = 0; i < 10'000; ++i) {
      const size_t n = batch * 10'000 + i;
      body += fmt::format(R"({}"{}{}:{}/{}")", i == 0 ? "" : ",",
                          batch % 2 == 0 ? "k"
                          : i % 2 == 0   ? "n7/"
                                         : "n8/",
                          n / 10, n, n * 7919);
    }
    ASSERT_EQ(server.Ask("POST", "/keys/get", body + "]}").status, 200);
  }
  for (int i = 0; i < 80; ++i) {
    for (int j = 0; j < 20; ++j) server.Put(fmt::format("n{}/{}%0a%22{}", i, i * j, j));
  }
  EXPECT_EQ(server.Ask("GET", "/nowhere/1").status, 404);
  EXPECT_EQ(server.Ask("BREW", "/keys/1").status, 405);
  const Exposition metrics = Scrape(server);
  EXPECT_EQ(metrics.Value("kvarts_read_keys_total"), static_cast<double>(kBatches * 10'000));
  auto labels = metrics.LabelValues();
  EXPECT_THAT(labels["namespace"], AllOf(SizeIs(67), Contains("(other)"), Contains("(none)")));
  EXPECT_THAT(labels["rank"], IsSubsetOf({"1", "2", "3", "4", "5", "6", "7", "8"}));
  EXPECT_THAT(labels["operation"], IsSubsetOf({"get", "scan", "commit", "other", "read", "write"}));
  EXPECT_THAT(labels["code"], IsSubsetOf({"1xx", "2xx", "3xx", "4xx", "5xx"}));
  EXPECT_LT(labels["le"].size(), 60U);
  for (const std::string name :
       {"namespace", "rank", "operation", "code", "le", "version", "state", "of", "profile", "kind", "outcome"}) {
    labels.erase(name);
  }
  EXPECT_THAT(labels, IsEmpty());
  EXPECT_LT(metrics.Series(), 4'500U);
}

TEST(Metrics, CanBeSwitchedOff) {
  ServerOptions options = ObservedServer::Options();
  options.metrics_enabled = false;
  options.hotkeys_enabled = false;
  ObservedServer server(options);
  server.Put("user:1");
  EXPECT_EQ(server.Ask("GET", "/metrics").status, 404);
  EXPECT_EQ(server.Ask("GET", "/hotkeys").status, 404);
  EXPECT_EQ(server.Ask("GET", "/stats").status, 200);
}

TEST(Metrics, TakeNoParameters) {
  ObservedServer server;
  EXPECT_EQ(server.Ask("GET", "/metrics?name=x").status, 400);
  EXPECT_EQ(server.Ask("GET", "/stats?x").status, 400);
  EXPECT_EQ(server.Ask("POST", "/metrics").status, 405);
}

TEST(Metrics, OfARealEngineAreThereToo) {
  const TempDir dir;
  ServerOptions options = ObservedServer::Options();
  options.engine = EngineKind::kRocksdb;
  options.data = dir / "data";
  options.durability = Durability::kSync;
  ObservedServer server(options);
  server.Put("user:1");
  EXPECT_EQ(server.Ask("GET", "/keys/user:1").status, 200);
  const Exposition metrics = Scrape(server);
  EXPECT_GE(metrics.Value("kvarts_wal_sync_seconds_count"), 1);
  EXPECT_GE(metrics.Value("kvarts_commit_group_size_count"), 1);
  EXPECT_GT(metrics.Value("kvarts_disk_free_bytes"), 0);
  EXPECT_GE(metrics.Value("kvarts_keys", {{"profile", "lookup"}}), 1);
  EXPECT_EQ(metrics.Value("kvarts_background_total", {{"profile", "lookup"}, {"kind", "flush"}}), 0);
}

TEST(Stats, HaveEngineAndServer) {
  ObservedServer server;
  server.Put("user:1");
  const std::string stats = server.Get("/stats");
  JsonReader json(stats);
  std::set<std::string> names;
  json.Object([&](std::string_view name) { names.emplace(name); });
  ASSERT_TRUE(json.Finish()) << stats;
  for (const char* name :
       {"levels", "profiles", "write_amplification", "commit_path", "read_path", "pressure", "server"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  for (const std::string part :
       {R"("engine":"memory")", R"("loops":2)", R"("connections":{"open":)", R"("latency":{"get":{"count":0,)",
        R"("jobs":{"queued":0,)", R"("answers":{"1xx":0,"2xx":1,)"}) {
    EXPECT_THAT(stats, HasSubstr(part));
  }
}

TEST(HotKeysOverHttp, AreOrderedAsAsked) {
  ObservedServer server;
  for (int i = 0; i < 20; ++i) server.Put("user:written", std::string(10, 'x'));
  server.Put("user:large", std::string(10'000, 'x'));
  server.Put("user:read");
  for (int i = 0; i < 30; ++i) EXPECT_EQ(server.Ask("GET", "/keys/user:read").status, 200);
  EXPECT_THAT(server.Get("/hotkeys"), testing::StartsWith(R"({"keys":[{"key":"user:read",)"));
  EXPECT_THAT(server.Get("/hotkeys?by=writes"), testing::StartsWith(R"({"keys":[{"key":"user:written",)"));
  EXPECT_THAT(server.Get("/hotkeys?by=bytes"), testing::StartsWith(R"({"keys":[{"key":"user:large",)"));
  const std::string one = server.Get("/hotkeys?by=writes&limit=1");
  EXPECT_THAT(one, Not(HasSubstr("user:read")));
  EXPECT_THAT(one, HasSubstr(R"("prefixes":[{"key":"user:",)"));
  EXPECT_EQ(server.Ask("GET", "/hotkeys?by=size").status, 400);
  EXPECT_EQ(server.Ask("GET", "/hotkeys?limit=0").status, 400);
  EXPECT_EQ(server.Ask("GET", "/hotkeys?limit=501").status, 400);
}

TEST(HotKeysOverHttp, AreGroupedByNamespace) {
  ObservedServer server;
  server.Put("free");
  EXPECT_THAT(server.Get("/hotkeys?by=writes"), HasSubstr(R"("namespaces":[])")) << "there are none";
  ASSERT_EQ(server.Ask("PUT", "/namespaces/cases", R"({"grammar":"case/<id>"})").status, 200);
  ASSERT_EQ(server.Ask("PUT", "/namespaces/users", R"({"grammar":"user/<id>"})").status, 200);
  for (int i = 0; i < 20; ++i) server.Put("case/" + std::to_string(i));
  for (int i = 0; i < 10; ++i) server.Put("user/1");
  server.Put("free");
  const std::string all = server.Get("/hotkeys?by=writes");
  EXPECT_THAT(all,
              testing::ContainsRegex(R"re("namespaces":\[\{"name":"cases",.*"name":"users",.*"name":"\(none\)",)re"));
  EXPECT_THAT(all, HasSubstr(R"({"key":"user/1","namespace":"users",)"));
  EXPECT_THAT(all, HasSubstr(R"-({"key":"free","namespace":"(none)",)-"));
  const std::string one = server.Get("/hotkeys?by=writes&namespace=cases");
  EXPECT_THAT(one, HasSubstr(R"({"key":"case/7","namespace":"cases",)"));
  EXPECT_THAT(one, Not(HasSubstr("user/1")));
  EXPECT_THAT(one, Not(HasSubstr("\"free\"")));
  EXPECT_THAT(server.Get("/hotkeys?by=writes&namespace=(none)"), HasSubstr("\"free\""));
}

TEST(HotKeysOverHttp, KeysAreBytes) {
  ObservedServer server;
  server.Put("%ff%00");
  EXPECT_THAT(server.Get("/hotkeys?by=writes"), HasSubstr(R"({"key_base64":"/wA=",)"));
}

TEST(SlowRequests, AreLoggedWithoutTheirKey) {
  KeptLog log;
  ServerOptions options = ObservedServer::Options();
  options.slow_request = Duration::Micros(1);
  ObservedServer server(options);
  Declare(server, "users", "user/<id>");
  EXPECT_EQ(server
                .Ask("GET", "/keys/user/secret", {},
                     {{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}})
                .status,
            404);
  const std::vector<std::string> entries = log.Entries("a request was slow");
  ASSERT_THAT(entries, SizeIs(1));
  for (const std::string part : {"method=GET", "route=/keys/{key}", "namespace=users", "ms=", "status=404",
                                 "trace=0af7651916cd43dd8448eb211c80319c", "keys_read=1", "not_logged=0"}) {
    EXPECT_THAT(entries[0], HasSubstr(part));
  }
  EXPECT_THAT(entries[0], Not(HasSubstr("secret")));
  EXPECT_GE(Scrape(server).Value("kvarts_slow_requests_total"), 1);
}

TEST(SlowRequests, DoNotFloodTheLog) {
  KeptLog log;
  ServerOptions options = ObservedServer::Options();
  options.slow_request = Duration::Micros(1);
  ObservedServer server(options);
  for (int i = 0; i < 200; ++i) server.Put("user:1");
  // Ten a second and loop; the requests may have met two seconds.
  EXPECT_LE(log.Entries("a request was slow").size(), 50U);
  EXPECT_GE(Scrape(server).Value("kvarts_slow_requests_total"), 200);
}

TEST(SlowRequests, FastOnesAreNotLogged) {
  KeptLog log;
  ServerOptions options = ObservedServer::Options();
  options.slow_request = Duration::Seconds(60);
  ObservedServer server(options);
  server.Put("user:1");
  EXPECT_THAT(log.Entries("a request was slow"), IsEmpty());
}

TEST(Tombstones, ManyAreSaidAndLogged) {
  KeptLog log;
  const TempDir dir;
  ServerOptions options = ObservedServer::Options();
  options.engine = EngineKind::kRocksdb;
  options.data = dir / "data";
  options.scan.tombstones_warn = 10;
  options.scan.tombstones_fail = 100;
  ObservedServer server(options);
  const auto make = [&](int tombstones) {
    for (int i = 0; i < tombstones; ++i) {
      const std::string key = fmt::format("gone:{:03}", i);
      server.Put(key);
      EXPECT_EQ(server.Ask("DELETE", "/keys/" + key).status, 200);
    }
  };
  make(10);
  EXPECT_FALSE(server.Ask("GET", "/keys?prefix=gone:").Has("Kvarts-Warning"));
  make(11);
  const HttpAnswer warned = server.Ask("GET", "/keys?prefix=gone:");
  EXPECT_EQ(warned.status, 200);
  const std::string warning = warned.Header("Kvarts-Warning");
  ASSERT_THAT(warning, testing::MatchesRegex("tombstones=[0-9]+"));
  const std::string skipped = warning.substr(warning.find('=') + 1);
  EXPECT_GT(std::stoi(skipped), 10);
  const std::vector<std::string> entries = log.Entries("a request stepped over many tombstones");
  ASSERT_THAT(entries, SizeIs(1));
  EXPECT_THAT(entries[0], AllOf(HasSubstr("route=/keys "), HasSubstr("skipped=" + skipped)));
  EXPECT_EQ(Scrape(server).Value("kvarts_tombstone_warnings_total"), 1);
}

std::string FileText(const std::string& path) { return ReadBytes(KVARTS_SOURCE_DIR "/" + path); }
std::string RulesText() { return FileText("packaging/prometheus/kvarts-alerts.yml"); }

TEST(AlertRules, NameMetricsThatThereAre) {
  const TempDir dir;
  ServerOptions options = ObservedServer::Options();
  options.engine = EngineKind::kRocksdb;
  options.data = dir / "data";
  ObservedServer server(options);
  Declare(server, "users", "user/<id>/<part>");
  server.Put("user/1/x");
  const std::vector<std::string> exposed = Scrape(server).Names();
  const std::regex name("\\b(kvarts|process)_[a-z0-9_]+");
  for (const std::string& text : {RulesText(), FileText("docs/observability.md")}) {
    size_t named = 0;
    for (std::sregex_iterator it(text.begin(), text.end(), name); it != std::sregex_iterator(); ++it, ++named) {
      EXPECT_THAT(exposed, Contains(it->str()));
    }
    EXPECT_GT(named, 30U);
  }
}

TEST(AlertRules, EachSaysWhatToDo) {
  const std::string rules = RulesText();
  const auto count = [&](const std::string& part) {
    size_t found = 0;
    for (size_t at = rules.find(part); at != std::string::npos; at = rules.find(part, at + 1)) ++found;
    return found;
  };
  const size_t alerts = count("- alert: ");
  EXPECT_GE(alerts, 15U);
  for (const char* part :
       {"\n          summary: ", "\n          description: ", "\n          action: ", "severity: "}) {
    EXPECT_EQ(count(part), alerts) << part;
  }
}

TEST(AlertRules, AreTakenByPrometheus) {
  if (std::system("command -v promtool > /dev/null") != 0) GTEST_SKIP() << "promtool is not installed";
  EXPECT_EQ(std::system("promtool check rules " KVARTS_SOURCE_DIR "/packaging/prometheus/kvarts-alerts.yml"), 0);
  const TempDir dir;
  ObservedServer server;
  server.Put("user:1");
  std::ofstream(dir / "metrics") << server.Get("/metrics");
  EXPECT_EQ(std::system(("promtool check metrics < " + (dir / "metrics")).c_str()), 0);
}

}  // namespace
}  // namespace kvarts::test
