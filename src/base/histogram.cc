#include "base/histogram.h"

#include <algorithm>
#include <cmath>

namespace kvarts {
namespace {

template <size_t kCount>
std::array<double, kCount> PowersOfTwo(double first) {
  std::array<double, kCount> powers;
  for (size_t i = 0; i < kCount; ++i) powers[i] = first * static_cast<double>(uint64_t{1} << i);
  return powers;
}

}  // namespace

uint64_t HistogramBuckets::UpperEdge(size_t index) {
  if (index >= kOverflow) index = kOverflow - 1;
  if (index < kPerOctave) return index + 1;
  const size_t octave = index / kPerOctave - 1;
  return (kPerOctave + index % kPerOctave + 1) << octave;
}

uint64_t HistogramSnapshot::Count() const {
  uint64_t count = 0;
  for (const uint64_t in_bucket : counts_) count += in_bucket;
  return count;
}

double HistogramSnapshot::Mean() const {
  const uint64_t count = Count();
  return count == 0 ? 0 : Sum() / static_cast<double>(count);
}

double HistogramSnapshot::Quantile(double q) const {
  const uint64_t count = Count();
  if (count == 0) return 0;
  // The rank of the value that is asked for, from 1.
  const double rank = std::max(1.0, std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count)));
  uint64_t below = 0;
  for (size_t i = 0; i < HistogramBuckets::kOverflow; ++i) {
    if (static_cast<double>(below + counts_[i]) >= rank) {
      const auto lower = static_cast<double>(HistogramBuckets::LowerEdge(i) + 1);  // the edge itself is not in it
      const auto upper = static_cast<double>(HistogramBuckets::UpperEdge(i));
      const double share = (rank - static_cast<double>(below)) / static_cast<double>(counts_[i]);
      return (lower + (upper - lower) * share) * scale_;
    }
    below += counts_[i];
  }
  return static_cast<double>(HistogramBuckets::UpperEdge(HistogramBuckets::kOverflow)) * scale_;
}

uint64_t HistogramSnapshot::CountAtMost(double value) const {
  uint64_t count = 0;
  for (size_t i = 0; i < HistogramBuckets::kOverflow; ++i) {
    // Boundaries are products of the same numbers in another order: they may differ in the last bits.
    if (static_cast<double>(HistogramBuckets::UpperEdge(i)) * scale_ > value * (1 + 1e-9)) break;
    count += counts_[i];
  }
  return count;
}

HistogramSnapshot& HistogramSnapshot::operator+=(const HistogramSnapshot& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  sum_ += other.sum_;
  scale_ = std::max(scale_, other.scale_);
  value_scale_ = std::max(value_scale_, other.value_scale_);
  return *this;
}

HistogramSnapshot HistogramSnapshot::Since(const HistogramSnapshot& earlier) const {
  HistogramSnapshot since = *this;
  for (size_t i = 0; i < counts_.size(); ++i) since.counts_[i] -= std::min(since.counts_[i], earlier.counts_[i]);
  since.sum_ -= std::min(since.sum_, earlier.sum_);
  return since;
}

HistogramSnapshot HistogramTable::TakeScaled(double unit_scale, double value_scale) const {
  HistogramSnapshot snapshot;
  for (size_t i = 0; i < counts_.size(); ++i) snapshot.counts_[i] = counts_[i].load(std::memory_order_relaxed);
  snapshot.sum_ = sum_.load(std::memory_order_relaxed);
  snapshot.scale_ = unit_scale;
  snapshot.value_scale_ = value_scale;
  return snapshot;
}

std::span<const double> LatencyHistogram::Boundaries() {
  static const auto kBoundaries = PowersOfTwo<24>(2e-6);
  return kBoundaries;
}

std::span<const double> SizeHistogram::Boundaries() {
  static const auto kBoundaries = PowersOfTwo<21>(1);
  return kBoundaries;
}

}  // namespace kvarts
