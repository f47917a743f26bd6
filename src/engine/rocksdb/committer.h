// The committer: the one thread through which all commits of a process pass, so that order, versions and the order of
// events need no locks. It takes what is waiting, decides it as a group (group.h), writes the group with one sync of
// the log, makes it visible, and then answers. What it reports is what is known: a write that failed half-way is
// `unknown_outcome`, and after it the store is read-only.
//
// A caller who waits for its commit anyway stands in for the thread while that has nothing to do: for one group, so
// that a single writer is spared two switches of threads. One who cannot wait lends its thread for a group of its own,
// and leaves it to the commit thread when that comes to a sync or a stall. "The commit thread" means whichever of them
// is at it.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/stopwatch.h"
#include "engine/rocksdb/group.h"
#include "engine/rocksdb/meta.h"
#include "engine/rocksdb/rocks_store.h"

namespace kvarts {

class Committer {
 public:
  // `last`: no version up to this may be issued again. `on_reclaim` is told of range erases whose files may go.
  // `salt` is that of the marks.
  Committer(RocksStore& store, Version last, uint64_t salt, std::function<void(const KeyRange&, Version)> on_reclaim);
  ~Committer() { Close(); }
  // Decides what is waiting and closes the log; true when everything is on disk.
  bool Close();

  void SetListener(CommitListener* listener);
  void Submit(std::span<std::unique_ptr<Submission>> submissions);
  // Runs a task on the commit thread between two groups, and waits for it.
  Status Exclusively(const std::function<Status()>& task);
  // On the commit thread: whether anything in the range may have been written after `since`.
  bool RangeMayHaveChanged(const KeyRange& range, Version since) const {
    return group_.RangeMayHaveChanged(range, since);
  }
  // Commits that wait for their turn.
  struct Waiting {
    uint64_t commits = 0;
    uint64_t bytes = 0;  // of those that count against max_queued_bytes
  };
  Waiting waiting();
  // On the commit thread: everything written so far is on disk when this returns.
  Status SyncLog();

 private:
  struct Task {
    const std::function<Status()>* run;
    Status result;
    bool done = false;
  };

  Status Admit(const Submission& submission);
  void Loop();
  // Waits for work; false when there is none and there will be none.
  bool WaitForWork(std::vector<Task*>* tasks);
  bool HasWork() const { return !turn_.empty() || !queue_.empty() || !tasks_.empty() || stopping_; }
  // All that waits comes next.
  void TakeTurn() noexcept;
  // Who writes a group: one who may wait, or who leaves to the thread what comes to waiting.
  enum class Patience : uint8_t { kNone, kAny };
  // What a caller does in the thread's stead.
  void StandIn(Patience patience) noexcept;
  // Of at most so many commits, unless they wait for the disk.
  void DecideGroup(size_t enough);
  // Writes, publishes and answers what was decided. False, and nothing has happened: it would have to wait, and may
  // not.
  bool FinishGroup(Patience patience);
  bool MustWait() const;
  // Whether the group's versions have to be reserved on disk first.
  bool MustReserve() const;
  // Nothing when the group is written, or why it is not.
  std::optional<Error> WriteGroup(Patience patience, uint64_t* sync_us);
  // How long writing and syncing took, without stalls, is noted if it is synced.
  rocksdb::Status WriteOrStall(Patience patience, bool sync, uint64_t* sync_us);
  void Publish();
  void Answer(const std::optional<Error>& failure, uint64_t sync_us);
  void Fail(const rocksdb::Status& status);
  // RocksDB must not be asked to touch a log again that has failed.
  bool LogUsable();
  LogMark MarkOf(Version last) const { return {synced_, log_start_, last, salt_}; }
  // Finds out whether RocksDB has begun a new log since the last group was written.
  void NoteLogStart();
  void CloseLog();

  RocksStore& store_;
  const uint64_t salt_;
  const std::function<void(const KeyRange&, Version)> on_reclaim_;
  CommitListener* listener_ = nullptr;

  // Only whoever is at it looks at these.
  Group group_;
  std::deque<std::unique_ptr<Submission>> turn_;  // taken from the queue, not yet decided
  Version ceiling_;                               // versions below this are reserved on disk
  bool log_failed_ = false;                       // and no new one was begun since
  bool log_closed_ = false;                       // with everything on disk
  bool adds_noted_ = false;                       // kMetaAdded keeps up with the ceiling
  Version synced_;                                // everything up to here is on disk
  Version log_start_;                             // everything up to here is in an older log than the current one
  uint64_t written_sequence_;                     // RocksDB's number of the last thing that was written
  std::optional<Stopwatch> unsynced_;             // since the oldest write that is not on disk was made

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable task_done_;
  std::vector<std::unique_ptr<Submission>> queue_;
  std::vector<Task*> tasks_;
  size_t queued_bytes_ = 0;
  bool stopping_ = false;
  bool at_it_ = true;    // somebody is the commit thread; first the thread itself, until it waits
  bool idle_ = false;    // the thread itself sleeps, and nobody has woken it yet
  bool wanted_ = false;  // the thread itself has something to do when the one who stands in is done
  bool left_ = false;    // a group is decided, and the thread itself is to write it

  std::thread thread_;
};

}  // namespace kvarts
