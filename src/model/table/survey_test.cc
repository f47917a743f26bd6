#include "model/table/survey.h"

#include <fmt/format.h>

#include <random>

#include "support/forwarding_engine.h"
#include "support/tables.h"

namespace kvarts::test {
namespace {

// Asked for so many estimates, it wants whoever asks to stop.
class StopsAfterEstimates final : public ForwardingEngine {
 public:
  StopsAfterEstimates(Engine& inner, int estimates) : ForwardingEngine(inner), left_(estimates) {}

  std::stop_token token() const { return stop_.get_token(); }
  int asked_after() const { return -left_; }

  Result<RangeEstimate> Estimate(const KeyRange& range) override {
    if (--left_ == 0) stop_.request_stop();
    return inner().Estimate(range);
  }

 private:
  int left_;
  std::stop_source stop_;
};

class SurveyTest : public TablesFixture {
 protected:
  // Rows that do not become smaller when they are compressed.
  void Fill(const std::string& table, const std::string& partition, int rows) {
    std::mt19937_64 random(std::hash<std::string>()(partition));
    for (int from = 0; from < rows; from += 100) {
      std::vector<RowCommand> puts;
      for (int n = from; n < std::min(rows, from + 100); ++n) {
        std::string text(1000, ' ');
        for (char& c : text) c = static_cast<char>('a' + random() % 26);
        puts.push_back(
            Putting(fmt::format(R"({{"p": "{}", "n": {}, "q": "same", "text": "{}"}})", partition, n, text)));
      }
      ASSERT_TRUE(Apply(table, puts));
    }
  }
  std::vector<std::string> Found(uint64_t wide_bytes, size_t max_pieces = 1024) {
    // What is in a write buffer is estimated badly.
    EXPECT_TRUE(engine().Compact(KeyRange::All()));
    const auto wide = FindWidePartitions(engine(), {.wide_bytes = wide_bytes, .max_pieces = max_pieces});
    EXPECT_TRUE(wide) << wide.error();
    std::vector<std::string> names;
    for (const WidePartition& partition : wide.value_or(std::vector<WidePartition>())) {
      EXPECT_GT(partition.bytes, wide_bytes);
      names.push_back(partition.table.project + '/' + partition.table.dataset + '/' + partition.table.table + ' ' +
                      partition.index + ' ' + partition.partition);
    }
    return names;
  }
};
KVARTS_ON_EVERY_ENGINE(SurveyTest);

TEST_P(SurveyTest, FindsPartitionsThatAreWideAndNoOthers) {
  MustCreate("orders", R"({"key": {"partition": ["p"], "sort": [{"name": "n", "type": "number"}]}})");
  MustCreate("small", R"({"key": {"partition": ["p"], "sort": [{"name": "n", "type": "number"}]}})");
  for (int i = 0; i < 40; ++i) Fill("orders", fmt::format("p{}", i), 20);
  Fill("small", "p", 20);
  EXPECT_TRUE(Found(400'000).empty());
  Fill("orders", "p17", 900);
  EXPECT_EQ(Found(400'000), std::vector<std::string>{R"(acme/shop/orders  (("p17")))"});
}

// Names that are alike for longer than is looked at in one step.
TEST_P(SurveyTest, FindsOneAmongManyOfSimilarNames) {
  MustCreate("orders", R"({"key": {"partition": ["p"], "sort": [{"name": "n", "type": "number"}]}})");
  Fill("orders", "admin", 5);
  for (int i = 0; i < 40; ++i) Fill("orders", fmt::format("customer-of-the-shop-{:04}", i), 20);
  Fill("orders", "customer-of-the-shop-0023", 900);
  EXPECT_EQ(Found(400'000), std::vector<std::string>{R"(acme/shop/orders  (("customer-of-the-shop-0023")))"});
}

// More of them than what is cut at once has pieces.
TEST_P(SurveyTest, FindsAllWhereManyAreWide) {
  MustCreate("orders", R"({"key": {"partition": ["p"], "sort": [{"name": "n", "type": "number"}]}})");
  std::vector<std::string> wide;
  for (int i = 0; i < 24; ++i) {
    const std::string partition = fmt::format("p{:02}", i);
    Fill("orders", partition, i % 2 == 0 ? 20 : 400);
    if (i % 2 != 0) wide.push_back(fmt::format(R"(acme/shop/orders  (("{}")))", partition));
  }
  std::vector<std::string> found = Found(200'000, 4);
  std::ranges::sort(found);
  EXPECT_EQ(found, wide);
}

TEST_P(SurveyTest, LooksAtIndexesToo) {
  MustCreate("orders", R"({"key": {"partition": ["p"], "sort": [{"name": "n", "type": "number"}]},
                           "indexes": [{"name": "by_q", "partition": ["q"], "include": "all"}]})");
  for (int i = 0; i < 40; ++i) Fill("orders", fmt::format("p{}", i), 20);
  EXPECT_EQ(Found(400'000), std::vector<std::string>{R"(acme/shop/orders by_q (("same")))"});
}

TEST_P(SurveyTest, StopsBeforeItCutsATableAndWhileItDoes) {
  MustCreate("orders", R"({"key": {"partition": ["p"], "sort": [{"name": "n", "type": "number"}]}})");
  for (int i = 0; i < 40; ++i) Fill("orders", fmt::format("p{}", i), 20);
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  // The first says that there is something to cut, the second how much that is.
  for (const auto& [estimates, more] : {std::pair(1, 0), std::pair(2, 0), std::pair(3, 8 * 64)}) {
    StopsAfterEstimates stopping(engine(), estimates);
    EXPECT_EQ(CodeOf(FindWidePartitions(stopping, {.wide_bytes = 20'000}, stopping.token())), "unavailable");
    EXPECT_LE(stopping.asked_after(), more) << "of " << estimates;
    EXPECT_GE(stopping.asked_after(), 0);
  }
}

TEST_P(SurveyTest, RemembersWhatItHasFoundLast) {
  MustCreate("orders", R"({"key": {"partition": ["p"], "sort": [{"name": "n", "type": "number"}]}})");
  Fill("orders", "p", 300);
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  Survey survey;
  EXPECT_TRUE(survey.wide_partitions().empty());
  ASSERT_TRUE(survey.Look(engine(), 100'000));
  EXPECT_EQ(survey.wide_partitions().size(), 1U);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(CodeOf(survey.Look(engine(), 100'000, stop.get_token())), "unavailable");
  EXPECT_EQ(survey.wide_partitions().size(), 1U);
  ASSERT_TRUE(tables().DropTable(At("orders")));
  ASSERT_TRUE(survey.Look(engine(), 100'000));
  EXPECT_TRUE(survey.wide_partitions().empty());
}

}  // namespace
}  // namespace kvarts::test
