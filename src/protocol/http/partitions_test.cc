#include "protocol/http/partitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "support/catalogs.h"

namespace kvarts::http {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> Cut(const NamespaceTable& table, BytesView key) {
  PrefixEnds ends;
  std::vector<std::string> prefixes;
  const size_t count = CutAtPartition(table, key, &ends);
  for (size_t i = 0; i < count; ++i) prefixes.emplace_back(key.substr(0, ends[i]));
  return prefixes;
}

class Partitions : public test::CatalogTest {
 protected:
  // As a loop saw them, each key written so many times.
  HotKeys Written(const std::vector<std::pair<std::string, int>>& keys) {
    ManualClock clock({1'000'000'000});
    TopKeys::Options options;
    options.cut = [this](BytesView key, PrefixEnds* ends) { return CutAtPartition(catalog().cached(), key, ends); };
    TopKeys top(clock, options);
    for (const auto& [key, times] : keys) {
      for (int i = 0; i < times; ++i) top.Write(key, 10);
    }
    clock.Advance(Duration::Seconds(1));
    return top.Take();
  }
  static std::vector<std::string> Prefixes(const std::vector<Partition>& partitions) {
    std::vector<std::string> prefixes;
    for (const Partition& partition : partitions) prefixes.push_back(partition.prefix);
    return prefixes;
  }
};
KVARTS_ON_EVERY_ENGINE(Partitions);

TEST_P(Partitions, KeysAreCutAtTheirPartition) {
  NamespaceSpec spec = SpecOf("cases", "t/<tenant>/case/<case>/event/<id>");
  spec.partition_field = "case";
  MustDeclare(std::move(spec));
  MustDeclare("whole", "w/<id>");
  const NamespaceTable& table = catalog().current();
  EXPECT_THAT(Cut(table, "t/acme/case/7/event/1"), ElementsAre("t/", "t/acme/", "t/acme/case/", "t/acme/case/7/"));
  // Not governed, or all of the key is the partition: at delimiters.
  EXPECT_THAT(Cut(table, "t/acme"), ElementsAre("t/"));
  EXPECT_THAT(Cut(table, "w/1"), ElementsAre("w/"));
  EXPECT_THAT(Cut(table, "a:b/c"), ElementsAre("a:", "a:b/"));
  EXPECT_THAT(Cut(table, ""), IsEmpty());
}

TEST_P(Partitions, NothingBehindThePartitionIsCut) {
  MustDeclare("cases", "t/<tenant>/case/<case>");
  EXPECT_THAT(Cut(catalog().current(), "t/acme/case/7"), ElementsAre("t/", "t/acme/"));
}

TEST_P(Partitions, APartitionTooLongToBeKeptIsLeftOut) {
  MustDeclare("cases", "t/<tenant>/case/<case>");
  const std::string longest(TopKeys::kKeptBytes - 3, 'x');
  EXPECT_THAT(Cut(catalog().current(), "t/" + longest + "/case/7"), ElementsAre("t/", "t/" + longest + "/"));
  EXPECT_THAT(Cut(catalog().current(), "t/" + longest + "y/case/7"), ElementsAre("t/"));
}

TEST_P(Partitions, TheWidestComeFirstAndAreRemembered) {
  for (int i = 0; i < 200; ++i) RawPut("a:" + std::to_string(i), std::string(100, 'x'));
  for (int i = 0; i < 20; ++i) RawPut("b:" + std::to_string(i), std::string(100, 'x'));
  WidestPartitions widest;
  const auto& first = widest.Update(engine(), Written({{"b:1", 9}, {"a:1", 5}, {"never:1", 5}}));
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(first[0].prefix, "a:");
  EXPECT_GT(first[0].holds.bytes, first[1].holds.bytes);
  // Nobody writes to them any more.
  EXPECT_EQ(Prefixes(widest.Update(engine(), HotKeys()))[0], "a:");
}

TEST_P(Partitions, ThereAreNeverMoreThanAFew) {
  std::vector<std::pair<std::string, int>> written;
  for (int i = 0; i < 100; ++i) {
    RawPut("p" + std::to_string(i) + ":1");
    written.emplace_back("p" + std::to_string(i) + ":1", 3);
  }
  WidestPartitions widest;
  EXPECT_THAT(widest.Update(engine(), Written(written)), SizeIs(WidestPartitions::kShown));
}

TEST_P(Partitions, OnlyTheInnermostCount) {
  const HotKeys hot = Written({{"a/b/c", 5}, {"a/d/e", 3}, {"x", 1}});
  std::vector<std::string> inner;
  for (const HotKey& key : Innermost(hot.Prefixes(HotOrder::kWrites, 10))) inner.push_back(key.key);
  EXPECT_THAT(inner, ElementsAre("a/b/", "a/d/"));
}

}  // namespace
}  // namespace kvarts::http
