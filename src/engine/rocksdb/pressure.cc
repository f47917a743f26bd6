#include "engine/rocksdb/pressure.h"

#include <algorithm>

namespace kvarts {
namespace {

using Properties = rocksdb::DB::Properties;

double Property(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const std::string& name) {
  uint64_t value = 0;
  db.GetIntProperty(family, name, &value);
  return static_cast<double>(value);
}

// The way from `from` to `to`, from 0 to 1.
double Way(double is, double from, double to) {
  return to <= from ? 0 : std::clamp((is - from) / (to - from), 0.0, 1.0);
}

}  // namespace

double PressureGauge::MeasureOne(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* family, const Stops& stops) {
  // One buffer being flushed is as it should be. The one that is being filled counts by how full it is.
  const double sealed = Property(db, family, Properties::kNumImmutableMemTable);
  const double filled = Property(db, family, Properties::kCurSizeActiveMemTable) /
                        static_cast<double>(std::max<uint64_t>(stops.buffer_bytes, 1));
  const double buffers = sealed == 0 ? 0 : Way(sealed + std::min(filled, 1.0), 1, static_cast<double>(stops.buffers));
  std::string text;
  const double fresh_files =
      db.GetProperty(family, Properties::kNumFilesAtLevelPrefix + "0", &text) ? std::strtod(text.c_str(), nullptr) : 0;
  const double files = Way(fresh_files, static_cast<double>(stops.usual_files), static_cast<double>(stops.files));
  const double pending = Way(Property(db, family, Properties::kEstimatePendingCompactionBytes), 0,
                             static_cast<double>(stops.pending_bytes));
  return std::max({buffers, files, pending});
}

void PressureGauge::Measure(rocksdb::DB& db, const std::array<rocksdb::ColumnFamilyHandle*, kProfiles>& families) {
  if (!ready_) {
    for (size_t i = 0; i < kProfiles; ++i) {
      const rocksdb::Options options = db.GetOptions(families[i]);
      stops_[i] = {.buffers = static_cast<uint64_t>(options.max_write_buffer_number),
                   .buffer_bytes = options.write_buffer_size,
                   .usual_files = static_cast<uint64_t>(options.level0_file_num_compaction_trigger),
                   .files = static_cast<uint64_t>(options.level0_stop_writes_trigger),
                   .pending_bytes = options.hard_pending_compaction_bytes_limit};
    }
    ready_ = true;
  }
  double highest = 0;
  for (size_t i = 0; i < kProfiles; ++i) {
    const double pressure = MeasureOne(db, families[i], stops_[i]);
    by_profile_[i].store(pressure, std::memory_order_relaxed);
    highest = std::max(highest, pressure);
  }
  highest_.store(highest, std::memory_order_relaxed);
}

}  // namespace kvarts
