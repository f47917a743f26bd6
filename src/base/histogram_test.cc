#include "base/histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

namespace kvarts {
namespace {

TEST(HistogramTest, BucketsFollowEachOtherWithoutGapOrOverlap) {
  for (size_t i = 0; i < HistogramBuckets::kOverflow; ++i) {
    const uint64_t lower = HistogramBuckets::LowerEdge(i);
    const uint64_t upper = HistogramBuckets::UpperEdge(i);
    ASSERT_LT(lower, upper) << i;
    EXPECT_EQ(HistogramBuckets::IndexOf(lower), i);
    EXPECT_EQ(HistogramBuckets::IndexOf(upper - 1), i);
    EXPECT_LE(upper - lower, std::max<uint64_t>(1, lower / HistogramBuckets::kPerOctave)) << i;
  }
  EXPECT_EQ(HistogramBuckets::IndexOf(HistogramBuckets::UpperEdge(HistogramBuckets::kOverflow)),
            HistogramBuckets::kOverflow);
  EXPECT_EQ(HistogramBuckets::IndexOf(UINT64_MAX), HistogramBuckets::kOverflow);
}

TEST(HistogramTest, AnEmptyOneIsZeroEverywhere) {
  const LatencyHistogram histogram;
  const HistogramSnapshot snapshot = histogram.Take();
  EXPECT_EQ(snapshot.Count(), 0u);
  EXPECT_EQ(snapshot.Sum(), 0);
  EXPECT_EQ(snapshot.Mean(), 0);
  EXPECT_EQ(snapshot.Quantile(0.5), 0);
  EXPECT_EQ(snapshot.CountAtMost(1), 0u);
  EXPECT_EQ(HistogramSnapshot().Quantile(0.99), 0);
}

TEST(HistogramTest, SmallSizesAreExact) {
  SizeHistogram histogram;
  for (uint64_t size = 1; size <= 16; ++size) histogram.Record(size);
  const HistogramSnapshot snapshot = histogram.Take();
  EXPECT_EQ(snapshot.Count(), 16u);
  EXPECT_EQ(snapshot.Sum(), 136);
  for (int size = 1; size <= 16; ++size) {
    EXPECT_EQ(snapshot.Quantile(size / 16.0), size);
    EXPECT_EQ(snapshot.CountAtMost(size), static_cast<uint64_t>(size));
  }
}

TEST(HistogramTest, ManyOfOneSizeHaveThatQuantile) {
  SizeHistogram histogram;
  for (int i = 0; i < 100; ++i) histogram.Record(1);
  for (const double q : {0.0, 0.5, 1.0}) EXPECT_EQ(histogram.Take().Quantile(q), 1);
}

TEST(HistogramTest, ABoundaryTakesItsOwnValueInAndNothingMore) {
  for (const double boundary : LatencyHistogram::Boundaries()) {
    LatencyHistogram histogram;
    const auto nanos = static_cast<uint64_t>(std::llround(boundary * 1e9));
    histogram.Record(nanos);
    histogram.Record(nanos + 1);
    EXPECT_EQ(histogram.Take().CountAtMost(boundary), 1u) << boundary;
  }
  for (const double boundary : SizeHistogram::Boundaries()) {
    SizeHistogram histogram;
    histogram.Record(static_cast<uint64_t>(boundary));
    histogram.Record(static_cast<uint64_t>(boundary) + 1);
    EXPECT_EQ(histogram.Take().CountAtMost(boundary), 1u) << boundary;
  }
}

TEST(HistogramTest, BoundariesAreTheOnesThatWerePublished) {
  const auto latencies = LatencyHistogram::Boundaries();
  ASSERT_EQ(latencies.size(), 24u);
  EXPECT_DOUBLE_EQ(latencies.front(), 0.000002);
  EXPECT_DOUBLE_EQ(latencies.back(), 16.777216);
  const auto sizes = SizeHistogram::Boundaries();
  ASSERT_EQ(sizes.size(), 21u);
  EXPECT_EQ(sizes.front(), 1);
  EXPECT_EQ(sizes.back(), 1 << 20);
}

TEST(HistogramTest, WhatIsBeyondTheLastEdgeIsCountedAndSummed) {
  LatencyHistogram histogram;
  const uint64_t hour = 3'600'000'000'000;
  histogram.Record(hour);
  const HistogramSnapshot snapshot = histogram.Take();
  EXPECT_EQ(snapshot.Count(), 1u);
  EXPECT_DOUBLE_EQ(snapshot.Sum(), 3600);
  EXPECT_NEAR(snapshot.Quantile(0.5), 134.2, 0.1);
  EXPECT_EQ(snapshot.CountAtMost(100), 0u);
}

RC_GTEST_PROP(HistogramProperties, QuantilesAreWithinAnEighth, ()) {
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  const auto count = *rc::gen::inRange<size_t>(1, 2000);
  std::mt19937_64 random(seed);
  LatencyHistogram histogram;
  std::vector<uint64_t> values;
  for (size_t i = 0; i < count; ++i) {
    // Evenly over magnitudes, from a microsecond to a minute.
    const double exponent = 3 + 7.7 * std::generate_canonical<double, 53>(random);
    values.push_back(static_cast<uint64_t>(std::pow(10, exponent)));
    histogram.Record(values.back());
  }
  std::ranges::sort(values);
  const HistogramSnapshot snapshot = histogram.Take();
  RC_ASSERT(snapshot.Count() == count);
  for (const double q : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<size_t>(std::max(1.0, std::ceil(q * static_cast<double>(count))));
    const double exact = static_cast<double>(values[rank - 1]) * 1e-9;
    RC_ASSERT(std::abs(snapshot.Quantile(q) - exact) <= exact / 8 + 1e-12);
  }
}

RC_GTEST_PROP(HistogramProperties, MergedIsAsIfRecordedTogether, (const std::vector<uint32_t>& values)) {
  LatencyHistogram together;
  LatencyHistogram apart[2];
  HistogramSnapshot merged;
  for (size_t i = 0; i < values.size(); ++i) {
    together.Record(values[i]);
    apart[i % 2].RecordAlone(values[i]);
  }
  for (const LatencyHistogram& part : apart) merged += part.Take();
  const HistogramSnapshot whole = together.Take();
  RC_ASSERT(merged.Count() == whole.Count());
  RC_ASSERT(merged.Sum() == whole.Sum());
  for (const double q : {0.1, 0.5, 0.99}) RC_ASSERT(merged.Quantile(q) == whole.Quantile(q));
  for (const double b : LatencyHistogram::Boundaries()) RC_ASSERT(merged.CountAtMost(b) == whole.CountAtMost(b));
}

TEST(HistogramTest, SinceIsWhatCameLater) {
  SizeHistogram histogram;
  histogram.Record(3);
  const HistogramSnapshot before = histogram.Take();
  histogram.Record(5);
  const HistogramSnapshot since = histogram.Take().Since(before);
  EXPECT_EQ(since.Count(), 1u);
  EXPECT_EQ(since.Sum(), 5);
  EXPECT_EQ(since.Quantile(0), 5);
}

TEST(HistogramTest, NothingIsLostWhenManyRecordAndSomeoneLooks) {
  LatencyHistogram histogram;
  constexpr int kThreads = 4;
  constexpr uint64_t kEach = 20'000;
  std::atomic<bool> done{false};
  std::thread reader([&] {
    uint64_t last = 0;
    while (!done.load()) {
      const uint64_t count = histogram.Take().Count();
      EXPECT_GE(count, last);
      last = count;
    }
  });
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&] {
      for (uint64_t i = 0; i < kEach; ++i) histogram.Record(i);
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  reader.join();
  EXPECT_EQ(histogram.Take().Count(), kThreads * kEach);
  EXPECT_NEAR(histogram.Take().Sum(), kThreads * kEach * (kEach - 1) / 2 * 1e-9, 1e-12);
}

TEST(HistogramTest, ASingleWriterMayRecordAloneWhileOthersLook) {
  SizeHistogram histogram;
  std::thread writer([&] {
    for (uint64_t i = 0; i < 50'000; ++i) histogram.RecordAlone(i);
  });
  for (int i = 0; i < 100; ++i) EXPECT_LE(histogram.Take().Count(), 50'000u);
  writer.join();
  EXPECT_EQ(histogram.Take().Count(), 50'000u);
}

}  // namespace
}  // namespace kvarts
