#include "load/histogram.h"

#include <gtest/gtest.h>

#include <limits>

namespace kvarts::load {
namespace {

TEST(Histogram, QuantilesAreOffByAFewPercentAtMost) {
  Histogram histogram;
  for (uint64_t i = 1; i <= 100'000; ++i) histogram.Add(i * 1000);
  for (const double share : {0.001, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = share * 100'000 * 1000;
    EXPECT_GE(static_cast<double>(histogram.Quantile(share)), exact * 0.999) << share;
    EXPECT_LE(static_cast<double>(histogram.Quantile(share)), exact * 1.02) << share;
  }
  EXPECT_EQ(histogram.Quantile(1), 100'000'000U);
  EXPECT_EQ(histogram.max(), 100'000'000U);
  EXPECT_DOUBLE_EQ(histogram.Mean(), 50'000'500);
}

TEST(Histogram, SmallAndHugeValuesAreKept) {
  Histogram histogram;
  for (const uint64_t value : {0, 1, 63, 64, 65}) histogram.Add(value);
  EXPECT_EQ(histogram.Quantile(0.2), 0U);
  EXPECT_EQ(histogram.Quantile(0.6), 63U);
  EXPECT_EQ(histogram.Quantile(0.8), 64U);
  histogram.Add(uint64_t{1} << 60);
  EXPECT_EQ(histogram.max(), uint64_t{1} << 60);
  EXPECT_GT(histogram.Quantile(1), uint64_t{1} << 47);
}

TEST(Histogram, NothingHasNoQuantiles) {
  const Histogram histogram;
  EXPECT_EQ(histogram.Quantile(0.5), 0U);
  EXPECT_EQ(histogram.Mean(), 0);
}

TEST(Histogram, MergedIsAsIfAddedToOne) {
  Histogram one;
  Histogram other;
  Histogram both;
  for (uint64_t i = 0; i < 1000; ++i) {
    (i % 3 == 0 ? one : other).Add(i * i);
    both.Add(i * i);
  }
  one.Merge(other);
  EXPECT_EQ(one.count(), 1000U);
  for (const double share : {0.1, 0.5, 0.99}) EXPECT_EQ(one.Quantile(share), both.Quantile(share));
}

}  // namespace
}  // namespace kvarts::load
