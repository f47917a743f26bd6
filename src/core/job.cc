#include "core/job.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "core/keyspace.h"

namespace kvarts {
namespace {

Error NoSuchJob(JobId id) { return Error(ErrorCode::kNotFound, "there is no such job", {{"job", id.ToString()}}); }

Error HasEndedError(const JobRecord& job) {
  return Error(ErrorCode::kPreconditionFailed, "the job has ended",
               {{"job", job.id.ToString()}, {"state", std::string(JobStateName(job.state))}});
}

// Told of every commit that touches a job, as long as it lives.
class JobWatch {
 public:
  JobWatch(Subscriptions& subscriptions, JobId id) : subscriptions_(subscriptions) {
    id_ = subscriptions_.Watch(KeyRange::Single(JobKey(id)), [this](const Mutation*, Version) {
      {
        std::lock_guard lock(mutex_);
        changed_ = true;
      }
      wake_.notify_all();
    });
  }
  ~JobWatch() { subscriptions_.Cancel(id_); }

  // False when nothing happened in time.
  bool Wait(const std::stop_token& stop, const std::optional<std::chrono::steady_clock::time_point>& deadline) {
    std::unique_lock lock(mutex_);
    const auto happened = [this] { return std::exchange(changed_, false); };
    return deadline ? wake_.wait_until(lock, stop, *deadline, happened) : wake_.wait(lock, stop, happened);
  }

 private:
  Subscriptions& subscriptions_;
  Subscriptions::Id id_ = 0;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool changed_ = false;
};

}  // namespace

Result<JobId> StartJob(Txn& txn, const JobSpec& spec) {
  if (spec.kind.empty()) return Error(ErrorCode::kInvalidArgument, "a job must have a kind");
  JobRecord job;
  job.id = {Uuid::Version7(txn.Now(), txn.Random())};
  job.kind = spec.kind;
  job.parameters = spec.parameters;
  job.throttle = spec.throttle;
  job.total = spec.total;
  KVARTS_TRY(const Bytes bytes, job.Encode());
  Mutation put = Mutation::Put(JobKey(job.id), bytes);
  put.value_stamp = JobRecord::kCreatedAt;
  txn.Apply(std::move(put));
  txn.Put(JobQueueKey(job.id), {});
  return job.id;
}

Result<JobRecord> ReadJob(Txn& txn, JobId id) {
  const KeyBuffer key = JobKey(id);
  KVARTS_TRY(const std::optional<Record> record, txn.Get(key));
  if (!record) return NoSuchJob(id);
  return JobRecord::FromStored(key, record->value, record->header.version);
}

Result<bool> IsJobQueued(Txn& txn, std::string_view kind) {
  ScanRequest request;
  request.range = SpaceRange(Space::kJobQueue);
  while (true) {
    KVARTS_TRY(const ScanPage page, txn.Scan(request));
    for (size_t i = 0; i < page.size(); ++i) {
      KVARTS_TRY(const JobId id, JobOfKey(page[i].key));
      KVARTS_TRY(const JobRecord job, ReadJob(txn, id));
      if (job.kind == kind) return true;
    }
    if (!page.rest()) return false;
    request.range = *page.rest();
  }
}

Status WriteJob(Txn& txn, const JobRecord& job, Duration keep_ended) {
  KVARTS_TRY(const Bytes bytes, job.Encode());
  PutOptions options;
  if (HasEnded(job.state)) {
    KVARTS_TRY(options.expiry, ExpiryAfter(txn.Now(), keep_ended));
  }
  txn.Put(JobKey(job.id), bytes, options);
  if (!IsActive(job.state)) txn.Erase(JobQueueKey(job.id));
  if (job.state == JobState::kQueued) txn.Put(JobQueueKey(job.id), {});
  return {};
}

Result<JobId> Jobs::Start(const JobSpec& spec) {
  return store_.Run([&](Txn& txn) { return StartJob(txn, spec); });
}

Result<std::optional<JobId>> Jobs::StartUnlessQueued(const JobSpec& spec) {
  return store_.Run([&](Txn& txn) -> Result<std::optional<JobId>> {
    KVARTS_TRY(const bool queued, IsJobQueued(txn, spec.kind));
    if (queued) return std::optional<JobId>();
    KVARTS_TRY(const JobId job, StartJob(txn, spec));
    return std::optional<JobId>(job);
  });
}

Result<JobRecord> Jobs::Get(JobId id) {
  const KeyBuffer key = JobKey(id);
  KVARTS_TRY(const std::optional<Record> record, GetOne(store_.engine(), key));
  if (!record) return NoSuchJob(id);
  return JobRecord::FromStored(key, record->value, record->header.version);
}

Result<JobPage> Jobs::List(std::optional<JobId> after, size_t limit) {
  KVARTS_TRY(const std::unique_ptr<View> view, store_.engine().OpenView());
  ScanRequest request;
  request.range = SpaceRange(Space::kJobs);
  if (after) request.range.start = KeyAfter(JobKey(*after));
  request.max_entries = limit;
  KVARTS_TRY(const ScanPage scanned, view->Scan(request));
  JobPage page;
  for (size_t i = 0; i < scanned.size(); ++i) {
    const ScanPage::Entry entry = scanned[i];
    KVARTS_TRY(JobRecord job, JobRecord::FromStored(entry.key, entry.value, entry.header.version));
    page.jobs.push_back(std::move(job));
  }
  if (scanned.rest()) page.next = page.jobs.back().id;
  return page;
}

Status Jobs::Alter(JobId id, const Change& change) {
  return store_.Run([&](Txn& txn) -> Status {
    KVARTS_TRY(JobRecord job, ReadJob(txn, id));
    const JobState before = job.state;
    KVARTS_CHECK_OK(change(job));
    if (job.state == before) return {};
    // Whoever has it finds out when the chunk is to be committed: the record is part of what a chunk has read.
    job.lease.reset();
    if (job.state != JobState::kFailed) job.error.reset();
    return WriteJob(txn, job, keep_ended_);
  });
}

Status Jobs::Pause(JobId id) {
  return Alter(id, [](JobRecord& job) -> Status {
    if (HasEnded(job.state)) return HasEndedError(job);
    job.state = JobState::kPaused;
    return {};
  });
}

Status Jobs::Resume(JobId id) {
  return Alter(id, [](JobRecord& job) -> Status {
    if (job.state == JobState::kDone || job.state == JobState::kCancelled) return HasEndedError(job);
    if (!IsActive(job.state)) job.state = JobState::kQueued;
    return {};
  });
}

Status Jobs::Cancel(JobId id) {
  return Alter(id, [](JobRecord& job) -> Status {
    if (job.state == JobState::kDone) return HasEndedError(job);
    job.state = JobState::kCancelled;
    return {};
  });
}

Result<JobRecord> Jobs::Wait(JobId id, const WaitOptions& options) {
  std::optional<std::chrono::steady_clock::time_point> deadline;
  if (options.patience) {
    deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(options.patience->micros);
  }
  JobWatch watch(store_.subscriptions(), id);
  while (true) {
    KVARTS_TRY(JobRecord job, Get(id));
    if (HasEnded(job.state)) return job;
    if (watch.Wait(options.stop, deadline)) continue;
    return Error(ErrorCode::kUnavailable, "the job has not ended yet",
                 {{"job", id.ToString()}, {"state", std::string(JobStateName(job.state))}});
  }
}

}  // namespace kvarts
