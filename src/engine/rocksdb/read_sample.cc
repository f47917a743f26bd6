#include "engine/rocksdb/read_sample.h"

#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <functional>
#include <thread>

namespace kvarts {
namespace {

void Add(std::atomic<uint64_t>* counter, uint64_t count) {
  if (count != 0) counter->fetch_add(count, std::memory_order_relaxed);
}

// How many reads until the next one: a period on average, and never in step with anything.
uint32_t NextSkip() {
  static thread_local uint64_t state = std::hash<std::thread::id>()(std::this_thread::get_id()) | 1;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return 1 + static_cast<uint32_t>(state % (2 * ReadSample::kPeriod - 1));
}

}  // namespace

void ReadCounts::AddThread(uint64_t times) {
  const rocksdb::PerfContext& seen = *rocksdb::get_perf_context();
  const uint64_t hits = seen.block_cache_index_hit_count + seen.block_cache_filter_hit_count;
  const uint64_t reads = seen.index_block_read_count + seen.filter_block_read_count;
  Add(&data_hits_, times * (seen.block_cache_hit_count - std::min(seen.block_cache_hit_count, hits)));
  Add(&data_misses_, times * (seen.block_read_count - std::min(seen.block_read_count, reads)));
  Add(&index_hits_, times * seen.block_cache_index_hit_count);
  Add(&index_misses_, times * seen.index_block_read_count);
  Add(&filter_hits_, times * seen.block_cache_filter_hit_count);
  Add(&filter_misses_, times * seen.filter_block_read_count);
  if (seen.level_to_perf_context == nullptr) return;
  for (const auto& [level, by_level] : *seen.level_to_perf_context) {
    Add(&spared_, times * by_level.bloom_filter_useful);
    Add(&passed_, times * by_level.bloom_filter_full_positive);
    Add(&found_, times * by_level.bloom_filter_full_true_positive);
  }
}

ReadPathStats ReadCounts::Take() const {
  ReadPathStats stats;
  stats.filter_spared = spared_;
  const uint64_t found = found_;  // before what it is a part of
  stats.filter_passed = passed_;
  stats.filter_false_positives = stats.filter_passed - std::min(stats.filter_passed, found);
  stats.data_blocks = {.hits = data_hits_, .misses = data_misses_};
  stats.index_blocks = {.hits = index_hits_, .misses = index_misses_};
  stats.filter_blocks = {.hits = filter_hits_, .misses = filter_misses_};
  return stats;
}

void ReadSample::Begin() {
  // The first read of a thread stands for itself only.
  static thread_local bool begun = false;
  times_ = begun ? kPeriod : 1;
  begun = true;
  left_ = NextSkip();
  looking_ = true;
  rocksdb::PerfContext& context = *rocksdb::get_perf_context();
  if (context.level_to_perf_context == nullptr) context.EnablePerLevelPerfContext();
  context.Reset();
  rocksdb::SetPerfLevel(rocksdb::kEnableCount);
}

void ReadSample::End() {
  rocksdb::SetPerfLevel(rocksdb::kDisable);
  counts_.AddThread(times_);
}

}  // namespace kvarts
