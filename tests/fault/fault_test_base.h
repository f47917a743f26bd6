// A RocksDB store for fault tests: on a clock that only the test moves, over a file system that fails on demand, in a
// directory that can be looked at and damaged while the store is closed.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"
#include "engine/rocksdb/rocks_engine.h"
#include "support/commits.h"
#include "support/engines.h"
#include "support/files.h"
#include "support/reads.h"
#include "support/sync_tracking_fs.h"
#include "support/temp_dir.h"

namespace kvarts::test {

class FaultTest : public ::testing::Test {
 protected:
  FaultTest();

  std::string dir() const { return temp_ / "store"; }
  std::string data() const { return dir() + "/data"; }
  Engine& engine() { return *engine_; }
  ManualClock& clock() { return *clock_; }
  SyncTrackingFs& files() { return *files_; }

  // What the next Open opens with; small, so that a test reaches every limit soon.
  RocksOptions options;

  Result<std::unique_ptr<Engine>> TryOpen() { return OpenRocksEngine(dir(), options); }
  void Open();
  void Close() { engine_.reset(); }
  // Ends the store as a power failure does, with this much left of what was not synced.
  void LosePower(const PowerLoss& loss = {});
  // Keeps a copy of the closed store, and goes back to it.
  void Keep();
  void Restore();
  // The code of what TryOpen says, and the error in full.
  std::string OpenCode(std::string* text = nullptr);

  Result<Committed> Commit(std::vector<Mutation> mutations, Durability durability = Durability::kSync);
  // Fails the test unless it commits.
  Version Put(BytesView key, BytesView value, Durability durability = Durability::kSync);
  Version Put(BytesView key, BytesView value, Timestamp expiry);
  std::string PutCode(BytesView key, BytesView value) { return CodeOf(Commit({Mutation::Put(key, value)})); }
  // The value, "absent", or the error.
  std::string Value(BytesView key, const ReadOptions& read = {});
  // Everything, as "a=1 b=2".
  std::string Contents();

  // The files of that kind in the data directory, in the order of their numbers.
  std::vector<std::string> FilesOf(FileKind kind) const;
  // Waits until it is so, however long that takes; ctest's limit ends a test that waits in vain.
  static void WaitUntil(const std::function<bool()>& so);

 private:
  TempDir temp_;
  std::shared_ptr<ManualClock> clock_;
  std::shared_ptr<SyncTrackingFs> files_;
  std::unique_ptr<Engine> engine_;
};

// Turns over all bits of the bytes from `at`.
void FlipBytes(const std::string& path, size_t at, size_t count = 1);
void CutTo(const std::string& path, size_t size);

}  // namespace kvarts::test
