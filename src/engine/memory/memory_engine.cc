#include "engine/memory/memory_engine.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "engine/memory/versioned_map.h"

namespace kvarts {
namespace {

// What a submission is run with, under the engine's lock: nothing changes, and it may only read so
// much.
class RunView final : public View {
 public:
  RunView(const VersionedMap& map, const ReadPoint& at, const Limits& limits, const Clock& clock)
      : map_(map), at_(at), limits_(limits), clock_(clock), began_(clock.Now()) {}

  Version version() const override { return at_.version; }
  Timestamp time() const override { return at_.time; }

  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override {
    KVARTS_CHECK_OK(Spend(keys.size()));
    map_.Get(keys, out, at_, options);
    return {};
  }

  Result<ScanPage> Scan(const ScanRequest& request) override {
    KVARTS_CHECK_OK(CheckPage(request.max_entries, request.max_bytes, limits_));
    ReadCost cost;
    ScanRequest counted = request;
    counted.options.cost = &cost;
    KVARTS_TRY(ScanPage page, map_.Scan(counted, at_));
    KVARTS_CHECK_OK(Spend(cost.keys + cost.skipped));
    if (request.options.cost != nullptr) *request.options.cost += cost;
    return page;
  }

 private:
  Status Spend(uint64_t keys) {
    spent_ += keys;
    if (spent_ > limits_.max_second_run_keys) {
      return Error(ErrorCode::kOverloaded, "the transaction reads too much for its second run",
                   {{"limit", "max_second_run_keys"}, {"at_most", std::to_string(limits_.max_second_run_keys)}});
    }
    const auto took_us = static_cast<int64_t>(clock_.Now().micros - began_.micros);
    if (took_us > limits_.max_second_run_time.micros) {
      return Error(ErrorCode::kOverloaded, "the transaction takes too long for its second run",
                   {{"limit", "max_second_run_time"}, {"is_us", std::to_string(took_us)}});
    }
    return {};
  }

  const VersionedMap& map_;
  const ReadPoint at_;
  const Limits& limits_;
  const Clock& clock_;
  const Timestamp began_;
  uint64_t spent_ = 0;
};

class MemoryEngine final : public Engine {
 public:
  explicit MemoryEngine(MemoryOptions options)
      : limits_(options.limits),
        clock_(options.clock ? std::move(options.clock) : std::make_shared<SystemClock>()),
        map_(options.max_remembered_erasures) {}
  ~MemoryEngine() override;

  const Capabilities& capabilities() const override { return capabilities_; }
  const Limits& limits() const override { return limits_; }

  Result<std::unique_ptr<View>> OpenView(const Freshness&) override;
  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override;
  void Submit(std::span<std::unique_ptr<Submission>> submissions) override;
  void SetListener(CommitListener* listener) override { listener_ = listener; }

  Timestamp Now() const override;
  Version LastVersion() const override;
  Status Sync() override { return {}; }

  Status AssignProfile(const KeyRange& range, Profile profile) override;
  Status Compact(const KeyRange& range, const std::stop_token& stop) override;
  std::vector<Error> VerifyFiles() override { return {}; }
  Result<RangeEstimate> Estimate(const KeyRange& range) override;
  Result<EngineStats> Stats() override;
  Health health() const override { return {}; }
  double pressure() const override { return 0; }

 private:
  class MemoryView;
  struct OpenedView {
    ReadPoint at;
    Timestamp opened;
  };
  // A submission that is decided. Without an outcome it was given up, and is only destroyed.
  struct Decision {
    std::unique_ptr<Submission> submission;
    std::optional<Result<Committed>> outcome;
  };
  using Submissions = std::vector<std::unique_ptr<Submission>>;

  // All of these want the lock to be held.
  ReadPoint Newest() const { return {last_, std::max(clock_->Now(), last_.time())}; }
  ReadPoint Oldest() const { return views_.empty() ? Newest() : views_.begin()->second.at; }
  Status Admit(const Commit& commit) const;
  Status CheckPreconditions(const Commit& commit, Timestamp time) const;
  std::optional<Error> Failure(const Precondition& precondition, Timestamp time) const;
  Result<Committed> Decide(Submission& submission, Submissions* next);
  Committed Write(Commit* commit, Version version, Submissions* next);
  // Gives up the lock around the calls.
  void Deliver(std::unique_lock<std::mutex>& lock);

  const Capabilities capabilities_{.name = "memory", .persistent = false, .total_order = true, .reads_may_wait = false};
  const Limits limits_;
  const std::shared_ptr<Clock> clock_;
  CommitListener* listener_ = nullptr;

  mutable std::mutex mutex_;
  VersionedMap map_;
  Version last_;
  uint64_t next_view_ = 0;
  std::map<uint64_t, OpenedView> views_;  // in the order of their opening, which is that of their versions
  std::vector<std::pair<KeyRange, Profile>> profiles_;
  uint64_t commits_ = 0;
  uint64_t user_bytes_ = 0;
  SizeHistogram group_sizes_;

  std::deque<Decision> decided_;  // to be delivered, in commit order
  bool delivering_ = false;
  std::condition_variable delivered_;
};

class MemoryEngine::MemoryView final : public View {
 public:
  MemoryView(MemoryEngine* engine, uint64_t id, const OpenedView& opened)
      : engine_(engine), id_(id), at_(opened.at), opened_(opened.opened) {}
  ~MemoryView() override {
    const std::lock_guard lock(engine_->mutex_);
    engine_->views_.erase(id_);
  }

  Version version() const override { return at_.version; }
  Timestamp time() const override { return at_.time; }

  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override {
    KVARTS_CHECK_OK(CheckAge());
    const std::lock_guard lock(engine_->mutex_);
    engine_->map_.Get(keys, out, at_, options);
    return {};
  }

  Result<ScanPage> Scan(const ScanRequest& request) override {
    KVARTS_CHECK_OK(CheckAge());
    KVARTS_CHECK_OK(CheckPage(request.max_entries, request.max_bytes, engine_->limits_));
    const std::lock_guard lock(engine_->mutex_);
    return engine_->map_.Scan(request, at_);
  }

 private:
  Status CheckAge() const {
    const auto age_us = static_cast<int64_t>(engine_->clock_->Now().micros - opened_.micros);
    if (age_us <= engine_->limits_.max_view_age.micros) return {};
    return Error(ErrorCode::kUnavailable, "the view has been open for too long",
                 {{"limit", "max_view_age"}, {"is_us", std::to_string(age_us)}});
  }

  MemoryEngine* const engine_;
  const uint64_t id_;
  const ReadPoint at_;
  const Timestamp opened_;
};

MemoryEngine::~MemoryEngine() {
  // The last Done may have let its owner go while its thread is still on the way out.
  std::unique_lock lock(mutex_);
  delivered_.wait(lock, [&] { return !delivering_; });
}

Result<std::unique_ptr<View>> MemoryEngine::OpenView(const Freshness&) {
  const std::lock_guard lock(mutex_);
  if (views_.size() >= limits_.max_views) {
    return Error(ErrorCode::kOverloaded, "too many views are open",
                 {{"limit", "max_views"}, {"at_most", std::to_string(limits_.max_views)}});
  }
  const OpenedView opened{Newest(), clock_->Now()};
  views_.emplace(next_view_, opened);
  return std::make_unique<MemoryView>(this, next_view_++, opened);
}

Status MemoryEngine::Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
                         const ReadOptions& options) {
  const std::lock_guard lock(mutex_);
  map_.Get(keys, out, Newest(), options);
  return {};
}

void MemoryEngine::Submit(std::span<std::unique_ptr<Submission>> submissions) {
  std::unique_lock lock(mutex_);
  std::deque<std::unique_ptr<Submission>> waiting;
  for (auto& submission : submissions) waiting.push_back(std::move(submission));
  while (!waiting.empty()) {
    Decision decision{std::move(waiting.front()), std::nullopt};
    waiting.pop_front();
    if (decision.submission->Claim()) {
      Submissions next;
      decision.outcome = Decide(*decision.submission, &next);
      waiting.insert(waiting.begin(), std::make_move_iterator(next.begin()), std::make_move_iterator(next.end()));
    }
    decided_.push_back(std::move(decision));
  }
  Deliver(lock);
}

void MemoryEngine::Deliver(std::unique_lock<std::mutex>& lock) {
  if (delivering_) return;  // whoever is at it comes to ours as well
  delivering_ = true;
  while (!decided_.empty()) {
    std::deque<Decision> batch = std::exchange(decided_, {});
    lock.unlock();
    for (Decision& decision : batch) {
      if (!decision.outcome) continue;
      if (listener_ != nullptr && decision.outcome->has_value() && !decision.submission->commit.mutations.empty()) {
        listener_->Visible(decision.submission->commit, (*decision.outcome)->version);
      }
      decision.submission->Done(*std::move(decision.outcome));
    }
    batch.clear();
    lock.lock();
  }
  delivering_ = false;
  delivered_.notify_all();
}

Result<Committed> MemoryEngine::Decide(Submission& submission, Submissions* next) {
  const Version version = Version::After(last_, clock_->Now());
  bool run = submission.run_first;
  if (!run) {
    KVARTS_CHECK_OK(Admit(submission.commit));
    const Status held = CheckPreconditions(submission.commit, version.time());
    run = !held && held.error().code() == ErrorCode::kConflict && submission.CanRun();
    if (!held && !run) return held.error();
  }
  if (run) {
    // It is run at the time of its commit, so that nothing it saw has expired when it is decided.
    RunView view(map_, {last_, version.time()}, limits_, *clock_);
    KVARTS_CHECK_OK(submission.Run(view));
    KVARTS_CHECK_OK(Admit(submission.commit));
    KVARTS_CHECK_OK(CheckPreconditions(submission.commit, version.time()));
  }
  return Write(&submission.commit, version, next);
}

Committed MemoryEngine::Write(Commit* commit, Version version, Submissions* next) {
  if (commit->mutations.empty()) return {.version = last_};
  for (Mutation& mutation : commit->mutations) mutation.Stamp(version);
  if (listener_ != nullptr) listener_->Decided(*commit, version, next);
  const ReadPoint oldest = Oldest();
  for (const Mutation& mutation : commit->mutations) {
    map_.Apply(mutation, version, oldest);
    user_bytes_ += mutation.key.size() + mutation.end.size() + mutation.value.size();
  }
  last_ = version;
  ++commits_;
  group_sizes_.RecordAlone(1);
  return {.version = version};
}

Status MemoryEngine::Admit(const Commit& commit) const {
  KVARTS_CHECK_OK(CheckCommit(commit, limits_));
  if (commit.durability > strongest()) {
    return Error(ErrorCode::kInvalidArgument, "the engine has no such durability",
                 {{"durability", std::string(DurabilityName(commit.durability))},
                  {"strongest", std::string(DurabilityName(strongest()))}});
  }
  return {};
}

// What was read and is no longer true makes everything that was concluded from it void, so it comes
// before what the caller stated.
Status MemoryEngine::CheckPreconditions(const Commit& commit, Timestamp time) const {
  std::optional<Error> stated;
  for (const Precondition& precondition : commit.preconditions) {
    std::optional<Error> failure = Failure(precondition, time);
    if (!failure) continue;
    if (precondition.from_read) return *std::move(failure);
    if (!stated) stated = std::move(failure);
  }
  if (stated) return *std::move(stated);
  return {};
}

std::optional<Error> MemoryEngine::Failure(const Precondition& precondition, Timestamp time) const {
  const auto code = precondition.from_read ? ErrorCode::kConflict : ErrorCode::kPreconditionFailed;
  const bool lapsed = precondition.lapses <= time;
  if (precondition.kind == Precondition::Kind::kRangeUnchanged) {
    const KeyRange range{precondition.key, precondition.end};
    if (!lapsed && !map_.ChangedSince(range, precondition.version)) return std::nullopt;
    return Error(code, "the range has changed", {{"range", range.ToString()}});
  }
  const Record* record = map_.Find(precondition.key, {last_, time}, precondition.expired_too);
  bool holds = false;
  switch (precondition.kind) {
    case Precondition::Kind::kAbsent:
      holds = record == nullptr;
      break;
    case Precondition::Kind::kPresent:
      holds = record != nullptr;
      break;
    case Precondition::Kind::kVersionIs:
      holds = record != nullptr && record->header.version == precondition.version;
      break;
    case Precondition::Kind::kRangeUnchanged:
      break;
  }
  if (holds && !lapsed) return std::nullopt;
  return Error(code, "the key is not as it was expected to be",
               {{"key", Escaped(precondition.key)},
                {"version", record == nullptr ? "absent" : record->header.version.ToString()}});
}

Timestamp MemoryEngine::Now() const {
  const std::lock_guard lock(mutex_);
  return Newest().time;
}

Version MemoryEngine::LastVersion() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

Status MemoryEngine::AssignProfile(const KeyRange& range, Profile profile) {
  if (range.IsEmpty()) {
    return Error(ErrorCode::kInvalidArgument, "a range must start before it ends");
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [taken, its_profile] : profiles_) {
    if (taken == range && its_profile == profile) return {};
    if (taken.Intersects(range)) {
      return Error(ErrorCode::kInvalidArgument, "the range overlaps another one with a profile",
                   {{"range", range.ToString()}, {"other", taken.ToString()}});
    }
  }
  ScanRequest any;
  any.range = range;
  any.max_entries = 1;
  any.options.expired_too = true;
  KVARTS_TRY(const ScanPage found, map_.Scan(any, Newest()));
  if (!found.empty()) {
    return Error(ErrorCode::kPreconditionFailed, "a range with keys in it cannot be given a profile",
                 {{"range", range.ToString()}});
  }
  profiles_.emplace_back(range, profile);
  return {};
}

Status MemoryEngine::Compact(const KeyRange& range, const std::stop_token& stop) {
  if (stop.stop_requested()) return CompactionStopped();
  const std::lock_guard lock(mutex_);
  map_.Sweep(range, Oldest());
  return {};
}

Result<RangeEstimate> MemoryEngine::Estimate(const KeyRange& range) {
  const std::lock_guard lock(mutex_);
  RangeEstimate estimate;
  map_.CountRange(range, &estimate.entries, &estimate.bytes);
  return estimate;
}

Result<EngineStats> MemoryEngine::Stats() {
  const std::lock_guard lock(mutex_);
  EngineStats stats;
  stats.commit_path.group_sizes = group_sizes_.Take();
  stats.keys_estimate = map_.keys();
  stats.live_bytes = map_.LiveBytes();
  stats.user_bytes_written = user_bytes_;
  stats.commits = commits_;
  stats.open_views = views_.size();
  if (!views_.empty()) {
    const Timestamp opened = views_.begin()->second.opened;
    stats.oldest_view_age_ms = (clock_->Now().micros - opened.micros) / 1000;
  }
  return stats;
}

}  // namespace

std::unique_ptr<Engine> OpenMemoryEngine(MemoryOptions options) {
  return std::make_unique<MemoryEngine>(std::move(options));
}

}  // namespace kvarts
