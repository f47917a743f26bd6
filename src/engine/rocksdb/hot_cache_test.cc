#include "engine/rocksdb/hot_cache.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

#include "engine/rocksdb/key_hash.h"

namespace kvarts {
namespace {

constexpr Version kNewest{UINT64_MAX};

class HotCacheTest : public testing::Test {
 protected:
  void Fill(BytesView key, BytesView value, uint64_t version, uint64_t read_at) {
    cache_.Fill(KeyHash(key), key, Header(version), value, {read_at});
  }
  void Write(BytesView key, BytesView value, uint64_t version) {
    cache_.Write(KeyHash(key), key, Header(version), value);
  }
  std::string Find(BytesView key, Version at_most = kNewest) {
    Record record;
    return cache_.Find(KeyHash(key), key, at_most, &record) ? record.value : "none";
  }
  static ValueHeader Header(uint64_t version) {
    ValueHeader header;
    header.version = {version};
    return header;
  }

  HotCache cache_{1 << 20, 4096};
};

TEST_F(HotCacheTest, FindsWhatWasFilled) {
  EXPECT_EQ(Find("a"), "none");
  Fill("a", "1", 5, 9);
  EXPECT_EQ(Find("a"), "1");
}

TEST_F(HotCacheTest, HidesAnEntryFromReadersOfOlderVersions) {
  Fill("a", "1", 5, 9);
  EXPECT_EQ(Find("a", {4}), "none");
  EXPECT_EQ(Find("a", {5}), "1");
}

TEST_F(HotCacheTest, AWriteUpdatesAnEntryButMakesNone) {
  Write("a", "1", 5);
  EXPECT_EQ(Find("a"), "none");
  Fill("a", "1", 5, 5);
  Write("a", "a longer value than before", 6);
  EXPECT_EQ(Find("a"), "a longer value than before");
  Write("a", "s", 7);
  EXPECT_EQ(Find("a"), "s");
}

TEST_F(HotCacheTest, RefusesAFillThatWasReadBeforeAChange) {
  Write("a", "2", 6);
  Fill("a", "1", 3, 5);
  EXPECT_EQ(Find("a"), "none");
  Fill("a", "2", 6, 6);
  EXPECT_EQ(Find("a"), "2");
}

TEST_F(HotCacheTest, RefusesAFillThatWasReadBeforeAnErase) {
  Fill("a", "1", 3, 5);
  cache_.Erase(KeyHash("a"), "a", {6});
  EXPECT_EQ(Find("a"), "none");
  Fill("a", "1", 3, 5);
  EXPECT_EQ(Find("a"), "none");
}

TEST_F(HotCacheTest, ForgetsAnErasedRangeAndNothingElse) {
  Fill("a", "1", 3, 5);
  Fill("b", "1", 3, 5);
  cache_.EraseRange({"b", "c"}, {6});
  EXPECT_EQ(Find("a"), "1");
  EXPECT_EQ(Find("b"), "none");
  Fill("b", "1", 3, 5);
  EXPECT_EQ(Find("b"), "none");
  Fill("b", "2", 7, 7);
  EXPECT_EQ(Find("b"), "2");
  for (int i = 0; i < 100; ++i) cache_.Sweep();
  EXPECT_EQ(Find("a"), "1");
  EXPECT_EQ(Find("b"), "2");
}

TEST_F(HotCacheTest, ManyErasedRangesAtOnceForgetEverything) {
  Fill("a", "1", 3, 5);
  for (int i = 0; i < 50; ++i) cache_.EraseRange({"x", "y"}, {6 + static_cast<uint64_t>(i)});
  EXPECT_EQ(Find("a"), "none");
  Fill("a", "1", 3, 100);
  EXPECT_EQ(Find("a"), "1");
}

TEST_F(HotCacheTest, LeavesLargeValuesAlone) {
  Fill("a", std::string(4097, 'x'), 3, 5);
  EXPECT_EQ(Find("a"), "none");
  Fill("a", std::string(4096, 'x'), 3, 5);
  EXPECT_EQ(Find("a").size(), 4096u);
  Write("a", std::string(4097, 'x'), 6);
  EXPECT_EQ(Find("a"), "none");
}

TEST_F(HotCacheTest, StaysWithinItsCapacity) {
  std::mt19937 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const std::string key = "key " + std::to_string(random() % 50'000);
    Fill(key, std::string(random() % 700, 'v'), 1, 1);
    if (i % 1000 == 0) {
      EXPECT_LE(cache_.Stats().bytes, cache_.Stats().capacity);
    }
  }
  EXPECT_GT(cache_.Stats().bytes, cache_.Stats().capacity / 2);
}

TEST_F(HotCacheTest, KeepsWhatIsUsed) {
  Fill("hot", "1", 1, 1);
  for (int i = 0; i < 100'000; ++i) {
    Fill("cold " + std::to_string(i), std::string(100, 'v'), 1, 1);
    Find("hot");
  }
  EXPECT_EQ(Find("hot"), "1");
}

TEST_F(HotCacheTest, WhenFullTakesInOnlyWhatIsMissedAgain) {
  const std::string value(100, 'v');
  const auto name = [](const char* kind, int i) { return kind + std::to_string(i); };
  for (int i = 0; i < 20'000; ++i) Fill(name("early ", i), value, 1, 1);
  const auto count = [&](const char* kind, int many) {
    int found = 0;
    for (int i = 0; i < many; ++i) found += Find(name(kind, i)) == value;
    return found;
  };
  const int kept = count("early ", 20'000);
  for (int i = 0; i < 20'000; ++i) Fill(name("once ", i), value, 1, 1);
  // But for the few whose short tags are those of others.
  EXPECT_LT(count("once ", 20'000), 1000);
  EXPECT_GT(count("early ", 20'000), kept * 3 / 4);
  for (int i = 0; i < 1000; ++i) {
    Fill(name("twice ", i), value, 1, 1);
    Fill(name("twice ", i), value, 1, 1);
  }
  EXPECT_GT(count("twice ", 1000), 500);
}

TEST(HotCacheSizeTest, OfZeroHoldsNothing) {
  HotCache cache(0, 4096);
  ValueHeader header;
  cache.Fill(KeyHash("a"), "a", header, "1", kNewest);
  Record record;
  EXPECT_FALSE(cache.Find(KeyHash("a"), "a", kNewest, &record));
}

// One committer writes version n as the value "n"; readers fill from a map that the committer changes first, as the LSM
// tree would be. A reader must never find a value older than what was visible when it began.
TEST_F(HotCacheTest, NeverShowsAnOldValueToAReaderWhoBeganLater) {
  constexpr int kKeys = 16;
  constexpr uint64_t kWrites = 20'000;
  std::array<std::atomic<uint64_t>, kKeys> stored{};
  std::atomic<uint64_t> visible{0};
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  const auto read = [&](unsigned seed) {
    std::mt19937 random(seed);
    while (!stop.load()) {
      const int k = static_cast<int>(random() % kKeys);
      const std::string key = "k" + std::to_string(k);
      const uint64_t at = visible.load();
      const uint64_t before = stored[k].load();
      Record record;
      if (cache_.Find(KeyHash(key), key, {visible.load()}, &record)) {
        const uint64_t found = std::stoull(record.value);
        if (before <= at && found < before) wrong.fetch_add(1);
      } else {
        const uint64_t value = stored[k].load();
        cache_.Fill(KeyHash(key), key, Header(value), std::to_string(value), {at});
      }
    }
  };
  std::thread one(read, 1);
  std::thread two(read, 2);
  std::mt19937 random(3);
  for (uint64_t version = 1; version <= kWrites; ++version) {
    const int k = static_cast<int>(random() % kKeys);
    stored[k].store(version);
    Write("k" + std::to_string(k), std::to_string(version), version);
    visible.store(version);
  }
  stop.store(true);
  one.join();
  two.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace kvarts
