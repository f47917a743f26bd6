// What a range holds, by estimate: near the truth where there are many keys, wherever they are stored.
#include <fmt/format.h>

#include "conformance.h"
#include "support/environment.h"

namespace kvarts::test {
namespace {

class EstimateTest : public EngineTest {
 protected:
  // So many keys, the same size each.
  void Fill(int count) {
    durability_ = Durability::kNone;
    constexpr int kAtOnce = 5000;
    for (int i = 0; i < count; i += kAtOnce) {
      std::vector<Mutation> puts;
      for (int n = i; n < i + kAtOnce; ++n) puts.push_back(Mutation::Put(KeyOf(n), fmt::format("{:0100}", n * 7919)));
      Must(std::move(puts));
    }
  }
  static Bytes KeyOf(int n) { return fmt::format("k{:08}", n); }
  static KeyRange Keys(int from, int to) { return {KeyOf(from), KeyOf(to)}; }
  RangeEstimate Estimate(const KeyRange& range) {
    const auto estimate = engine().Estimate(range);
    EXPECT_TRUE(estimate) << estimate.error();
    return estimate ? *estimate : RangeEstimate();
  }
  static void ExpectNear(uint64_t is, uint64_t exact, uint64_t factor = 2) {
    EXPECT_GE(is, exact / factor);
    EXPECT_LE(is, exact * factor);
  }
  void CheckFill(int count, uint64_t factor) {
    const RangeEstimate all = Estimate(KeyRange::All());
    ExpectNear(all.entries, static_cast<uint64_t>(count));
    EXPECT_GT(all.bytes, static_cast<uint64_t>(count) * 9);
    const RangeEstimate tenth = Estimate(Keys(count / 2, count / 2 + count / 10));
    ExpectNear(tenth.entries, static_cast<uint64_t>(count) / 10, factor);
    ExpectNear(tenth.bytes, all.bytes / 10, factor);
    // Between two keys, and where there are none at all: a block or two at most.
    EXPECT_LE(Estimate({KeyOf(count / 2) + "a", KeyOf(count / 2) + "b"}).entries, 1000u);
    EXPECT_LE(Estimate({"x", "y"}).entries, 1000u);
    EXPECT_LE(Estimate({"x", ""}).entries, 1000u);
  }
};

TEST_P(EstimateTest, IsNearTheTruthInMemoryAndOnDisk) {
  const int count = LongRun() ? 1'000'000 : 100'000;
  Fill(count);
  CheckFill(count, 4);
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  CheckFill(count, 2);
}

TEST_P(EstimateTest, AnEmptyRangeHoldsNothing) {
  for (const KeyRange& range : {KeyRange::All(), KeyRange{"a", "b"}, KeyRange{"b", "a"}, KeyRange{"a", "a"}}) {
    EXPECT_EQ(Estimate(range).entries, 0u);
    EXPECT_EQ(Estimate(range).bytes, 0u);
  }
}

TEST_P(EstimateTest, WhatIsErasedAndCompactedIsGone) {
  Fill(20'000);
  Must({Mutation::EraseRange(KeyOf(0), KeyOf(10'000))});
  for (int i = 10'000; i < 12'000; ++i) Must({Mutation::Erase(KeyOf(i))});
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  ExpectNear(Estimate(KeyRange::All()).entries, 8'000);
  EXPECT_LE(Estimate(Keys(0, 10'000)).entries, 1000u);
}

TEST_P(EstimateTest, ASumOverProfiles) {
  ASSERT_TRUE(engine().AssignProfile(Keys(30'000, 60'000), Profile::kIngest));
  Fill(90'000);
  ExpectNear(Estimate(Keys(20'000, 70'000)).entries, 50'000, 4);
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  ExpectNear(Estimate(Keys(20'000, 70'000)).entries, 50'000);
}

KVARTS_ON_EVERY_ENGINE(EstimateTest);

}  // namespace
}  // namespace kvarts::test
