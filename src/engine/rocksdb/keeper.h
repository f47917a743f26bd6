// The keeper: a thread that looks around every now and then. It closes views that are too old, refuses writes before
// the disk is full and allows them again when there is room, and drops the files of ranges that were erased for good.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/rocksdb/rocks_store.h"

namespace kvarts {

class Keeper {
 public:
  // `exclusively` runs a task on the commit thread.
  Keeper(RocksStore& store, std::function<Status(const std::function<Status()>&)> exclusively);
  ~Keeper();

  // Ends the thread; what is left to do is done after the next open.
  void Stop();
  // A durable range erase: its files go once no reader can see what was in them, and then its record.
  void Reclaim(const KeyRange& range, Bytes record);

 private:
  struct Erased {
    KeyRange range;
    Bytes record;
    rocksdb::SequenceNumber sequence;
  };

  void Loop();
  void LookAround();
  void WatchDisk();
  void DropFiles();
  // On the commit thread, so that nothing changes meanwhile.
  Status DropFilesOf(const Erased& erased);
  bool HoldsAnything(const KeyRange& range);
  Status EraseExpiredCounters();

  RocksStore& store_;
  const std::function<Status(const std::function<Status()>&)> exclusively_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::vector<Erased> erased_;
  std::thread thread_;
};

}  // namespace kvarts
