#include "core/job_runner.h"

#include <algorithm>
#include <chrono>

#include "base/stopwatch.h"
#include "core/keyspace.h"

namespace kvarts {
namespace {

Timestamp Later(Timestamp time, Duration by) {
  const auto ahead = static_cast<uint64_t>(std::max<int64_t>(by.micros, 0));
  return {std::min(time.micros + ahead, kLastTimestamp.micros)};
}

// The rest that `units` cost at so many per second.
Duration PauseFor(uint64_t units, uint32_t per_second) {
  if (per_second == 0) return {};
  constexpr uint64_t kMost = uint64_t{1} << 40;  // in microseconds still far below 2^63
  const uint64_t micros = std::min(units, kMost) * 1'000'000 / per_second;
  return Duration::Micros(static_cast<int64_t>(std::min(micros, kMost)));
}

// What passes by itself: the same chunk is tried again later.
bool Passes(ErrorCode code) {
  switch (code) {
    case ErrorCode::kConflict:
    case ErrorCode::kOverloaded:
    case ErrorCode::kRateLimited:
    case ErrorCode::kUnavailable:
    case ErrorCode::kUnknownOutcome:  // the record says whether the chunk is there
      return true;
    default:
      return false;
  }
}

}  // namespace

JobRunner::JobRunner(Store& store, std::vector<JobKind> kinds, JobRunnerOptions options)
    : store_(store), kinds_(std::move(kinds)), options_(options), id_(Uuid::Version7(store.engine().Now())) {}

JobRunner::~JobRunner() { StopThread(); }

void JobRunner::Start() {
  watch_ = store_.subscriptions().Watch(SpaceRange(Space::kJobQueue), [this](const Mutation*, Version) {
    {
      std::lock_guard lock(mutex_);
      poked_ = true;
    }
    wake_.notify_all();
  });
  thread_ = std::jthread([this](const std::stop_token& stop) { Loop(stop); });
}

void JobRunner::StopThread() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  store_.subscriptions().Cancel(watch_);
}

void JobRunner::Stop() {
  StopThread();
  ReleaseAll();
}

void JobRunner::Loop(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const Result<Turn> turn = TakeTurn();
    if (turn.has_value() && turn->worked) {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, stop, std::chrono::microseconds(turn->rest.micros), [] { return false; });
      continue;
    }
    Duration rest = options_.look_interval;
    if (turn.has_value() && turn->next) {
      const auto left = static_cast<int64_t>(turn->next->micros) - static_cast<int64_t>(store_.engine().Now().micros);
      rest.micros = std::clamp<int64_t>(left, 0, rest.micros);
    }
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, std::chrono::microseconds(rest.micros), [this] { return poked_; });
    poked_ = false;
  }
}

Duration JobRunner::RestAfter(Duration chunk) {
  return std::min(Duration::Micros(kRestWhenBusy * chunk.micros), kMaxRest);
}

const JobKind* JobRunner::KindOf(const std::string& name) const {
  const auto found = std::ranges::find(kinds_, name, &JobKind::name);
  return found == kinds_.end() ? nullptr : &*found;
}

Result<std::vector<JobRecord>> JobRunner::Look(Timestamp* now) {
  KVARTS_TRY(const std::unique_ptr<View> view, store_.engine().OpenView());
  *now = view->time();
  const KeyRange all = SpaceRange(Space::kJobQueue);
  std::vector<KeyRange> ranges = {all};
  if (last_) {
    const Bytes behind = KeyAfter(JobQueueKey(*last_));
    ranges = {{behind, all.end}, {all.start, behind}};
  }
  std::vector<KeyBuffer> keys;
  for (const KeyRange& range : ranges) {
    if (keys.size() >= options_.max_look) break;
    ScanRequest request;
    request.range = range;
    request.max_entries = options_.max_look - keys.size();
    KVARTS_TRY(const ScanPage page, view->Scan(request));
    for (size_t i = 0; i < page.size(); ++i) {
      KVARTS_TRY(const JobId id, JobOfKey(page[i].key));
      keys.push_back(JobKey(id));
    }
  }
  std::vector<std::optional<Record>> records(keys.size());
  KVARTS_CHECK_OK(view->Get(std::vector<BytesView>(keys.begin(), keys.end()), records, {}));
  std::vector<JobRecord> jobs;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (!records[i]) continue;
    KVARTS_TRY(JobRecord job, JobRecord::FromStored(keys[i], records[i]->value, records[i]->header.version));
    jobs.push_back(std::move(job));
  }
  return jobs;
}

bool JobRunner::Has(const JobRecord& job) const {
  return job.state == JobState::kRunning && job.lease->owner == id_ && held_.contains(job.id);
}

std::optional<Timestamp> JobRunner::DueAt(const JobRecord& job) const {
  if (!IsActive(job.state) || KindOf(job.kind) == nullptr) return std::nullopt;
  Timestamp due = job.not_before;
  if (job.state == JobState::kRunning && !Has(job)) due = std::max(due, job.lease->until);
  const auto backoff = backoffs_.find(job.id);
  if (backoff != backoffs_.end()) due = std::max(due, backoff->second.until);
  return due;
}

Result<JobRunner::Turn> JobRunner::TakeTurn() {
  Timestamp now;
  KVARTS_TRY(const std::vector<JobRecord> jobs, Look(&now));
  Turn turn;
  for (const JobRecord& job : jobs) {
    last_ = job.id;
    const std::optional<Timestamp> due = DueAt(job);
    if (!due) continue;
    if (*due > now) {
      turn.next = turn.next ? std::min(*turn.next, *due) : *due;
      continue;
    }
    Status done = Has(job) ? Status{} : Claim(job.id);
    const uint64_t heard = store_.subscriptions().heard();
    const Stopwatch watch;
    if (done.has_value()) done = DoChunk(job);
    // Besides the commit of the chunk itself.
    if (store_.subscriptions().heard() > heard + 1) turn.rest = RestAfter(watch.Elapsed());
    if (done.has_value()) {
      backoffs_.erase(job.id);
    } else {
      BackOff(job.id, now);
    }
    turn.worked = true;
    return turn;
  }
  return turn;
}

Status JobRunner::Claim(JobId id) {
  bool mine = false;
  KVARTS_CHECK_OK(store_.Run([&](Txn& txn) -> Status {
    KVARTS_TRY(JobRecord job, ReadJob(txn, id));
    mine = IsActive(job.state) && (!job.lease || job.lease->until <= txn.Now());
    if (!mine) return {};
    job.state = JobState::kRunning;
    job.fence += 1;
    job.lease = {id_, Later(txn.Now(), options_.lease)};
    return WriteJob(txn, job, options_.keep_ended);
  }));
  if (mine) held_.insert(id);
  return {};
}

Result<bool> JobRunner::IfMine(JobId id, const std::function<Status(Txn&, JobRecord&)>& change, Durability durability) {
  RunOptions options;
  options.durability = durability;
  const auto run = [&](Txn& txn) -> Result<bool> {
    KVARTS_TRY(JobRecord job, ReadJob(txn, id));
    if (!Has(job)) return false;
    KVARTS_CHECK_OK(change(txn, job));
    const JobKind* const kind = KindOf(job.kind);
    const bool own = kind != nullptr && kind->keep_ended && job.state == JobState::kDone;
    KVARTS_CHECK_OK(WriteJob(txn, job, own ? *kind->keep_ended : options_.keep_ended));
    return true;
  };
  KVARTS_TRY(const bool mine, store_.Run(run, options));
  if (!mine) held_.erase(id);
  return mine;
}

// What went wrong and passes; whatever else goes wrong ends the job.
Status JobRunner::DoChunk(const JobRecord& job) {
  const JobKind& kind = *KindOf(job.kind);
  bool ended = false;
  const auto step = [&](Txn& txn, JobRecord& current) -> Status {
    KVARTS_TRY(JobStep done, kind.step(txn, current));
    ended = done.finished;
    // Who is told that a job is done must not find it undone later.
    if (ended) txn.MakeDurable(Durability::kSync);
    return Advance(txn, current, std::move(done));
  };
  // A chunk that is lost with the machine is lost with its progress, and is done again: nobody need wait for the disk.
  const Result<bool> ran = IfMine(job.id, step, Durability::kInterval);
  if (ran.has_value()) {
    if (ended) held_.erase(job.id);
    return {};
  }
  return Passes(ran.error().code()) ? Status(ran.error()) : Fail(job.id, ran.error());
}

Status JobRunner::Advance(Txn& txn, JobRecord& job, JobStep step) const {
  job.cursor = std::move(step.cursor);
  job.done += step.done;
  if (step.total) job.total = step.total;
  job.not_before = {};
  if (step.finished) {
    job.state = JobState::kDone;
    job.lease.reset();
    return {};
  }
  const Duration pause = PauseFor(step.done, job.throttle);
  if (pause.micros > 0) job.not_before = Later(txn.Now(), pause);
  // The lease outlasts the pause: the owner is not late as long as it may not go on.
  job.lease->until = Later(std::max(txn.Now(), job.not_before), options_.lease);
  return {};
}

Status JobRunner::Fail(JobId id, const Error& error) {
  KVARTS_CHECK_OK(IfMine(id, [&](Txn&, JobRecord& job) -> Status {
    job.state = JobState::kFailed;
    job.error = {error.code(), error.ToString()};
    job.lease.reset();
    return {};
  }));
  held_.erase(id);
  return {};
}

void JobRunner::BackOff(JobId id, Timestamp now) {
  Backoff& backoff = backoffs_[id];
  const int64_t doubled = options_.first_backoff.micros << std::min(backoff.times, 20);
  backoff.times += 1;
  backoff.until = Later(now, Duration::Micros(std::min(doubled, options_.max_backoff.micros)));
}

void JobRunner::ReleaseAll() {
  const std::set<JobId> held = held_;
  for (const JobId& id : held) {
    // If this fails the lease runs out, which is only slower.
    IgnoreError(IfMine(id, [](Txn&, JobRecord& job) -> Status {
      job.state = JobState::kQueued;
      job.lease.reset();
      return {};
    }));
  }
  held_.clear();
}

}  // namespace kvarts
