#include "engine/stats.h"

namespace kvarts {
namespace {

double Ratio(uint64_t a, uint64_t b) { return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b); }

}  // namespace

double EngineStats::WriteAmplification() const { return Ratio(storage_bytes_written, user_bytes_written); }

double EngineStats::SpaceAmplification() const { return Ratio(live_bytes + stale_bytes, live_bytes); }

double EngineStats::FilterEffect() const {
  return Ratio(read_path.filter_spared, read_path.filter_spared + read_path.filter_false_positives);
}

WorkStats& WorkStats::operator+=(const WorkStats& other) {
  count += other.count;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  micros += other.micros;
  return *this;
}

double EngineStats::TombstoneRatio() const {
  uint64_t entries = 0;
  uint64_t tombstones = 0;
  for (const LevelStats& level : levels) {
    entries += level.entries;
    tombstones += level.tombstones;
  }
  return Ratio(tombstones, entries);
}

}  // namespace kvarts
