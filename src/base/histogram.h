// Histograms for always-on use: how long things took, or how large they were, in a fixed table of counts.
//
// Buckets are log-linear: eight of the same width in every power of two, so a quantile is known to within an eighth of
// itself, and small values of a size are exact. A bucket takes its upper edge in, as Prometheus' `le` does. One is
// about 1.8 KiB and never allocates.
//
// Recording costs a few nanoseconds. Anybody may Record; where only a single thread ever does, RecordAlone saves the
// locked instructions. Take may be called from any thread at any time: what is recorded meanwhile is in the snapshot or
// in the next one, and count and quantiles of a snapshot always agree.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kvarts {

// How values become buckets. A value is counted in units: `unit` 125 for nanoseconds, so that powers of two of a
// microsecond are edges, and 1 for sizes.
struct HistogramBuckets {
  static constexpr size_t kPerOctave = 8;
  static constexpr size_t kOctaves = 27;  // beyond the first eight units
  static constexpr size_t kCount = kPerOctave * (kOctaves + 1) + 1;
  static constexpr size_t kOverflow = kCount - 1;

  // The bucket of a number of whole units below the value.
  static size_t IndexOf(uint64_t units) {
    if (units < kPerOctave) return units;
    const auto octave = static_cast<size_t>(std::bit_width(units)) - std::bit_width(kPerOctave);
    const size_t index = kPerOctave * octave + static_cast<size_t>(units >> octave);
    return index < kOverflow ? index : kOverflow;
  }
  // The largest number of units that the bucket takes; the overflow bucket has none, and answers with its lower edge.
  static uint64_t UpperEdge(size_t index);
  static uint64_t LowerEdge(size_t index) { return index == 0 ? 0 : UpperEdge(index - 1); }
};

// What a histogram held at one instant. Values are in `scale`: seconds for latencies, plain numbers for sizes.
class HistogramSnapshot {
 public:
  // One that is empty, and takes the scale of what is merged into it.
  HistogramSnapshot() = default;

  uint64_t Count() const;
  double Sum() const { return static_cast<double>(sum_) * value_scale_; }
  double Mean() const;
  // The value that a share `q` of all values do not exceed, 0 when there are none. At most an eighth too high or too
  // low (for latencies below a microsecond: 125 ns), unless it lies beyond the last edge, which it then is.
  double Quantile(double q) const;
  // How many values are at most this. Exact for edges, so for all of the boundaries below; else a little too low.
  uint64_t CountAtMost(double value) const;

  HistogramSnapshot& operator+=(const HistogramSnapshot& other);
  // What was recorded since an earlier snapshot of the same histogram.
  HistogramSnapshot Since(const HistogramSnapshot& earlier) const;

 private:
  friend class HistogramTable;

  std::array<uint64_t, HistogramBuckets::kCount> counts_{};
  uint64_t sum_ = 0;        // as recorded
  double scale_ = 0;        // of a unit
  double value_scale_ = 0;  // of what is recorded
};

// The table itself; use one of the two below.
class HistogramTable {
 protected:
  void Add(size_t bucket, uint64_t value) {
    counts_[bucket].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }
  void AddAlone(size_t bucket, uint64_t value) {
    counts_[bucket].store(counts_[bucket].load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    sum_.store(sum_.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
  }
  HistogramSnapshot TakeScaled(double unit_scale, double value_scale) const;

 private:
  std::array<std::atomic<uint64_t>, HistogramBuckets::kCount> counts_{};
  std::atomic<uint64_t> sum_{0};
};

// Nanoseconds in, seconds out. From 125 ns to 134 s; what is longer is counted beyond that.
class LatencyHistogram : public HistogramTable {
 public:
  static constexpr uint64_t kUnitNanos = 125;

  void Record(uint64_t nanos) { Add(BucketOf(nanos), nanos); }
  void RecordAlone(uint64_t nanos) { AddAlone(BucketOf(nanos), nanos); }
  HistogramSnapshot Take() const { return TakeScaled(1e-9 * kUnitNanos, 1e-9); }

  // For metrics, in seconds: every power of two of a microsecond from 2 us to 16.8 s. They never change.
  static std::span<const double> Boundaries();

 private:
  static size_t BucketOf(uint64_t nanos) {
    return nanos == 0 ? 0 : HistogramBuckets::IndexOf((nanos - 1) / kUnitNanos);
  }
};

// Plain numbers: commits of a group, bytes of a request. Up to a billion; what is larger is counted beyond that.
class SizeHistogram : public HistogramTable {
 public:
  void Record(uint64_t size) { Add(BucketOf(size), size); }
  void RecordAlone(uint64_t size) { AddAlone(BucketOf(size), size); }
  HistogramSnapshot Take() const { return TakeScaled(1, 1); }

  // For metrics: the powers of two from 1 to 2^20. They never change.
  static std::span<const double> Boundaries();

 private:
  static size_t BucketOf(uint64_t size) { return size == 0 ? 0 : HistogramBuckets::IndexOf(size - 1); }
};

}  // namespace kvarts
