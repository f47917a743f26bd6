#include "engine/rocksdb/rocks_stats.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "support/commits.h"
#include "support/temp_dir.h"

namespace kvarts {
namespace {

class RocksStatsTest : public ::testing::Test {
 protected:
  RocksStatsTest() {
    RocksOptions options;
    options.memory_budget = 16 << 20;
    options.hot_cache_bytes = 0;
    auto opened = OpenRocksEngine(dir_ / "store", options);
    EXPECT_TRUE(opened) << opened.error();
    engine_ = *std::move(opened);
  }
  EngineStats Stats() {
    auto stats = engine_->Stats();
    EXPECT_TRUE(stats) << stats.error();
    return stats ? *std::move(stats) : EngineStats();
  }
  static Bytes KeyOf(int n) { return fmt::format("k{:06}", n); }
  // Even numbers only, so that odd ones are looked for in vain.
  void Fill(int count, Durability durability = Durability::kNone) {
    Commit commit;
    commit.durability = durability;
    for (int i = 0; i < count; ++i) commit.mutations.push_back(Mutation::Put(KeyOf(2 * i), fmt::format("{:0100}", i)));
    EXPECT_TRUE(CommitAndWait(*engine_, std::move(commit)));
  }
  void Get(int n) { EXPECT_TRUE(GetOne(*engine_, KeyOf(n))); }

  test::TempDir dir_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(RocksStatsTest, BackgroundWorkIsCountedByProfile) {
  ASSERT_TRUE(engine_->AssignProfile({"x", "y"}, Profile::kIngest));
  EXPECT_EQ(Stats().flushes.count, 0u);
  Fill(10'000);
  ASSERT_TRUE(engine_->Compact(KeyRange::All()));
  const EngineStats stats = Stats();
  ASSERT_EQ(stats.profiles.size(), 3u);
  EXPECT_EQ(stats.profiles[0].profile, "lookup");
  EXPECT_GE(stats.profiles[0].flushes.count, 1u);
  EXPECT_GT(stats.profiles[0].flushes.bytes_written, 10'000u);
  EXPECT_GT(stats.profiles[0].flushes.micros, 0u);
  EXPECT_GE(stats.profiles[0].compactions.count, 1u);
  EXPECT_GT(stats.profiles[0].compactions.bytes_read, 10'000u);
  EXPECT_GT(stats.profiles[0].compactions.bytes_written, 10'000u);
  EXPECT_EQ(stats.profiles[1].flushes.count, 0u);
  EXPECT_EQ(stats.flushes.count, stats.profiles[0].flushes.count);
  EXPECT_EQ(stats.profiles[0].live_bytes, stats.live_bytes);
  EXPECT_GT(stats.disk_free_bytes, 0u);
}

TEST_F(RocksStatsTest, FlushedBlobsAreWrittenBytesToo) {
  Commit commit;
  std::mt19937_64 random(1);
  std::string noise(1 << 20, '\0');
  for (char& c : noise) c = static_cast<char>(random());
  commit.mutations.push_back(Mutation::Put("large", noise));
  ASSERT_TRUE(CommitAndWait(*engine_, std::move(commit)));
  ASSERT_TRUE(engine_->Compact(KeyRange::All()));
  EXPECT_GT(Stats().flushes.bytes_written, 1u << 20);
}

TEST_F(RocksStatsTest, EverySyncOfTheLogIsTimed) {
  const uint64_t before = Stats().commit_path.log_sync.Count();
  for (int i = 0; i < 3; ++i) Fill(1, Durability::kSync);
  Fill(1, Durability::kNone);
  ASSERT_TRUE(engine_->Sync());
  ASSERT_TRUE(engine_->Sync());  // has nothing to do
  const CommitPathStats path = Stats().commit_path;
  EXPECT_GE(path.log_sync.Count(), before + 4);
  EXPECT_LE(path.log_sync.Count(), before + 5);  // versions may have been reserved
  EXPECT_GT(path.log_sync.Sum(), 0);
  EXPECT_EQ(path.group_sizes.Count(), 4u);
  EXPECT_EQ(path.group_sizes.Sum(), 4);
  EXPECT_EQ(path.queued, 0u);
}

TEST_F(RocksStatsTest, FiltersSpareReadsOfWhatIsNotThere) {
  Fill(20'000);
  ASSERT_TRUE(engine_->Compact(KeyRange::All()));
  const ReadPathStats before = Stats().read_path;
  for (int i = 0; i < 20'000; ++i) Get(2 * i + 1);
  const ReadPathStats absent = Stats().read_path;
  EXPECT_NEAR(static_cast<double>(absent.filter_spared - before.filter_spared), 20'000, 6'000);
  EXPECT_LT(absent.filter_false_positives, 1'500u);
  EXPECT_GT(Stats().FilterEffect(), 0.9);
  for (int i = 0; i < 20'000; ++i) Get(2 * i);
  const ReadPathStats present = Stats().read_path;
  EXPECT_NEAR(static_cast<double>(present.filter_passed - absent.filter_passed), 20'000, 6'000);
  EXPECT_EQ(present.filter_false_positives, absent.filter_false_positives);
  EXPECT_GT(present.data_blocks.hits, 10'000u);
  EXPECT_GT(present.index_blocks.hits + present.index_blocks.misses, 0u);
}

TEST_F(RocksStatsTest, SampledScansCountTheirBlocks) {
  Fill(20'000);
  ASSERT_TRUE(engine_->Compact(KeyRange::All()));
  const auto looked = [&] {
    const CacheStats blocks = Stats().read_path.data_blocks;
    return blocks.hits + blocks.misses;
  };
  const uint64_t before = looked();
  auto view = engine_->OpenView();
  ASSERT_TRUE(view);
  for (uint32_t i = 0; i < 10 * ReadSample::kPeriod; ++i) ASSERT_TRUE((*view)->Scan({}));
  EXPECT_GE(looked(), before + 3 * ReadSample::kPeriod);
}

}  // namespace
}  // namespace kvarts
