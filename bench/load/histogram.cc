#include "load/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace kvarts::load {

// Values below kFine have a bucket each. Above, the highest set bit says which power of two, and the bits after it
// which bucket of that.
size_t Histogram::BucketOf(uint64_t nanos) {
  if (nanos < kFine) return nanos;
  const auto power = static_cast<unsigned>(std::bit_width(nanos)) - kFineBits;
  const uint64_t fine = (nanos >> (power - 1)) & (kFine - 1);
  return std::min<size_t>(power * kFine + fine, kPowers * kFine - 1);
}

uint64_t Histogram::LastOf(size_t bucket) {
  const uint64_t power = bucket / kFine;
  if (power == 0) return bucket;
  return ((kFine + bucket % kFine + 1) << (power - 1)) - 1;
}

void Histogram::Add(uint64_t nanos) {
  ++buckets_[BucketOf(nanos)];
  ++count_;
  sum_ += nanos;
  max_ = std::max(max_, nanos);
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

double Histogram::Mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }

uint64_t Histogram::Quantile(double share) const {
  const auto wanted = static_cast<uint64_t>(std::ceil(share * static_cast<double>(count_)));
  uint64_t seen = 0;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= wanted && seen > 0) return std::min(LastOf(i), max_);
  }
  return max_;
}

}  // namespace kvarts::load
