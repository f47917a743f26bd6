// What reads find on their way through RocksDB: what Bloom filters spared them, and whether blocks were in the cache.
//
// RocksDB's own statistics count every step of every read, which is felt. So its counters of a thread are switched on
// for one read in about 64, at random, and what they show counts for all of them. A read that is not looked at pays for
// one decrement.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/stats.h"

namespace kvarts {

// Safe from any thread.
class ReadCounts {
 public:
  ReadPathStats Take() const;
  // Adds what the counters of this thread show since they were reset, so many times.
  void AddThread(uint64_t times);

 private:
  std::atomic<uint64_t> spared_{0};
  std::atomic<uint64_t> passed_{0};
  std::atomic<uint64_t> found_{0};
  std::atomic<uint64_t> data_hits_{0}, data_misses_{0};
  std::atomic<uint64_t> index_hits_{0}, index_misses_{0};
  std::atomic<uint64_t> filter_hits_{0}, filter_misses_{0};
};

// Around the calls of one read; it must not lie within another one.
class ReadSample {
 public:
  static constexpr uint32_t kPeriod = 64;

  explicit ReadSample(ReadCounts& counts) : counts_(counts) {
    if (--left_ == 0) [[unlikely]]
      Begin();
  }
  ~ReadSample() {
    if (looking_) [[unlikely]]
      End();
  }
  ReadSample(const ReadSample&) = delete;
  ReadSample& operator=(const ReadSample&) = delete;

  bool looking() const { return looking_; }

 private:
  void Begin();
  void End();

  // A thread's first read is looked at, so that a short life shows something.
  static inline thread_local constinit uint32_t left_ = 1;
  ReadCounts& counts_;
  bool looking_ = false;
  uint32_t times_ = 1;
};

}  // namespace kvarts
