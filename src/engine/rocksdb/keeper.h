// The keeper: a thread that looks around every now and then. It closes views that are too old, refuses writes before
// the disk is full and allows them again when there is room, measures how near the store is to stalling, and drops the
// files of ranges that were erased for good.
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
  // What the keeper needs of the committer.
  struct CommitThread {
    // Runs a task on it, and waits.
    std::function<Status(const std::function<Status()>&)> run;
    // On it: whether anything in the range may have been written after the version.
    std::function<bool(const KeyRange&, Version)> may_have_changed;
  };

  Keeper(RocksStore& store, CommitThread commit_thread);
  ~Keeper();

  // Ends the thread; what is left to do is done after the next open.
  void Stop();
  // Measures the pressure soon, instead of when it next looks around. From any thread; quick.
  void Hurry();
  // A durable range erase: its files go once no reader can see what was in them, and then its record.
  void Reclaim(const KeyRange& range, Bytes record);

 private:
  struct Erased {
    KeyRange range;
    Bytes record;
    // When the range was last found empty: a reader at or after it sees nothing there, unless it was written since.
    rocksdb::SequenceNumber sequence;
    Version empty_at = kNoVersion;
  };

  void Loop();
  void LookAround();
  void WatchDisk();
  void DropFiles();
  // Takes out of `pending` the ranges within which there is no file, and forgets their records.
  void ForgetThoseWithoutFiles(std::vector<Erased>* pending);
  bool Stopping();
  // Whether no reader is left from before the range was found empty.
  bool IsDue(const Erased& erased) const;
  // On the commit thread, so that nothing changes meanwhile. True when there is nothing left to do; else the range was
  // found empty only now, and readers from before have to go first, or a compaction reads its files.
  Result<bool> DropFilesOf(Erased* erased);
  // False when it is too early, for a compaction.
  Result<bool> DropFilesIn(const KeyRange& range);
  rocksdb::Status DropFilesIn(rocksdb::ColumnFamilyHandle* family, const KeyRange& range);
  bool HoldsAnything(const KeyRange& range);
  Status EraseExpiredCounters();

  RocksStore& store_;
  const CommitThread commit_thread_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  bool hurry_ = false;
  std::vector<Erased> erased_;
  bool full_ = false;  // the disk was, when it was looked at last
  std::thread thread_;
};

}  // namespace kvarts
