// Jobs: work that exceeds a commit or outlives a request, done in chunks. A job is durable: its record says what is to
// be done and how far it is. It is owned by one runner at a time (job_runner.h), by a lease with a fencing number, and
// the writes of a chunk are one commit with the progress of its job: a crash repeats nothing and skips nothing.
//
//   queued ⇄ running → done           paused and failed jobs go on by Resume, where they stopped.
//        ⇅     ⇅    ↘ failed          Whatever has not ended can be cancelled.
//          paused
//
// Jobs that are queued or running stand in the job queue; those that ended are kept for a while and then expire. The
// functions over a Txn let a model start a job in the commit that makes it necessary. Jobs is safe from any thread.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.h"
#include "core/job_record.h"
#include "core/store.h"

namespace kvarts {

struct JobSpec {
  std::string kind = {};
  Bytes parameters = {};
  uint32_t throttle = 0;               // units per second; 0: as fast as it goes
  std::optional<uint64_t> total = {};  // how many units there are, if that can be said
};

struct JobPage {
  std::vector<JobRecord> jobs;
  std::optional<JobId> next;  // List after this one goes on; nothing when that was all
};

// How long jobs that ended can be looked at.
constexpr Duration kKeepEndedJobs = Duration::Seconds(7 * 24 * 60 * 60);

// Puts a new job into the queue. `invalid_argument` or `too_large` for what no job can have.
Result<JobId> StartJob(Txn& txn, const JobSpec& spec);
// `not_found` when there is none.
Result<JobRecord> ReadJob(Txn& txn, JobId id);
// Whether a job of the kind stands in the queue.
Result<bool> IsJobQueued(Txn& txn, std::string_view kind);
// Puts the record of a job back, with its place in the queue as its new state wants it.
Status WriteJob(Txn& txn, const JobRecord& job, Duration keep_ended = kKeepEndedJobs);

class Jobs {
 public:
  explicit Jobs(Store& store, Duration keep_ended = kKeepEndedJobs) : store_(store), keep_ended_(keep_ended) {}

  Result<JobId> Start(const JobSpec& spec);
  // Nothing when one of the kind stands in the queue.
  Result<std::optional<JobId>> StartUnlessQueued(const JobSpec& spec);
  Result<JobRecord> Get(JobId id);
  // In the order in which they were started.
  Result<JobPage> List(std::optional<JobId> after, size_t limit);

  // Each may be asked for twice. `precondition_failed` when the job has ended otherwise.
  Status Pause(JobId id);
  Status Resume(JobId id);
  Status Cancel(JobId id);

  // Returns when the job is done, failed or cancelled. It sleeps in between, and is woken by the job's own commits.
  // `unavailable` when patience has run out or stop was requested before.
  struct WaitOptions {
    std::optional<Duration> patience = {};
    std::stop_token stop = {};
  };
  Result<JobRecord> Wait(JobId id) { return Wait(id, {}); }
  Result<JobRecord> Wait(JobId id, const WaitOptions& options);

 private:
  using Change = std::function<Status(JobRecord&)>;
  // Changes the state of a job; nothing is written when it stays as it is.
  Status Alter(JobId id, const Change& change);

  Store& store_;
  const Duration keep_ended_;
};

}  // namespace kvarts
