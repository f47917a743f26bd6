#include "engine/rocksdb/committer.h"

#include <chrono>

#include "engine/rocksdb/in_rocks.h"

namespace kvarts {
namespace {

constexpr auto kStallPoll = std::chrono::milliseconds(2);
// Writing a group costs as much again as one or two of its commits: not worth saving in a group of this size.
constexpr size_t kSmallGroup = 32;

Bytes EncodeVersion(Version version) {
  Bytes bytes;
  AppendLittle(&bytes, version.stamp);
  return bytes;
}

// Microseconds.
uint64_t NoteSync(const Stopwatch& syncing, LatencyHistogram* log_sync) {
  const auto micros = static_cast<uint64_t>(syncing.Elapsed().micros);
  log_sync->RecordAlone(micros * 1000);
  return micros;
}

// Submissions were made on other threads. Asks for the memory of those whose turn comes soon: first for the submission,
// and some turns later, when that is here, for what it points to.
void FetchAhead(const std::deque<std::unique_ptr<Submission>>& turn) {
  constexpr size_t kSubmission = 6;
  constexpr size_t kMutations = 3;
  constexpr size_t kLine = 64;
  if (turn.size() > kSubmission) {
    const auto* start = reinterpret_cast<const char*>(turn[kSubmission].get());
    for (size_t at = 0; at < 4 * kLine; at += kLine) __builtin_prefetch(start + at);
  }
  if (turn.size() > kMutations) __builtin_prefetch(turn[kMutations]->commit.mutations.data());
}

}  // namespace

Committer::Committer(RocksStore& store, Version last, uint64_t salt,
                     std::function<void(const KeyRange&, Version)> on_reclaim)
    : store_(store),
      salt_(salt),
      on_reclaim_(std::move(on_reclaim)),
      group_(store, last),
      ceiling_(last),
      synced_(last),
      log_start_(last),
      written_sequence_(store.db->GetLatestSequenceNumber()),
      thread_([this] { Loop(); }) {}

bool Committer::Close() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
  return log_closed_;
}

void Committer::SetListener(CommitListener* listener) {
  std::lock_guard lock(mutex_);
  listener_ = listener;
  group_.SetListener(listener);
}

Status Committer::Admit(const Submission& submission) {
  const Commit& commit = submission.commit;
  if (commit.durability > Durability::kSync) {
    return Error(ErrorCode::kInvalidArgument, "this engine has no replicas",
                 {{"durability", std::string(DurabilityName(commit.durability))},
                  {"strongest", std::string(DurabilityName(Durability::kSync))}});
  }
  const WriteState state = store_.write_state.load(std::memory_order_acquire);
  if (state != WriteState::kWritable) return Error(ErrorCode::kUnavailable, WriteStateText(state));
  return CheckCommit(commit, store_.options.limits);
}

void Committer::Submit(std::span<std::unique_ptr<Submission>> submissions) {
  const Limits& limits = store_.options.limits;
  std::vector<std::pair<std::unique_ptr<Submission>, Error>> refused;
  bool wake = false;
  bool stands_in = false;
  bool lends = false;
  std::vector<size_t> sizes(submissions.size());
  for (size_t i = 0; i < submissions.size(); ++i) {
    const Status admitted = Admit(*submissions[i]);
    sizes[i] = CommitBytes(submissions[i]->commit);
    if (!admitted.has_value()) refused.emplace_back(std::move(submissions[i]), admitted.error());
  }
  {
    std::lock_guard lock(mutex_);
    // Who only lends its thread does nothing that others have left.
    const bool may_lend = queue_.empty();
    for (size_t i = 0; i < submissions.size(); ++i) {
      if (submissions[i] == nullptr) continue;
      if (queue_.size() >= limits.max_queued_commits || queued_bytes_ + sizes[i] > limits.max_queued_bytes) {
        refused.emplace_back(
            std::move(submissions[i]),
            Error(ErrorCode::kOverloaded, "too many commits are waiting",
                  {{"limit", queue_.size() >= limits.max_queued_commits ? "max_queued_commits" : "max_queued_bytes"}}));
        continue;
      }
      stands_in |= submissions[i]->caller_waits;
      lends |= submissions[i]->caller_lends && may_lend;
      queued_bytes_ += sizes[i];
      queue_.push_back(std::move(submissions[i]));
    }
    lends = lends && !stands_in;
    stands_in = (stands_in || lends) && !at_it_ && !wanted_ && tasks_.empty() && turn_.empty();
    if (stands_in) {
      at_it_ = true;
      TakeTurn();
    } else if (!queue_.empty() && !at_it_) {
      wake = std::exchange(idle_, false);
    }
  }
  if (stands_in) StandIn(lends ? Patience::kNone : Patience::kAny);
  if (wake) wake_.notify_one();
  for (auto& [submission, error] : refused) submission->Done(std::move(error));
}

Committer::Waiting Committer::waiting() {
  std::lock_guard lock(mutex_);
  return {queue_.size() + store_.activity.taken.load(std::memory_order_relaxed), queued_bytes_};
}

Status Committer::Exclusively(const std::function<Status()>& task) {
  Task waiting{&task, {}, false};
  std::unique_lock lock(mutex_);
  tasks_.push_back(&waiting);
  idle_ = false;
  wake_.notify_one();
  task_done_.wait(lock, [&] { return waiting.done; });
  return waiting.result;
}

bool Committer::WaitForWork(std::vector<Task*>* tasks) {
  std::unique_lock lock(mutex_);
  at_it_ = false;
  while (!left_ && (at_it_ || !HasWork())) {
    idle_ = true;
    wanted_ = at_it_;
    if (at_it_ || !unsynced_) {
      wake_.wait(lock);
      continue;
    }
    const int64_t left = store_.options.sync_interval.micros - unsynced_->Elapsed().micros;
    if (left <= 0) break;
    wake_.wait_for(lock, std::chrono::microseconds(left));
  }
  at_it_ = true;
  idle_ = wanted_ = false;
  tasks->swap(tasks_);
  if (turn_.empty()) TakeTurn();
  return left_ || !turn_.empty() || !tasks->empty() || !stopping_;
}

void Committer::TakeTurn() noexcept {
  for (auto& submission : queue_) turn_.push_back(std::move(submission));
  queue_.clear();
  queued_bytes_ = 0;
}

// What is thrown here would end the thread too, and the process with it.
void Committer::StandIn(Patience patience) noexcept {
  CountNothing();
  const bool was_synced = !unsynced_;
  DecideGroup(turn_.size());
  const bool finished = FinishGroup(patience);
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    // What is left is the thread's, who is at it from now on.
    left_ = !finished;
    at_it_ = left_;
    // The thread goes on with what has come meanwhile, and sees to the next sync.
    wake = left_ || wanted_ || HasWork() || (was_synced && unsynced_);
    if (wake) idle_ = false;
  }
  if (wake) wake_.notify_one();
}

void Committer::Loop() {
  CountNothing();
  std::vector<Task*> tasks;
  while (WaitForWork(&tasks)) {
    if (std::exchange(left_, false)) FinishGroup(Patience::kAny);
    for (Task* task : tasks) {
      Status result = (*task->run)();
      std::lock_guard lock(mutex_);
      task->result = std::move(result);
      task->done = true;
      task_done_.notify_all();
    }
    tasks.clear();
    // Who waits for the disk waits together. Otherwise half of what is waiting is left for the next group, so that the
    // submitters of this one can go on while that is written, and neither they nor this thread sleep every time.
    if (!turn_.empty()) {
      DecideGroup(std::max(kSmallGroup, turn_.size() / 2));
      FinishGroup(Patience::kAny);
    }
    const bool due = unsynced_ && unsynced_->Elapsed() >= store_.options.sync_interval;
    if (due) IgnoreError(SyncLog());  // a failure shows in the store's state
  }
  CloseLog();
}

void Committer::DecideGroup(size_t enough) {
  group_.Begin();
  std::vector<std::unique_ptr<Submission>> next;
  while (!turn_.empty() && !group_.Full() && (group_.needs_sync() || group_.decisions().size() < enough)) {
    std::unique_ptr<Submission> submission = std::move(turn_.front());
    turn_.pop_front();
    FetchAhead(turn_);
    group_.Decide(std::move(submission), &next);
    for (auto it = next.rbegin(); it != next.rend(); ++it) turn_.push_front(std::move(*it));
    next.clear();
  }
  store_.activity.taken.store(turn_.size(), std::memory_order_relaxed);
}

bool Committer::FinishGroup(Patience patience) {
  uint64_t sync_us = 0;
  std::optional<Error> failure;
  if (group_.writes()) {
    if (patience == Patience::kNone && MustWait()) return false;
    group_.batch().SetSavePoint();
    failure = WriteGroup(patience, &sync_us);
    if (failure && patience == Patience::kNone && store_.stalled.load(std::memory_order_relaxed)) {
      group_.batch().RollbackToSavePoint().PermitUncheckedError();  // there is one
      return false;
    }
    store_.activity.group_sizes.RecordAlone(group_.decisions().size());
    if (!failure) Publish();
  }
  Answer(failure, sync_us);
  group_.Clear();
  return true;
}

// Whether writing the group takes a sync, or may find the LSM tree behind.
bool Committer::MustWait() const {
  return group_.needs_sync() || MustReserve() || store_.stalled.load(std::memory_order_relaxed);
}

// The first add since the store was opened takes the ceiling with it: see kMetaAdded.
bool Committer::MustReserve() const {
  return group_.last_version() >= ceiling_ || (store_.added.any() && !adds_noted_);
}

std::optional<Error> Committer::WriteGroup(Patience patience, uint64_t* sync_us) {
  const WriteState state = store_.write_state.load(std::memory_order_acquire);
  if (state != WriteState::kWritable) return Error(ErrorCode::kUnavailable, WriteStateText(state));
  rocksdb::WriteBatch& batch = group_.batch();
  NoteLogStart();
  batch.PutLogData(MarkOf(group_.last_version()).Encode());
  const bool first_add = store_.added.any() && !adds_noted_;
  const bool reserve = MustReserve();
  const bool sync = reserve || group_.needs_sync();
  Version ceiling = ceiling_;
  if (reserve) {
    ceiling = Version::FromTime(
        {group_.last_version().time().micros + static_cast<uint64_t>(store_.options.version_reserve.micros) + 1});
    batch.Put(store_.meta, kMetaCeiling, EncodeVersion(ceiling));
    if (store_.added.any()) batch.Put(store_.meta, kMetaAdded, EncodeVersion(ceiling));
    batch.Put(store_.meta, kMetaTotals,
              Totals{store_.user_bytes.load(), store_.storage_bytes.load(), store_.commits.load()}.Encode());
  }
  const rocksdb::Status status = WriteOrStall(patience, sync, sync_us);
  if (status.IsIncomplete()) {
    return Error(ErrorCode::kOverloaded, "compaction cannot keep up with the writes", {{"cause", status.ToString()}});
  }
  if (!status.ok()) {
    Fail(status);
    return Error(ErrorCode::kUnknownOutcome, "the log could not be written; the commit may or may not be there",
                 {{"cause", status.ToString()}});
  }
  NoteLogStart();
  written_sequence_ = store_.db->GetLatestSequenceNumber();
  ceiling_ = ceiling;
  adds_noted_ |= first_add;
  if (sync) {
    synced_ = group_.last_version();
    unsynced_.reset();
  } else if (!unsynced_) {
    unsynced_.emplace();
  }
  store_.user_bytes.fetch_add(group_.bytes(), std::memory_order_relaxed);
  store_.storage_bytes.fetch_add(batch.GetDataSize(), std::memory_order_relaxed);
  return std::nullopt;
}

// RocksDB would make the thread sleep when compaction is behind. It is told not to, so that a stall ends in an answer.
rocksdb::Status Committer::WriteOrStall(Patience patience, bool sync, uint64_t* sync_us) {
  rocksdb::WriteOptions how;
  how.sync = sync;
  how.no_slowdown = true;
  Activity& activity = store_.activity;
  std::optional<Stopwatch> stalling;
  while (true) {
    const Stopwatch writing;
    rocksdb::Status status = InRocks([&] { return store_.db->Write(how, &group_.batch()); });
    const bool stalled = status.IsIncomplete();
    store_.stalled.store(stalled, std::memory_order_relaxed);
    if (!stalled) {
      if (sync) *sync_us = NoteSync(writing, &activity.log_sync);
      if (stalling) activity.stall_micros += static_cast<uint64_t>(stalling->Elapsed().micros);
      return status;
    }
    if (patience == Patience::kNone) return status;
    if (!stalling) {
      stalling.emplace();
      ++activity.stalls;
    } else if (stalling->Elapsed() > store_.options.stall_patience) {
      activity.stall_micros += static_cast<uint64_t>(stalling->Elapsed().micros);
      ++activity.refused;
      return status;
    }
    std::this_thread::sleep_for(kStallPoll);
  }
}

void Committer::NoteLogStart() {
  if (store_.log_began.load(std::memory_order_acquire) >= written_sequence_) log_start_ = store_.visible();
}

bool Committer::LogUsable() {
  const WriteState state = store_.write_state.load(std::memory_order_acquire);
  // What made the store writable again began a new log.
  if (state == WriteState::kWritable || state == WriteState::kDiskLow) log_failed_ = false;
  return !log_failed_ && state < WriteState::kFailed;
}

void Committer::Fail(const rocksdb::Status& status) {
  log_failed_ = true;
  store_.RaiseWriteState(status.IsNoSpace() ? WriteState::kDiskFull : WriteState::kFailed);
}

void Committer::Publish() {
  group_.Written();
  store_.Publish(std::make_shared<const ReadPoint>(store_.db.get(), store_.routing, group_.last_version()));
}

void Committer::Answer(const std::optional<Error>& failure, uint64_t sync_us) {
  for (Group::Decision& decision : group_.decisions()) {
    const Commit& commit = decision.submission->commit;
    if (failure) {
      // What was found out beside commits that failed is not known either; it was written by nobody, though.
      const bool wrote = decision.writes && !decision.error;
      const bool unknown = failure->code() == ErrorCode::kUnknownOutcome;
      decision.submission->Done(wrote || !unknown ? *failure
                                                  : Error(ErrorCode::kUnavailable, "a write of the same group failed"));
      continue;
    }
    if (decision.error) {
      decision.submission->Done(*std::move(decision.error));
      continue;
    }
    if (decision.writes) {
      store_.commits.fetch_add(1, std::memory_order_relaxed);
      if (listener_ != nullptr) listener_->Visible(commit, decision.version);
      for (const Mutation& mutation : commit.mutations) {
        if (mutation.reclaim) on_reclaim_({mutation.key, mutation.end}, decision.version);
      }
    }
    decision.submission->Done(Committed{decision.version, sync_us});
  }
}

Status Committer::SyncLog() {
  if (!LogUsable()) {
    if (unsynced_) unsynced_.emplace();  // to be tried again, but not at once
    return Error(ErrorCode::kUnavailable, WriteStateText(store_.write_state.load(std::memory_order_acquire)));
  }
  if (!unsynced_) return {};
  const Stopwatch syncing;
  const rocksdb::Status status = store_.db->SyncWAL();
  NoteSync(syncing, &store_.activity.log_sync);
  if (!status.ok()) {
    Fail(status);
    return Error(ErrorCode::kUnknownOutcome, "the log could not be synced", {{"cause", status.ToString()}});
  }
  synced_ = store_.visible();
  unsynced_.reset();
  return {};
}

// A clean end: the next open needs not wait for versions that were reserved and not used.
void Committer::CloseLog() {
  if (!LogUsable() || !SyncLog().has_value()) return;
  rocksdb::WriteBatch batch;
  batch.PutLogData(MarkOf(synced_).Encode());
  // Readers have seen the time go on since the last commit; it must not go back for those who come after them.
  batch.Put(store_.meta, kMetaCeiling, EncodeVersion(std::max(group_.last_version(), Version::FromTime(store_.Now()))));
  batch.Put(store_.meta, kMetaTotals,
            Totals{store_.user_bytes.load(), store_.storage_bytes.load(), store_.commits.load()}.Encode());
  rocksdb::WriteOptions how;
  how.sync = true;
  how.no_slowdown = true;
  // If this fails the old ceiling stands, which is as safe.
  log_closed_ = InRocks([&] { return store_.db->Write(how, &batch); }).ok();
}

}  // namespace kvarts
