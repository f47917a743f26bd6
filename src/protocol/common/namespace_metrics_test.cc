#include "protocol/common/namespace_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "protocol/common/loop_totals.h"

namespace kvarts {
namespace {

using testing::ElementsAre;

NamespaceTable TableOf(const std::vector<std::pair<std::string, std::string>>& spaces) {
  std::vector<NamespaceTable::Entry> entries;
  for (const auto& [name, grammar] : spaces) {
    NamespaceSpec spec;
    spec.name = name;
    spec.grammar = Grammar::Parse(grammar).value();
    entries.push_back(std::make_shared<const Namespace>(Namespace::Of(*Validate(std::move(spec), Limits()))));
  }
  return NamespaceTable(std::move(entries), {1}, {1});
}

class NamespaceMetricsTest : public testing::Test {
 protected:
  std::string PlaceOf(const NamespaceTable& table, const std::vector<BytesView>& keys) {
    uint8_t place = NamespacePlaces::kNowhere;
    for (const BytesView key : keys) place = metrics_.PlaceWith(place, table, key);
    return place == NamespacePlaces::kNowhere ? "nowhere" : places_.NameOf(place);
  }

  NamespacePlaces places_;
  NamespaceMetrics metrics_{places_};
};

TEST_F(NamespaceMetricsTest, ARequestIsCountedForTheNamespaceOfItsKeys) {
  const NamespaceTable table = TableOf({{"cases", "t/<tenant>/case/<id>"}, {"users", "user/<id>"}});
  EXPECT_EQ(PlaceOf(table, {}), "nowhere");
  EXPECT_EQ(PlaceOf(table, {"user/1"}), "users");
  EXPECT_EQ(PlaceOf(table, {"user/1", "user/2"}), "users");
  EXPECT_EQ(PlaceOf(table, {"t/acme/case/7"}), "cases");
  EXPECT_EQ(PlaceOf(table, {"free"}), "(none)");
  EXPECT_EQ(PlaceOf(table, {"free", "user/1"}), "(several)");
  EXPECT_EQ(PlaceOf(table, {"user/1", "t/acme/case/7", "user/1"}), "(several)");
}

TEST_F(NamespaceMetricsTest, AKeyThatIsRefusedBelongsToTheNamespaceItAlmostFollows) {
  const NamespaceTable table = TableOf({{"cases", "t/<tenant>/case/<id>"}});
  EXPECT_EQ(PlaceOf(table, {"t/acme/"}), "cases");
}

TEST_F(NamespaceMetricsTest, WithoutNamespacesNothingIsCounted) {
  EXPECT_EQ(PlaceOf(TableOf({}), {"user/1", "user/2"}), "nowhere");
}

TEST_F(NamespaceMetricsTest, TablesCountByTheirNames) {
  const NamespaceTable table = TableOf({{"users", "user/<id>"}});
  const uint8_t orders = metrics_.PlaceWithTable(NamespacePlaces::kNowhere, "acme/shop/orders");
  EXPECT_EQ(places_.NameOf(orders), "acme/shop/orders");
  EXPECT_EQ(metrics_.PlaceWithTable(orders, "acme/shop/orders"), orders);
  EXPECT_EQ(metrics_.PlaceWithTable(orders, "acme/shop/other"), NamespacePlaces::kSeveral);
  EXPECT_EQ(metrics_.PlaceWith(orders, table, "user/1"), NamespacePlaces::kSeveral);
  EXPECT_EQ(metrics_.PlaceWithTable(NamespacePlaces::kSeveral, "acme/shop/orders"), NamespacePlaces::kSeveral);
}

TEST_F(NamespaceMetricsTest, ManyNamespacesShareAPlace) {
  std::vector<std::pair<std::string, std::string>> spaces;
  for (size_t i = 100; i < 100 + NamespacePlaces::kMaxNamed + 2; ++i) {
    spaces.emplace_back("n" + std::to_string(i), std::to_string(i) + "/<id>");
  }
  const NamespaceTable table = TableOf(spaces);
  for (size_t i = 100; i < 100 + NamespacePlaces::kMaxNamed; ++i) {
    EXPECT_EQ(PlaceOf(table, {std::to_string(i) + "/x"}), "n" + std::to_string(i));
  }
  EXPECT_EQ(PlaceOf(table, {"164/x"}), "(other)");
  EXPECT_EQ(PlaceOf(table, {"165/x"}), "(other)");
  EXPECT_EQ(PlaceOf(table, {"100/x"}), "n100");
}

TEST_F(NamespaceMetricsTest, ANamespaceThatIsDeclaredAnewKeepsItsPlace) {
  const NamespaceTable before = TableOf({{"users", "user/<id>"}});
  const NamespaceTable after = TableOf({{"users", "user/<id>/<part>"}});
  EXPECT_EQ(places_.PlaceOf("users"), NamespacePlaces::kFirstNamed);
  EXPECT_EQ(metrics_.PlaceWith(NamespacePlaces::kNowhere, before, "user/1"), NamespacePlaces::kFirstNamed);
  EXPECT_EQ(metrics_.PlaceWith(NamespacePlaces::kNowhere, after, "user/1/a"), NamespacePlaces::kFirstNamed);
}

TEST_F(NamespaceMetricsTest, LoopsAreAddedUp) {
  NamespaceMetrics other(places_);
  const uint8_t users = places_.PlaceOf("users");
  const uint8_t orders = places_.PlaceOf("orders");
  metrics_.At(users).keys_read.Add(2);
  metrics_.At(users).answers[2].Add();
  other.At(users).keys_read.Add(3);
  other.At(users).latency[0].RecordAlone(1000);
  other.At(orders).bytes_written.Add(7);
  const std::vector<NamespaceTotals> sums = SumNamespaces(places_, {&metrics_, &other});
  ASSERT_EQ(sums.size(), 2U);
  EXPECT_EQ(sums[0].name, "users");
  EXPECT_EQ(sums[0].keys_read, 5U);
  EXPECT_EQ(sums[0].answers[2], 1U);
  EXPECT_EQ(sums[0].latency[0].Count(), 1U);
  EXPECT_EQ(sums[1].name, "orders");
  EXPECT_EQ(sums[1].bytes_written, 7U);
}

TEST_F(NamespaceMetricsTest, CanBeReadWhileALoopCounts) {
  const NamespaceTable table = TableOf({{"users", "user/<id>"}, {"orders", "order/<id>"}});
  constexpr uint64_t kTimes = 20'000;
  std::jthread loop([&] {
    for (uint64_t i = 0; i < kTimes; ++i) {
      const uint8_t place = metrics_.PlaceWith(NamespacePlaces::kNowhere, table, i % 2 == 0 ? "user/1" : "order/1");
      metrics_.At(place).keys_read.Add();
    }
  });
  uint64_t seen = 0;
  while (seen < kTimes) {
    uint64_t now = 0;
    for (const NamespaceTotals& totals : SumNamespaces(places_, {&metrics_})) now += totals.keys_read;
    ASSERT_GE(now, seen);
    seen = now;
  }
}

}  // namespace
}  // namespace kvarts
