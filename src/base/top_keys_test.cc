#include "base/top_keys.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

namespace kvarts {
namespace {

class TopKeysTest : public ::testing::Test {
 protected:
  static TopKeys::Options Seeded() {
    TopKeys::Options options;
    options.seed = 7;
    return options;
  }
  // Lets so many events happen in every second, evenly.
  template <class Event>
  void Run(int seconds, uint64_t per_second, const Event& event) {
    constexpr uint64_t kSteps = 50;
    for (uint64_t step = 0; step < static_cast<uint64_t>(seconds) * kSteps; ++step) {
      for (uint64_t i = 0; i < per_second / kSteps; ++i) event();
      clock.Advance(Duration::Micros(1'000'000 / kSteps));
    }
  }
  static const HotKey* Find(const std::vector<HotKey>& keys, const Bytes& key) {
    const auto found = std::ranges::find(keys, key, &HotKey::key);
    return found == keys.end() ? nullptr : &*found;
  }

  ManualClock clock{{1'000'000'000'000}};
  TopKeys top{clock, Seeded()};
  std::mt19937_64 random{1};
};

// Numbers from 0 on, each so much rarer than the one before it.
class Zipfian {
 public:
  explicit Zipfian(size_t n) {
    double sum = 0;
    for (size_t i = 1; i <= n; ++i) cumulative_.push_back(sum += 1 / std::pow(static_cast<double>(i), 0.99));
    for (double& c : cumulative_) c /= sum;
  }
  size_t operator()(std::mt19937_64& random) const {
    const double at = std::generate_canonical<double, 53>(random);
    return static_cast<size_t>(std::ranges::lower_bound(cumulative_, at) - cumulative_.begin());
  }
  double Share(size_t i) const { return i == 0 ? cumulative_[0] : cumulative_[i] - cumulative_[i - 1]; }

 private:
  std::vector<double> cumulative_;
};

TEST_F(TopKeysTest, TheTopTenOfAZipfianStreamAreFoundWithTheirRates) {
  constexpr size_t kKeys = 200'000;
  constexpr uint64_t kReads = 60'000;
  constexpr uint64_t kWrites = 1'000;
  const Zipfian zipfian(kKeys);
  Run(20, kReads, [&] {
    top.Read(fmt::format("user:{}", zipfian(random)), 100);
    // Others are written than are read.
    if (random() % (kReads / kWrites) == 0) top.Write(fmt::format("event:{}", zipfian(random)), 50);
  });
  const HotKeys taken = top.Take();
  const auto check = [&](HotOrder order, HotRate HotKey::*rate, const char* prefix, uint64_t per_second, double size) {
    // The eleventh may come before the tenth by chance.
    const auto keys = taken.Keys(order, 15);
    for (size_t i = 0; i < 10; ++i) {
      const HotKey* key = Find(keys, fmt::format("{}:{}", prefix, i));
      ASSERT_NE(key, nullptr) << prefix << i;
      const double exact = zipfian.Share(i) * static_cast<double>(per_second);
      EXPECT_NEAR((key->*rate).per_second, exact, exact * 0.2) << prefix << i;
      EXPECT_NEAR((key->*rate).bytes_per_second, exact * size, exact * size * 0.2) << prefix << i;
    }
    const auto prefixes = taken.Prefixes(order, 10);
    ASSERT_EQ(prefixes.size(), 1u);
    EXPECT_EQ(prefixes[0].key, fmt::format("{}:", prefix));
    EXPECT_NEAR((prefixes[0].*rate).per_second, static_cast<double>(per_second), static_cast<double>(per_second) * 0.1);
  };
  check(HotOrder::kReads, &HotKey::reads, "user", kReads, 100);
  check(HotOrder::kWrites, &HotKey::writes, "event", kWrites, 50);
  EXPECT_NEAR(taken.reads_per_second(), kReads, kReads * 0.1);
  EXPECT_NEAR(taken.writes_per_second(), kWrites, kWrites * 0.1);
}

TEST_F(TopKeysTest, WithLittleLoadEveryEventIsCounted) {
  uint64_t i = 0;
  Run(10, 100, [&] { top.Read(fmt::format("k{}", i++ % 4)); });
  const auto keys = top.Take().Keys(HotOrder::kReads, 10);
  ASSERT_EQ(keys.size(), 4u);
  for (const HotKey& key : keys) {
    EXPECT_NEAR(key.reads.per_second, 25, 0.1);
    EXPECT_EQ(key.reads.error, 0);
    EXPECT_EQ(key.writes.per_second, 0);
  }
}

TEST_F(TopKeysTest, InAUniformStreamNothingIsHotAndNothingGrows) {
  Run(10, 30'000, [&] { top.Read(fmt::format("k{}", random())); });
  const HotKeys taken = top.Take();
  const auto keys = taken.Keys(HotOrder::kReads, 10'000);
  EXPECT_LE(keys.size(), 512u);
  for (const HotKey& key : keys) EXPECT_LT(key.reads.per_second, 10);
  EXPECT_NEAR(taken.reads_per_second(), 30'000, 3'000);
}

TEST_F(TopKeysTest, HotMeansNow) {
  Run(60, 200, [&] { top.Read("before"); });
  Run(60, 200, [&] { top.Read("now"); });
  auto keys = top.Take().Keys(HotOrder::kReads, 2);
  ASSERT_EQ(keys.size(), 2u);
  EXPECT_EQ(keys[0].key, "now");
  EXPECT_NEAR(keys[1].reads.per_second, keys[0].reads.per_second / 2, 1);
  clock.Advance(Duration::Seconds(3600));
  EXPECT_TRUE(top.Take().Keys(HotOrder::kReads, 2).empty());
  // Also when it was idle for so long that nothing is left of a weight.
  clock.Advance(Duration::Seconds(1'000'000'000));
  Run(1, 100, [&] { top.Read("later"); });
  keys = top.Take().Keys(HotOrder::kReads, 2);
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].key, "later");
}

TEST_F(TopKeysTest, RatesHoldOverManyHalfLives) {
  Run(3600 * 2, 50, [&] { top.Write("k", 10); });
  const auto keys = top.Take().Keys(HotOrder::kWrites, 1);
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_NEAR(keys[0].writes.per_second, 50, 1);
  EXPECT_NEAR(keys[0].writes.bytes_per_second, 500, 10);
}

TEST_F(TopKeysTest, SamplingFollowsTheLoadDown) {
  Run(5, 1'000'000, [&] { top.Read("rush"); });
  Run(60, 100, [&] { top.Read("calm"); });
  Run(30, 100, [&] { top.Read("calm too"); });
  const auto keys = top.Take().Keys(HotOrder::kReads, 3);
  const HotKey* calm = Find(keys, "calm too");
  ASSERT_NE(calm, nullptr);
  // 3,000 events of the last 30 s, of 95 s in all.
  const double whole = 60 / std::log(2) * (1 - std::exp2(-95.0 / 60));
  const double part = 60 / std::log(2) * (1 - std::exp2(-30.0 / 60));
  EXPECT_NEAR(calm->reads.per_second, 100 * part / whole, 3);
}

TEST_F(TopKeysTest, PrefixesAreCutBehindEachOfFourDelimiters) {
  const auto cut = [](BytesView key) {
    PrefixEnds ends;
    std::string cuts;
    const size_t count = CutAtDelimiters(key, &ends);
    for (size_t i = 0; i < count; ++i) cuts += fmt::format("[{}]", key.substr(0, ends[i]));
    return cuts;
  };
  EXPECT_EQ(cut(""), "");
  EXPECT_EQ(cut("plain.key-1"), "");
  EXPECT_EQ(cut("user:17"), "[user:]");
  EXPECT_EQ(cut("t/acme#case|1:2/3"), "[t/][t/acme#][t/acme#case|][t/acme#case|1:]");
  EXPECT_EQ(cut("//"), "[/][//]");
  EXPECT_EQ(cut(std::string(255, 'x') + "/y"), fmt::format("[{}/]", std::string(255, 'x')));
  EXPECT_EQ(cut(std::string(256, 'x') + "/y"), "");
}

TEST_F(TopKeysTest, LongKeysAreCutButToldApart) {
  const Bytes start(8000, 'x');
  Run(1, 100, [&] {
    top.Read(start + "1");
    top.Read(start + "2");
    top.Read(Bytes(256, 'y'));
  });
  const auto keys = top.Take().Keys(HotOrder::kReads, 10);
  ASSERT_EQ(keys.size(), 3u);
  for (const HotKey& key : keys) {
    EXPECT_EQ(key.key.size(), 256u);
    EXPECT_EQ(key.cut, key.key[0] == 'x');
    EXPECT_NEAR(key.reads.per_second, 100, 2);
  }
}

TEST_F(TopKeysTest, AnyBytesAreAKey) {
  const Bytes keys[] = {"", Bytes(1, '\0'), Bytes("a\0b", 3), "\xff\xfe", "a"};
  Run(1, 50, [&] {
    for (const Bytes& key : keys) top.Write(key, 0);
  });
  EXPECT_EQ(top.Take().Keys(HotOrder::kWrites, 10).size(), 5u);
}

// Whoever sends ever new keys between those of others does not push a hot one out.
TEST_F(TopKeysTest, AHotKeyStandsAgainstAFloodOfNewOnes) {
  uint64_t n = 0;
  Run(10, 50'000, [&] { top.Read(n++ % 50 == 0 ? "hot" : fmt::format("{}/{}/{}/{}/{}", n, n, n, n, n)); });
  const auto keys = top.Take().Keys(HotOrder::kReads, 1);
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].key, "hot");
  EXPECT_NEAR(keys[0].reads.per_second, 1000, 200);
}

TEST_F(TopKeysTest, ARhythmOfRequestsIsNeitherMissedNorFavoured) {
  uint64_t n = 0;
  Run(20, 64'000, [&] { top.Read(fmt::format("k{}", n++ % 8)); });
  const auto keys = top.Take().Keys(HotOrder::kReads, 8);
  ASSERT_EQ(keys.size(), 8u);
  for (const HotKey& key : keys) EXPECT_NEAR(key.reads.per_second, 8000, 800) << key.key;
}

TEST_F(TopKeysTest, PrefixesMayBeCutBySomebodyWhoKnows) {
  TopKeys::Options options = Seeded();
  options.cut = [](BytesView, PrefixEnds* ends) -> size_t {
    (*ends)[0] = 2;
    return 1;
  };
  TopKeys known(clock, options);
  Run(1, 100, [&] { known.Read("ab/c/d"); });
  const auto prefixes = known.Take().Prefixes(HotOrder::kReads, 5);
  ASSERT_EQ(prefixes.size(), 1u);
  EXPECT_EQ(prefixes[0].key, "ab");
}

TEST_F(TopKeysTest, SnapshotsOfSeveralAreMerged) {
  TopKeys other(clock, Seeded());
  Run(10, 100, [&] {
    top.Read("both", 1);
    top.Read("here", 1);
    other.Read("both", 1);
    other.Write("there", 5);
  });
  HotKeys merged = top.Take();
  merged.Merge(other.Take());
  const auto by_reads = merged.Keys(HotOrder::kReads, 10);
  ASSERT_EQ(by_reads.size(), 2u);
  EXPECT_EQ(by_reads[0].key, "both");
  EXPECT_NEAR(by_reads[0].reads.per_second, 200, 2);
  EXPECT_NEAR(by_reads[1].reads.per_second, 100, 1);
  EXPECT_NEAR(merged.reads_per_second(), 300, 3);
  EXPECT_NEAR(merged.writes_per_second(), 100, 1);
  const auto by_bytes = merged.Keys(HotOrder::kBytes, 1);
  ASSERT_EQ(by_bytes.size(), 1u);
  EXPECT_EQ(by_bytes[0].key, "there");
  HotKeys into_nothing;
  into_nothing.Merge(merged);
  EXPECT_EQ(into_nothing.Keys(HotOrder::kReads, 10).size(), 2u);
}

// What a full table has not held counts as an error of the other's keys.
TEST_F(TopKeysTest, TheErrorOfAMergeKnowsWhatOneSideMayHaveForgotten) {
  TopKeys::Options options = Seeded();
  options.capacity = 4;
  TopKeys crowded(clock, options);
  uint64_t n = 0;
  Run(10, 100, [&] {
    crowded.Read(fmt::format("k{}", n++ % 40));
    top.Read("mine");
  });
  HotKeys merged = top.Take();
  merged.Merge(crowded.Take());
  const auto keys = merged.Keys(HotOrder::kReads, 1);
  ASSERT_EQ(keys.size(), 1u);
  EXPECT_EQ(keys[0].key, "mine");
  EXPECT_GT(keys[0].reads.error, 20);
}

TEST_F(TopKeysTest, SnapshotsAreTakenWhileTheOwnerGoesOn) {
  const SystemClock system;
  TopKeys busy(system);
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!done.load()) {
        for (const HotKey& key : busy.Take().Keys(HotOrder::kReads, 1000)) EXPECT_EQ(key.key[0], 'k');
      }
    });
  }
  for (uint64_t i = 0; i < 100'000; ++i) {
    const Bytes key = fmt::format("k:{}", i % 1000);
    busy.Read(key, 1);
    busy.Write(key, 1);
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  // What found the tables in use is counted with a later sample: with one of these, when nobody else is at them.
  for (uint64_t i = 0; i < 10'000; ++i) busy.Read("k", 1);
  const HotKeys taken = busy.Take();
  EXPECT_GT(taken.reads_per_second() + taken.writes_per_second(), 0);
}

TEST_F(TopKeysTest, GroupsAreCountedWhateverTheirKeysAre) {
  TopKeys::Options options;
  options.capacity = 4;  // far fewer than there are keys
  options.group = [](BytesView key) { return key.starts_with("a") ? BytesView("as") : BytesView(); };
  TopKeys grouped(clock, options);
  for (int i = 0; i < 100; ++i) {
    grouped.Read("a" + std::to_string(i), 10);
    grouped.Write("a" + std::to_string(i), 20);
    grouped.Read("b" + std::to_string(i), 10);
  }
  HotKeys hot = grouped.Take();
  hot.Merge(grouped.Take());
  const std::vector<HotKey> groups = hot.Groups(HotOrder::kReads, 10);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].key, "as");
  EXPECT_DOUBLE_EQ(groups[0].reads.per_second, hot.reads_per_second() / 2);
  EXPECT_DOUBLE_EQ(groups[0].writes.per_second, hot.writes_per_second());
  EXPECT_DOUBLE_EQ(groups[0].writes.bytes_per_second, 20 * hot.writes_per_second());
}

}  // namespace
}  // namespace kvarts
