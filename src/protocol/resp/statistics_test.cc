#include "protocol/resp/statistics.h"

#include <gtest/gtest.h>

#include "protocol/resp/command_table.h"
#include "protocol/resp/latency_events.h"
#include "protocol/resp/slow_log.h"

namespace kvarts::resp {
namespace {

TEST(StatisticsTest, WhatWasCountedBeforeAResetIsForgotten) {
  Statistics statistics;
  const Command& get = *FindCommand("get");
  const Command& config_get = *FindCommand("CONFIG|get");
  statistics.Ran(get, 1000, true);
  statistics.Rejected(get);
  EXPECT_EQ(statistics.Of(get).latency.Count(), 1U);
  EXPECT_EQ(statistics.Of(get).failed, 1U);
  EXPECT_EQ(statistics.Of(get).rejected, 1U);
  EXPECT_EQ(statistics.Of(config_get).latency.Count(), 0U);
  EXPECT_EQ(statistics.commands(), 1U);
  statistics.Reset();
  EXPECT_EQ(statistics.Of(get).latency.Count(), 0U);
  EXPECT_EQ(statistics.Of(get).failed, 0U);
  statistics.Ran(get, 1000, false);
  EXPECT_EQ(statistics.Of(get).latency.Count(), 1U);
  EXPECT_EQ(statistics.Of(get).rejected, 0U);
}

TEST(StatisticsTest, KindsOfErrorsAreBounded) {
  Statistics statistics;
  for (size_t i = 0; i < 10 * Statistics::kMaxKinds; ++i) statistics.Failed("E" + std::to_string(i) + " text");
  EXPECT_EQ(statistics.Errors().size(), Statistics::kMaxKinds + 1);
  EXPECT_EQ(statistics.Errors().at("E0"), 1U);
  EXPECT_EQ(statistics.Errors().find(Statistics::kOtherKinds)->second, 9 * Statistics::kMaxKinds);
}

TEST(SlowLogTest, OfACommandWithManyWordsAFewAreKept) {
  const std::string large(1000, 'x');
  const std::vector<std::string_view> few = {"SET", "a", large};
  EXPECT_EQ(CutWords(few)[2], std::string(128, 'x') + "... (872 more bytes)");
  const std::vector<std::string_view> many(100, "a");
  EXPECT_EQ(CutWords(many).size(), 32U);
  EXPECT_EQ(CutWords(many).back(), "... (69 more arguments)");
}

TEST(SlowLogTest, KeepsTheLatest) {
  SlowLog log;
  for (int i = 0; i < 10; ++i) log.Add({}, 3);
  EXPECT_EQ(log.size(), 3U);
  EXPECT_EQ(log.Latest(100)[0].id, 9);
  EXPECT_EQ(log.Latest(1).size(), 1U);
  log.Add({}, 0);
  EXPECT_EQ(log.size(), 0U);
}

TEST(LatencyEventsTest, OneTimeForEachSecond) {
  LatencyEvents events;
  events.Add("command", 1, 5);
  events.Add("command", 1, 9);
  events.Add("command", 1, 7);
  EXPECT_EQ(events.All().at("command").times.size(), 1U);
  EXPECT_EQ(events.All().at("command").longest, 9);
  for (int64_t i = 0; i < 1000; ++i) events.Add("command", i + 2, 1);
  EXPECT_EQ(events.All().at("command").times.size(), LatencyEvents::kMaxTimes);
  EXPECT_TRUE(events.Forget("command"));
  EXPECT_FALSE(events.Forget("command"));
}

}  // namespace
}  // namespace kvarts::resp
