// The embedded engine: the keyspace on RocksDB, in a data directory of its own.
//
// All commits of a process pass one committer (committer.h), which checks, orders, versions and writes them in groups,
// one log sync a group. Reads never wait for it: they go to the hot-value cache (hot_cache.h) or to RocksDB at
// the last published read point (rocks_store.h). A keeper thread (keeper.h) watches the disk, closes views that are too
// old and drops files that a range erase has emptied. docs/architecture.md follows a put and a get through here.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "engine/engine.h"

namespace rocksdb {
class FileSystem;
}

namespace kvarts {

struct RocksOptions {
  Limits limits;
  // Where time comes from; the system's clock if not given.
  std::shared_ptr<Clock> clock;

  // Make the data directory if it is not there.
  bool create_if_missing = true;
  // Bring a directory of the previous format up to date instead of refusing it.
  bool upgrade = false;

  // For everything that grows with load: hot values, blocks, index and filter blocks, write buffers. A process stays
  // within 1.15 times this, plus what its own requests hold.
  size_t memory_budget = 512 << 20;
  // Of that, the share of the hot-value cache, and the largest value it takes.
  size_t hot_cache_bytes = 64 << 20;
  size_t hot_cache_max_value = 4 << 10;

  // How long after its acknowledgement an `interval` commit may be lost with the machine.
  Duration sync_interval = Duration::Millis(100);
  // How far ahead versions are reserved on disk. After a crash the store waits this long at most before it opens.
  Duration version_reserve = Duration::Millis(500);
  // How long a commit waits for compaction to catch up before it fails as `overloaded`.
  Duration stall_patience = Duration::Seconds(2);
  // Writes are refused while the disk has less than this left, so that the store can still tidy up.
  uint64_t min_free_disk_bytes = 64 << 20;
  // How often the keeper thread looks around.
  Duration keeper_interval = Duration::Millis(100);

  // Values from this size on are kept in blob files, out of compaction's way.
  uint64_t blob_min_bytes = 16 << 10;
  int background_threads = 2;

  // The file system beneath RocksDB; the operating system's if not given. Tests inject faults here.
  std::shared_ptr<rocksdb::FileSystem> file_system;
};

// Opens the store in `dir`. Errors say what is wrong with the directory: not_found (missing), unavailable (in use),
// invalid_argument (not ours, another format), corruption (damaged).
Result<std::unique_ptr<Engine>> OpenRocksEngine(const std::string& dir, RocksOptions options);

}  // namespace kvarts
