// JobRunner: works on the jobs of a store, one chunk after the other, on a thread of its own.
//
// What it can do is an explicit list of kinds. A kind's step does one chunk: it reads and writes through the Txn that
// it is given, which is committed together with the progress that it returns. It may be run more than once for the same
// chunk, like any body, and must stay within what a second run may read (Limits).
//
// Several runners, of several processes, may share a store. One takes a job by a lease, which every chunk renews;
// when a lease has run out another takes the job over. Who has lost a job cannot commit a chunk of it, because the
// job's record is part of what the chunk has read. Jobs take turns; a job that is throttled rests, by the store's time.
// Chunks do not wait for the disk, but the last: that a job is done nobody sees before it is there.
// While others commit, the runner rests after each chunk for several times as long as it took, so that jobs take a
// share of the store and not all of it.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "core/job.h"

namespace kvarts {

// What a chunk has done.
struct JobStep {
  Bytes cursor;                   // where the next chunk begins
  uint64_t done = 0;              // units done by this chunk
  std::optional<uint64_t> total;  // a better estimate of all there is
  bool finished = false;          // that was the last chunk
};

struct JobKind {
  std::string name;
  std::function<Result<JobStep>(Txn&, const JobRecord&)> step;
  // How long those that ended can be looked at, if it is not as the runner says: of jobs that come and go all the time.
  std::optional<Duration> keep_ended = {};
};

struct JobRunnerOptions {
  // How long a job is safe from other runners after a chunk.
  Duration lease = Duration::Seconds(30);
  // How long a job rests after `conflict`, `overloaded` and the like: at first, and at most.
  Duration first_backoff = Duration::Millis(10);
  Duration max_backoff = Duration::Seconds(5);
  // How often to look for leases that have run out, when nothing else happens.
  Duration look_interval = Duration::Seconds(1);
  // Jobs looked at in one turn.
  size_t max_look = 256;
  Duration keep_ended = kKeepEndedJobs;
};

class JobRunner {
 public:
  JobRunner(Store& store, std::vector<JobKind> kinds, JobRunnerOptions options = {});
  // Stops the thread. Jobs keep their leases, as after a crash; Stop gives them back.
  ~JobRunner();

  void Start();
  // After the current chunk. What this runner has is put back into the queue.
  void Stop();

  // One turn without the thread: does at most one chunk. What the thread does, and tests by hand.
  struct Turn {
    bool worked = false;
    std::optional<Timestamp> next;  // when there will be something to do, as far as can be said
    Duration rest = {};             // to be waited for before the next turn, for the sake of others who commit
  };
  Result<Turn> TakeTurn();

  const Uuid& id() const { return id_; }

 private:
  struct Backoff {
    int times = 0;
    Timestamp until;
  };

  static constexpr int kRestWhenBusy = 3;  // times as long as a chunk took
  static constexpr Duration kMaxRest = Duration::Seconds(1);

  static Duration RestAfter(Duration chunk);
  const JobKind* KindOf(const std::string& name) const;
  // Jobs of the queue, those after the one that had its turn last first.
  Result<std::vector<JobRecord>> Look(Timestamp* now);
  // When a chunk of it may be done; nothing when that is not for this runner to say.
  std::optional<Timestamp> DueAt(const JobRecord& job) const;
  bool Has(const JobRecord& job) const;
  Status Claim(JobId id);
  // Reads the job and changes it if it is still this runner's; false if it is not.
  Result<bool> IfMine(JobId id, const std::function<Status(Txn&, JobRecord&)>& change,
                      Durability durability = Durability::kSync);
  Status DoChunk(const JobRecord& job);
  Status Advance(Txn& txn, JobRecord& job, JobStep step) const;
  Status Fail(JobId id, const Error& error);
  void BackOff(JobId id, Timestamp now);
  void ReleaseAll();
  void Loop(const std::stop_token& stop);
  void StopThread();

  Store& store_;
  const std::vector<JobKind> kinds_;
  const JobRunnerOptions options_;
  const Uuid id_;

  // Of whoever takes turns: the thread, or a test.
  std::optional<JobId> last_;  // had its turn last
  std::map<JobId, Backoff> backoffs_;
  std::set<JobId> held_;

  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool poked_ = false;
  Subscriptions::Id watch_ = 0;
  std::jthread thread_;
};

}  // namespace kvarts
