// What the store has done since it was opened, counted where it happens: for stats only, nothing depends on it.
#pragma once

#include <array>
#include <atomic>
#include <mutex>

#include "base/histogram.h"
#include "engine/engine.h"
#include "engine/rocksdb/read_sample.h"
#include "engine/rocksdb/routing.h"

namespace kvarts {

// Flushes and compactions by profile. They are rare, so a lock will do.
class BackgroundWork {
 public:
  struct Done {
    WorkStats flushes;
    WorkStats compactions;
  };

  void AddFlush(Profile profile, const WorkStats& flush) {
    const std::lock_guard lock(mutex_);
    done_[static_cast<size_t>(profile)].flushes += flush;
  }
  void AddCompaction(Profile profile, const WorkStats& compaction) {
    const std::lock_guard lock(mutex_);
    done_[static_cast<size_t>(profile)].compactions += compaction;
  }
  Done Of(Profile profile) const {
    const std::lock_guard lock(mutex_);
    return done_[static_cast<size_t>(profile)];
  }

 private:
  mutable std::mutex mutex_;
  std::array<Done, kProfiles> done_;
};

struct Activity {
  ReadCounts reads;
  BackgroundWork background;

  // Written by the commit thread.
  LatencyHistogram log_sync;
  SizeHistogram group_sizes;
  std::atomic<uint64_t> stalls{0};
  std::atomic<uint64_t> stall_micros{0};
  std::atomic<uint64_t> refused{0};
  std::atomic<uint64_t> taken{0};  // commits that have left the queue and wait for their group
};

}  // namespace kvarts
