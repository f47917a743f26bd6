// Survey: looks for partitions that have grown wide. All rows of a partition live together, and are read and moved
// together, so one that grows without end becomes what everything waits for, and only a change of the model helps.
//
// A table is cut into pieces as large as half a wide partition, so each wide partition has a cut in it, as far as
// estimates tell; only partitions with a cut in them are looked at. What that costs grows with the size of the data
// over that of a wide partition, and not with the number of partitions. What is too large for so many pieces at once is
// cut again piece by piece.
#pragma once

#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "model/table/tables.h"

namespace kvarts {

struct WidePartition {
  TablePath table;
  std::string index;      // empty: of the rows themselves
  std::string partition;  // the values of its fields, for people
  uint64_t bytes = 0;     // as stored, by estimate
};

// The widest first, at most kMaxWidePartitions. `unavailable` when it was stopped.
inline constexpr size_t kMaxWidePartitions = 100;
struct SurveyOptions {
  uint64_t wide_bytes;       // a partition is wide that holds more
  size_t max_pieces = 1024;  // that something is cut into at once; two at least
};
Result<std::vector<WidePartition>> FindWidePartitions(Engine& engine, const SurveyOptions& options,
                                                      const std::stop_token& stop = {});

// What the last look has found. Safe from any thread.
class Survey {
 public:
  // Logs those that were not there before.
  Status Look(Engine& engine, uint64_t wide_bytes, const std::stop_token& stop = {});
  std::vector<WidePartition> wide_partitions() const;

 private:
  mutable std::mutex mutex_;
  std::vector<WidePartition> wide_;
};

}  // namespace kvarts
