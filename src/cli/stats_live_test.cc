#include "cli/stats_live.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/text.h"

namespace kvarts::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// As the server says it, with these figures.
std::string StatsText(double time, int gets, const std::string& at_most, const std::string& more = "") {
  return fmt::format(
      R"({{"pressure":0.75,"writable":true,"not_writable_because":"","keys_estimate":1234567,"hot_values":{{"hits":{},"misses":10}},)"
      R"("server":{{"version":"1.2.3","engine":"rocksdb","time":{},"uptime_seconds":7500.0,"connections":{{"open":64}},)"
      R"("process":{{"cpu_seconds":{},"resident_bytes":1048576}},)"
      R"("requests":{{"boundaries":[0.001,0.002,0.004],"latency":{{"get":{{"count":{},"at_most":[{}]}}}},)"
      R"("answers":{{"2xx":{},"5xx":0}},"bytes_read":{}}}{}}}}})",
      gets * 3, time, time / 2, gets, at_most, gets, gets * 1024, more);
}

StatsSnapshot Snapshot(double time, int gets, const std::string& at_most) {
  auto parsed = StatsSnapshot::Parse(StatsText(time, gets, at_most));
  EXPECT_TRUE(parsed) << parsed.error();
  return parsed ? *std::move(parsed) : StatsSnapshot();
}

TEST(StatsSnapshot, FindsFiguresByTheirWay) {
  const StatsSnapshot snapshot = Snapshot(100, 7, "1,2,3");
  EXPECT_EQ(snapshot.Number("server.requests.latency.get.at_most.1"), 2);
  EXPECT_EQ(snapshot.Count("keys_estimate"), 1234567U);
  EXPECT_EQ(snapshot.Text("server.version"), "1.2.3");
  EXPECT_TRUE(snapshot.Is("writable"));
  EXPECT_EQ(snapshot.Number("server.requests.nothing"), 0);
  EXPECT_EQ(snapshot.Text("server"), "");
}

TEST(StatsSnapshot, RefusesWhatIsNoJson) {
  EXPECT_FALSE(StatsSnapshot::Parse(""));
  EXPECT_FALSE(StatsSnapshot::Parse("{\"a\":1"));
  EXPECT_FALSE(StatsSnapshot::Parse("<html>"));
  EXPECT_FALSE(StatsSnapshot::Parse(std::string(100'000, '[')));
  EXPECT_TRUE(StatsSnapshot::Parse("{}"));
}

TEST(QuantileBetween, IsOfWhatHappenedInBetween) {
  const StatsSnapshot before = Snapshot(100, 1000, "1000,1000,1000");  // all fast
  const StatsSnapshot now = Snapshot(101, 1100, "1000,1050,1100");     // then 50 slow and 50 slower
  EXPECT_DOUBLE_EQ(*QuantileBetween(now, before, "get", 0.5), 0.002);
  EXPECT_DOUBLE_EQ(*QuantileBetween(now, before, "get", 0.25), 0.0015);
  EXPECT_DOUBLE_EQ(*QuantileBetween(now, before, "get", 1), 0.004);
  EXPECT_EQ(QuantileBetween(now, now, "get", 0.5), std::nullopt);
  EXPECT_EQ(QuantileBetween(now, before, "scan", 0.5), std::nullopt);
  // Beyond the last boundary nothing more is known.
  EXPECT_DOUBLE_EQ(*QuantileBetween(Snapshot(101, 1100, "1000,1000,1000"), before, "get", 0.5), 0.004);
}

TEST(RenderLive, ShowsRatesBetweenTwoLooks) {
  const std::string text =
      RenderLive(Snapshot(102, 3000, "2000,3000,3000"), Snapshot(100, 1000, "1000,1000,1000"), 100);
  EXPECT_THAT(text, StartsWith("Kvarts 1.2.3 on rocksdb, up 2 h 5 min\n"));
  EXPECT_THAT(text, testing::ContainsRegex("get +1,000/s +1.0 ms +2.0 ms"));
  EXPECT_THAT(text, HasSubstr("2xx 1,000/s"));
  EXPECT_THAT(text, HasSubstr("(1000.0 KiB/s)"));
  EXPECT_THAT(text, HasSubstr("connections 64"));
  EXPECT_THAT(text, HasSubstr("CPU 50.0 %"));
  EXPECT_THAT(text, HasSubstr("pressure 75.0 %"));
  EXPECT_THAT(text, HasSubstr("keys 1,234,567"));
  EXPECT_THAT(text, HasSubstr("hot values 100.0 %"));
}

TEST(RenderLive, TheFirstLookHasNoRates) {
  const StatsSnapshot now = Snapshot(100, 1000, "1000,1000,1000");
  EXPECT_THAT(RenderLive(now, now, 100), testing::ContainsRegex("get +0/s +- +-"));
}

TEST(RenderLive, AServerStartedAnewHasNoNegativeRates) {
  const std::string text = RenderLive(Snapshot(102, 10, "10,10,10"), Snapshot(100, 1000, "1000,1000,1000"), 100);
  EXPECT_THAT(text, AllOf(HasSubstr("2xx 0/s"), Not(HasSubstr("-1"))));
}

TEST(RenderLive, NoLineIsWiderThanTheScreen) {
  StatsSnapshot now = Snapshot(102, 3000, "2000,3000,3000");
  now.hot.keys = {{std::string(300, 'k'), false, 12, 3, 4}, {"häöü\x1b[2J\n", true, 1, 1, 1}};
  for (const size_t columns : {20, 40, 80, 200}) {
    std::string line;
    for (const char c : RenderLive(now, now, columns)) {
      if (c == '\n') {
        EXPECT_LE(Columns(line), columns) << line;
        line.clear();
      } else {
        line.push_back(c);
      }
    }
  }
}

TEST(RenderLive, KeysCannotMoveTheCursor) {
  StatsSnapshot now = Snapshot(102, 3000, "2000,3000,3000");
  now.hot.keys = {{"evil\x1b[2J\r\nline", false, 12, 3, 4}};
  EXPECT_THAT(RenderLive(now, now, 200), AllOf(Not(HasSubstr("\x1b[2J")), HasSubstr(R"(evil\x1b[2J\x0d\x0aline)")));
}

constexpr std::string_view kHot =
    R"({"keys":[{"key":"a","reads_per_second":5,"writes_per_second":1,"bytes_per_second":2048},)"
    R"({"key_base64":"/wA=","cut":true,"reads_per_second":1,"writes_per_second":0,"bytes_per_second":0}],)"
    R"("prefixes":[],"reads_per_second":6.5,"writes_per_second":1})";

TEST(HotSnapshot, IsRead) {
  const auto hot = ParseHot(kHot);
  ASSERT_TRUE(hot) << hot.error();
  EXPECT_EQ(hot->keys.at(0).key, "a");
  EXPECT_EQ(hot->keys.at(1).key, BytesView("\xff\0", 2));
  EXPECT_TRUE(hot->keys.at(1).cut);
  EXPECT_EQ(hot->reads, 6.5);
  EXPECT_FALSE(ParseHot("[]"));
  EXPECT_FALSE(ParseHot(R"({"keys":[1]})"));
}

TEST(RenderHot, IsATable) {
  const std::string text = RenderHot(*ParseHot(kHot), 100);
  EXPECT_THAT(text, StartsWith("6.5/s reads and 1.0/s writes are seen\n\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\na +5.0/s +1.0/s +2.0 KiB/s\n"));
  EXPECT_THAT(text, HasSubstr(R"(\xff\x00…)"));
  EXPECT_EQ(RenderHot({}, 100), "Nothing is read or written.\n");
}

TEST(RenderHot, GroupsByNamespace) {
  const std::string text = RenderHot(
      *ParseHot(R"({"keys":[{"key":"t/1","namespace":"cases","reads_per_second":5}],"prefixes":[],)"
                R"-("namespaces":[{"name":"cases","reads_per_second":5},{"name":"(none)","reads_per_second":1}]})-"),
      100);
  EXPECT_THAT(text, testing::ContainsRegex("namespaces +reads +writes +bytes *\ncases +5.0/s"));
  EXPECT_THAT(text, testing::ContainsRegex("\n.none. +1.0/s"));
  EXPECT_THAT(text, testing::ContainsRegex("keys +reads +writes +bytes +namespace\nt/1 +5.0/s .* cases\n"));
}

TEST(FetchHot, MergesReadsAndWrites) {
  std::vector<std::string> asked;
  const Fetch fetch = [&](const std::string& path) -> Result<std::string> {
    asked.push_back(path);
    return path == "/hotkeys?by=reads"
               ? R"({"keys":[{"key":"a","reads_per_second":5}],"prefixes":[]})"
               : R"({"keys":[{"key":"b","writes_per_second":9},{"key":"a","reads_per_second":5}],"prefixes":[]})";
  };
  const auto hot = FetchHot(fetch, "");
  ASSERT_TRUE(hot) << hot.error();
  ASSERT_EQ(hot->keys.size(), 2U);
  EXPECT_EQ(hot->keys[0].key, "b");
  EXPECT_EQ(hot->keys[1].key, "a");
  EXPECT_THAT(asked, ElementsAre("/hotkeys?by=reads", "/hotkeys?by=writes"));
  EXPECT_TRUE(FetchHot(fetch, "bytes"));
  EXPECT_EQ(asked.back(), "/hotkeys?by=bytes");
}

TEST(WatchStats, LooksUntilItIsToldToStop) {
  int looks = 0;
  const Fetch fetch = [&](const std::string& path) -> Result<std::string> {
    if (path != "/stats") return Error(ErrorCode::kNotFound, "hot keys are switched off");
    ++looks;
    return StatsText(100 + looks, looks * 10, "1,2,3");
  };
  int sleeps = 0;
  testing::internal::CaptureStdout();
  const Status done = WatchStats(fetch, {}, [&](Duration time) {
    EXPECT_EQ(time, Duration::Seconds(1));
    return ++sleeps < 3;
  });
  const std::string out = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(done);
  EXPECT_EQ(looks, 3);
  EXPECT_THAT(out, HasSubstr("2xx 10/s"));
  EXPECT_THAT(out, Not(HasSubstr("\x1b[")));
}

TEST(WatchStats, AsJsonIsALineEachTime) {
  const Fetch fetch = [](const std::string& path) -> Result<std::string> {
    return path == "/stats" ? "{\"a\":1}" : "{}";
  };
  WatchOptions options;
  options.json = true;
  int sleeps = 0;
  testing::internal::CaptureStdout();
  EXPECT_TRUE(WatchStats(fetch, options, [&](Duration) { return ++sleeps < 2; }));
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "{\"stats\":{\"a\":1},\"hotkeys\":{}}\n{\"stats\":{\"a\":1},\"hotkeys\":{}}\n");
}

TEST(WatchStats, AServerThatIsGoneEndsIt) {
  const Fetch fetch = [](const std::string&) -> Result<std::string> {
    return Error(ErrorCode::kUnavailable, "the server cannot be reached");
  };
  const Status done = WatchStats(fetch, {}, [](Duration) { return true; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace kvarts::cli
