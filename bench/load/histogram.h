// How often which latency was seen, in buckets that are at most 1/64 of their value wide: quantiles are that exact,
// from nanoseconds to days, in a fixed amount of memory. For one thread; histograms of several are merged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace kvarts::load {

class Histogram {
 public:
  void Add(uint64_t nanos);
  void Merge(const Histogram& other);

  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; }
  double Mean() const;
  // The value that this share of all is not above; zero when there are none.
  uint64_t Quantile(double share) const;

 private:
  static constexpr unsigned kFineBits = 6;
  static constexpr uint64_t kFine = uint64_t{1} << kFineBits;  // buckets for each power of two
  static constexpr unsigned kPowers = 43;  // the last bucket also has what took longer than three days

  static size_t BucketOf(uint64_t nanos);
  static uint64_t LastOf(size_t bucket);

  std::array<uint64_t, kPowers * kFine> buckets_{};
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

}  // namespace kvarts::load
