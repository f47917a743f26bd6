#include "base/process_stats.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>

namespace kvarts {
namespace {

TEST(ProcessStats, TellsOfThisProcess) {
  const ProcessStats stats = ProcessStats::Take();
  EXPECT_GT(stats.resident_bytes, 1U << 20);
  EXPECT_GE(stats.virtual_bytes, stats.resident_bytes);
  EXPECT_GE(stats.threads, 1U);
  EXPECT_GE(stats.max_fds, stats.open_fds);
  const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_LE(stats.start_seconds, now + 2);
  EXPECT_GT(stats.start_seconds, now - 3600);
}

TEST(ProcessStats, CountsDescriptors) {
  const uint64_t before = ProcessStats::Take().open_fds;
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(ProcessStats::Take().open_fds, before + 1);
  close(fd);
}

TEST(ProcessStats, ANameMayHoldAnything) {
  const std::string stat = "4711 (a) b (7 8 9)) S 1 2 3 4 5 6 7 8 9 10 150 50 13 14 15 16 21 18 1000 4096000 25 99\n";
  ProcessStats stats;
  stats.ReadStat(stat, "cpu 1 2 3\nbtime 1700000000\nprocesses 5\n", 100, 4096);
  EXPECT_EQ(stats.cpu_seconds, 2.0);
  EXPECT_EQ(stats.threads, 21U);
  EXPECT_EQ(stats.virtual_bytes, 4096000U);
  EXPECT_EQ(stats.resident_bytes, 25U * 4096);
  EXPECT_EQ(stats.start_seconds, 1700000010.0);
}

TEST(ProcessStats, WhatCannotBeReadIsZero) {
  ProcessStats stats;
  stats.ReadStat("", "", 100, 4096);
  stats.ReadStat("1 (x", "", 100, 4096);
  stats.ReadStat("1 (x) S 1", "btime", 100, 4096);
  EXPECT_EQ(stats.cpu_seconds, 0.0);
  EXPECT_EQ(stats.start_seconds, 0.0);
}

}  // namespace
}  // namespace kvarts
