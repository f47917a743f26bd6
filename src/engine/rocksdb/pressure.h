// How near the store is to stalling: 0 when compaction and flushes keep up, 1 where RocksDB stops writes.
//
// RocksDB stops writes to a family when too many write buffers wait to be flushed, when level 0 has too many files, or
// when compaction is too far behind. Tuning leaves it no softer way (tuning.cc says why), so whoever writes has to slow
// down by himself; this tells him how much.
#pragma once

#include <rocksdb/db.h>

#include <array>
#include <atomic>

#include "engine/rocksdb/routing.h"

namespace kvarts {

class PressureGauge {
 public:
  // Asks the database; a few microseconds.
  void Measure(rocksdb::DB& db, const std::array<rocksdb::ColumnFamilyHandle*, kProfiles>& families);
  // As last measured; the highest of all profiles.
  double value() const { return highest_.load(std::memory_order_relaxed); }
  double Of(Profile profile) const { return by_profile_[static_cast<size_t>(profile)].load(std::memory_order_relaxed); }

 private:
  // Where a family's writes are stopped.
  struct Stops {
    uint64_t buffers = 0;
    uint64_t buffer_bytes = 0;
    uint64_t usual_files = 0;  // of level 0, before they are compacted
    uint64_t files = 0;
    uint64_t pending_bytes = 0;
  };
  static double MeasureOne(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const Stops& stops);

  bool ready_ = false;
  std::array<Stops, kProfiles> stops_;
  std::array<std::atomic<double>, kProfiles> by_profile_{};
  std::atomic<double> highest_{0};
};

}  // namespace kvarts
