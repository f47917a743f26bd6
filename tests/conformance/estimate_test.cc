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
      for (int n = i; n < i + kAtOnce; ++n)
        puts.push_back(Mutation::Put(KeyOf(n), fmt::format("{:0100}", int64_t{n} * 7919)));
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
  static void ExpectNear(uint64_t is, uint64_t exact) {
    EXPECT_GE(is, exact / 2);
    EXPECT_LE(is, exact * 2);
  }
  // Where there are none at all.
  void ExpectGaps(int count) {
    EXPECT_EQ(Estimate({KeyOf(count / 2) + "a", KeyOf(count / 2) + "b"}).entries, 0u);
    EXPECT_EQ(Estimate({"x", "y"}).entries, 0u);
    EXPECT_EQ(Estimate({"x", ""}).entries, 0u);
  }
};

TEST_P(EstimateTest, IsNearTheTruth) {
  const int count = LongRun() ? 1'000'000 : 100'000;
  Fill(count);
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  const RangeEstimate all = Estimate(KeyRange::All());
  ExpectNear(all.entries, static_cast<uint64_t>(count));
  EXPECT_GT(all.bytes, static_cast<uint64_t>(count) * 9);
  const RangeEstimate tenth = Estimate(Keys(count / 2, count / 2 + count / 10));
  ExpectNear(tenth.entries, static_cast<uint64_t>(count) / 10);
  ExpectNear(tenth.bytes, all.bytes / 10);
  ExpectGaps(count);
}

TEST_P(EstimateTest, OfAWriteBufferIsBetweenWhatWasCountedAndAllThereIs) {
  const int count = 50'000;
  Fill(count);
  for (int from = 0; from < count; from += 5000) {
    const RangeEstimate part = Estimate(Keys(from, from + 5000));
    EXPECT_GE(part.entries, 1000u);
    EXPECT_LE(part.entries, static_cast<uint64_t>(count));
  }
  ExpectGaps(count);
}

TEST_P(EstimateTest, OfAFewEntriesIsExact) {
  Fill(10'000);
  for (int from = 0; from < 10'000; from += 500) EXPECT_EQ(Estimate(Keys(from, from + 500)).entries, 500u);
  EXPECT_EQ(Estimate(Keys(77, 78)).entries, 1u);
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  for (int from = 0; from < 10'000; from += 500) EXPECT_EQ(Estimate(Keys(from, from + 500)).entries, 500u);
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
  EXPECT_EQ(Estimate(Keys(0, 10'000)).entries, 0u);
}

TEST_P(EstimateTest, ASumOverProfiles) {
  ASSERT_TRUE(engine().AssignProfile(Keys(30'000, 60'000), Profile::kIngest));
  Fill(90'000);
  EXPECT_GE(Estimate(Keys(20'000, 70'000)).entries, 1000u);
  ASSERT_TRUE(engine().Compact(KeyRange::All()));
  ExpectNear(Estimate(Keys(20'000, 70'000)).entries, 50'000);
}

KVARTS_ON_EVERY_ENGINE(EstimateTest);

}  // namespace
}  // namespace kvarts::test
