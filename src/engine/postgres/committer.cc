#include "engine/postgres/committer.h"

#include <optional>

#include "base/held_wakeups.h"
#include "engine/postgres/decision.h"
#include "engine/postgres/pg_view.h"

namespace kvarts::postgres {
namespace {

// How long it may take to end a wait for replicas.
constexpr std::chrono::seconds kEndWait(1);

// The precondition that a verdict is about.
const Precondition& PreconditionOf(const Commit& commit, size_t first_operation, const Verdict& verdict) {
  return commit.preconditions[verdict.operation - first_operation];
}

}  // namespace

// What one thread does with a batch: its submissions, from the front, with those that follow put before the rest.
class Committer::Turn {
 public:
  Turn(Committer& committer, Submissions batch) : committer_(committer), shared_(committer.shared_) {
    for (auto& submission : batch) left_.push_back(std::move(submission));
  }

  void Run() {
    while (!left_.empty()) RunGroup();
  }

 private:
  struct Member {
    std::unique_ptr<Submission> submission;
    size_t first_operation;  // of the group, from 1
  };

  void RunGroup();
  // Whether the submission may join the group.
  bool Fits(const Group& group, const Submission& submission) const;
  void Decide(std::vector<Member>& members, Group& group, int modes);
  // Whatever one of them did to the transaction, the others have no part in it.
  void DecideEach(std::vector<Member>& members, int modes);
  // Nothing: nothing was done, and it takes a connection of its own to say why.
  std::expected<std::optional<Decision>, Failure> FlyInLine(const Group& group, Durability durability);
  std::expected<Decision, Failure> Fly(Connection& connection, Group& group, Durability durability, int modes);
  void Answer(std::vector<Member>& members, const Decision& decision, std::chrono::microseconds wait);
  void RunAgain(std::unique_ptr<Submission> submission);
  Result<Version> RunUnderLocks(Connection& connection, Submission& submission);
  // A wait for replicas goes on whoever has left, also when its connection broke, and keeps the locks of its commits.
  void EndWait(const Connection& connection, const Failure& failure, Durability durability);
  // A call that failed in its middle may have left locks to the session.
  void GiveUpLocks(Connection& connection);
  // Gives the locks back; behind what in the log the commit stands.
  SessionToken LetGo(Connection& connection, Durability durability);
  // Tells of a commit, and puts what follows it at the front.
  void Committed(Submission& submission, Version version);
  void Done(std::unique_ptr<Submission> submission, Result<kvarts::Committed> outcome);

  Committer& committer_;
  Shared& shared_;
  std::deque<std::unique_ptr<Submission>> left_;
  Submissions followers_;
};

bool Committer::Turn::Fits(const Group& group, const Submission& submission) const {
  if (group.empty()) return true;
  const Commit& commit = submission.commit;
  // At most one for each key, and those of its areas: many commits together must not keep all others out.
  const size_t locks = 3 * commit.mutations.size() + commit.preconditions.size();
  return !submission.run_first && group.size() < kMaxGroupCommits &&
         group.locks().keys.size() + locks <= Locks::kMaxKeys &&
         group.operations() + commit.preconditions.size() + commit.mutations.size() <= kMaxGroupOperations &&
         group.bytes() + CommitBytes(commit) <= kMaxGroupBytes;
}

void Committer::Turn::RunGroup() {
  Group group(shared_.snapshots, shared_.followed);
  std::vector<Member> members;
  std::optional<Durability> durability;
  std::unique_ptr<Submission> alone;  // behind the members
  while (!left_.empty() && Fits(group, *left_.front())) {
    if (durability && *durability != left_.front()->commit.durability) break;
    std::unique_ptr<Submission> submission = std::move(left_.front());
    left_.pop_front();
    if (!submission->Claim()) continue;
    if (submission->run_first) {
      alone = std::move(submission);
      break;
    }
    if (const Status admitted = CheckCommit(submission->commit, shared_.options.limits); !admitted.has_value()) {
      Done(std::move(submission), admitted.error());
      continue;
    }
    durability = submission->commit.durability;
    const size_t first = group.operations() + 1;
    group.Add(submission->commit);
    CommitListener* const listener = shared_.listener;
    const bool last = listener != nullptr && listener->MayFollow(submission->commit);
    members.push_back({std::move(submission), first});
    if (last) break;
  }
  if (!members.empty()) Decide(members, group, 0);
  if (alone) RunAgain(std::move(alone));
  left_.insert(left_.begin(), std::make_move_iterator(followers_.begin()), std::make_move_iterator(followers_.end()));
  followers_.clear();
}

std::expected<std::optional<Decision>, Failure> Committer::Turn::FlyInLine(const Group& group, Durability durability) {
  if (WaitsForReplicas(durability)) return std::nullopt;
  std::optional<Call> puts = group.Puts(shared_.given_time());
  if (!puts) return std::nullopt;
  const bool with_session = shared_.has_replicas();
  std::vector<Call> calls;
  calls.push_back(*std::move(puts));
  if (with_session) calls.push_back(PositionCall(durability));
  auto decision = DecisionBy(committer_.line_.Fly(calls, shared_.options.request_timeout), 0, durability, with_session);
  // What the server has refused, it has not done.
  if (!decision.has_value() && !decision.error().sent && !decision.error().sqlstate.empty()) return std::nullopt;
  if (!decision.has_value()) return std::unexpected(std::move(decision).error());
  decision->first = FirstVersionOf(decision->rows);
  if (!decision->first) return std::nullopt;
  return *std::move(decision);
}

std::expected<Decision, Failure> Committer::Turn::Fly(Connection& connection, Group& group, Durability durability,
                                                      int modes) {
  const auto fly = [&](Call commits) {
    return FlyCommits(connection, std::move(commits), durability, shared_.has_replicas(), shared_.request_deadline());
  };
  std::optional<Call> puts;
  if (modes == 0 && WaitsForReplicas(durability)) puts = group.Puts(shared_.given_time());  // others were tried in line
  if (puts) {
    auto decision = fly(*std::move(puts));
    if (!decision.has_value() && !IsOutOfLocks(decision.error())) return decision;
    if (decision.has_value()) decision->first = FirstVersionOf(decision->rows);
    if (decision.has_value() && decision->first) return decision;
  }
  auto decision = fly(group.Commits(shared_.given_time(), modes));
  if (decision.has_value() || !IsOutOfLocks(decision.error())) return decision;
  group.KeepAllOut();
  return fly(group.Commits(shared_.given_time(), modes));
}

void Committer::Turn::Decide(std::vector<Member>& members, Group& group, int modes) {
  const auto all = [&](const Error& error) {
    for (Member& member : members) Done(std::move(member.submission), error);
  };
  const Durability durability = members.front().submission->commit.durability;
  auto began = std::chrono::steady_clock::now();
  const auto decided = [&](const Decision& decision) {
    const auto took = std::chrono::steady_clock::now() - began;
    shared_.group_sizes.Record(members.size());
    shared_.commit_time.Record(static_cast<uint64_t>(std::chrono::nanoseconds(took).count()));
    Answer(members, decision, std::chrono::duration_cast<std::chrono::microseconds>(took));
  };
  if (modes == 0) {
    const auto decision = FlyInLine(group, durability);
    if (!decision.has_value()) return all(OutcomeOf(decision.error()));
    if (decision->has_value()) return decided(**decision);
  }
  auto connection = committer_.servers_.Primary(Use::kWriting, shared_.request_deadline());
  if (!connection.has_value()) return all(connection.error());
  began = std::chrono::steady_clock::now();
  const auto decision = Fly(**connection, group, durability, modes);
  if (!decision.has_value()) {
    const Failure& failure = decision.error();
    EndWait(**connection, failure, durability);
    GiveUpLocks(**connection);
    const bool goes_on = (*connection)->usable();
    *connection = {};
    if (members.size() == 1 || failure.sent || !goes_on) return all(OutcomeOf(failure));
    // They have waited for locks; who needs those that are not to be had is not waited for again.
    return DecideEach(members, failure.sqlstate == kTooLong ? Locks::kTryOnly : 0);
  }
  if ((*connection)->TakeCancelledWait() || !decision->waited) return all(WaitBrokenOff());
  *connection = {};
  decided(*decision);
}

void Committer::Turn::EndWait(const Connection& connection, const Failure& failure, Durability durability) {
  if (!failure.sent || !WaitsForReplicas(durability)) return;
  const Deadline deadline = In(kEndWait);
  auto other = committer_.servers_.Primary(Use::kOther, deadline);
  if (!other.has_value()) return;
  Params params;
  params.Text(connection.session());
  // What became of it is not known in any case; if it cannot be done now, it ends when a replica is there again.
  static_cast<void>((*other)->Fly(kInterrupt, std::move(params), deadline));
}

void Committer::Turn::DecideEach(std::vector<Member>& members, int modes) {
  for (Member& member : members) {
    Group alone(shared_.snapshots, shared_.followed);
    alone.Add(member.submission->commit);
    std::vector<Member> one;
    one.push_back({std::move(member.submission), 1});
    Decide(one, alone, modes);
  }
}

void Committer::Turn::Answer(std::vector<Member>& members, const Decision& decision, std::chrono::microseconds wait) {
  // A commit without operations has nothing to say to the server, and no row.
  int row = 0;
  Submissions again;  // once the others are answered
  std::optional<HeldWakeups> together(std::in_place);
  for (Member& member : members) {
    Submission& submission = *member.submission;
    if (submission.commit.preconditions.empty() && submission.commit.mutations.empty()) {
      Done(std::move(member.submission), kvarts::Committed{{shared_.version_seen.load()}, 0});
      continue;
    }
    const Verdict verdict = VerdictOf(decision, row++);
    switch (verdict.kind) {
      case Verdict::Kind::kCommitted:
        if (!submission.commit.mutations.empty()) Committed(submission, verdict.version);
        shared_.SawVersion(verdict.version);
        Done(std::move(member.submission),
             kvarts::Committed{verdict.version, static_cast<uint64_t>(wait.count()), decision.session});
        break;
      case Verdict::Kind::kNoLock:
        Done(std::move(member.submission), Error(ErrorCode::kOverloaded, "another commit holds the same keys"));
        break;
      case Verdict::Kind::kReadChanged:
      case Verdict::Kind::kStatedFails:
        if (verdict.kind == Verdict::Kind::kReadChanged && submission.CanRun()) {
          again.push_back(std::move(member.submission));
          break;
        }
        const Precondition& failed = PreconditionOf(submission.commit, member.first_operation, verdict);
        Done(std::move(member.submission), FailedPrecondition(failed, verdict.version));
        break;
    }
  }
  together.reset();
  for (auto& submission : again) RunAgain(std::move(submission));
}

void Committer::Turn::GiveUpLocks(Connection& connection) {
  if (connection.usable() && !connection.Fly(kLetGo, {}, shared_.request_deadline()).has_value()) connection.Abandon();
}

void Committer::Turn::RunAgain(std::unique_ptr<Submission> submission) {
  auto connection = committer_.servers_.Primary(Use::kWriting, shared_.request_deadline());
  if (!connection.has_value()) return Done(std::move(submission), connection.error());
  const Result<Version> version = RunUnderLocks(**connection, *submission);
  const SessionToken session = LetGo(**connection, submission->commit.durability);
  *connection = {};
  if (!version.has_value()) return Done(std::move(submission), version.error());
  const Commit& commit = submission->commit;
  if (!commit.mutations.empty()) Committed(*submission, *version);
  // Of one that came to nothing it is its view's, which no commit has.
  if (!commit.mutations.empty() || !commit.preconditions.empty()) shared_.SawVersion(*version);
  Done(std::move(submission), kvarts::Committed{*version, 0, session});
}

SessionToken Committer::Turn::LetGo(Connection& connection, Durability durability) {
  const bool with_session = shared_.has_replicas();
  const SessionToken unknown = with_session ? kBeyondReplicas : SessionToken();
  if (!connection.usable()) return unknown;
  std::vector<Call> calls;
  calls.push_back({&kLetGo, {}});
  if (with_session) calls.push_back(PositionCall(durability));
  const auto flown = connection.Fly(calls, shared_.request_deadline());
  // Locks of a session outlive its transactions, and would outlive everybody's patience.
  if (!flown.has_value()) connection.Abandon();
  return with_session && flown.has_value() ? TokenOf(flown->back()) : unknown;
}

Result<Version> Committer::Turn::RunUnderLocks(Connection& connection, Submission& submission) {
  Locks held;
  if (!submission.run_first) held.Add(submission.commit);
  const Deadline deadline = shared_.request_deadline();
  int run = 0;
  for (; run < shared_.options.max_second_runs && std::chrono::steady_clock::now() < deadline; ++run) {
    const auto fly = [&](const Statement& statement, Params params) {
      return connection.Fly(statement, std::move(params), shared_.request_deadline());
    };
    // In the order of all: first what is held from the run before is let go.
    if (run != 0) {
      if (const auto let = fly(kLetGo, {}); !let.has_value()) return let.error().error;
    }
    Params hold;
    hold.Int4(held.modes);
    held.AddTo(&hold);
    if (const auto locked = fly(kHold, std::move(hold)); !locked.has_value()) {
      if (!IsOutOfLocks(locked.error())) return locked.error().error;
      held.KeepAllOut();
      continue;
    }
    KVARTS_TRY(const OpenedView opened, BeginView(connection, shared_));
    RunView view(shared_, connection, opened);
    const Status ran = submission.Run(view);
    EndView(connection, shared_);
    if (!ran.has_value()) return ran.error();
    const Commit& commit = submission.commit;
    KVARTS_CHECK_OK(CheckCommit(commit, shared_.options.limits));
    if (commit.preconditions.empty() && commit.mutations.empty()) return opened.version;
    // Held to what this run saw: somebody else may have seen less at the same version.
    Snapshots seen(&shared_.snapshots);
    seen.Add(opened.version, opened.snapshot);
    Group group(seen, shared_.followed);
    group.Add(commit);
    // What is held is asked for as it is held: less of it would have to stand in line behind those who wait.
    group.Add(held);
    const auto decision = FlyCommits(connection, group.Commits(shared_.given_time(), Locks::kTryOnly),
                                     commit.durability, false, shared_.request_deadline());
    if (!decision.has_value() && IsOutOfLocks(decision.error())) {
      held.KeepAllOut();
      continue;
    }
    if (!decision.has_value()) {
      EndWait(connection, decision.error(), commit.durability);
      return OutcomeOf(decision.error());
    }
    if (connection.TakeCancelledWait() || !decision->waited) return WaitBrokenOff();
    const Verdict verdict = VerdictOf(*decision, 0);
    switch (verdict.kind) {
      case Verdict::Kind::kCommitted:
        return verdict.version;
      case Verdict::Kind::kStatedFails:
        return FailedPrecondition(PreconditionOf(commit, 1, verdict), verdict.version);
      case Verdict::Kind::kReadChanged:
      case Verdict::Kind::kNoLock:
        break;
    }
    held.Add(group.locks());
  }
  return Error(ErrorCode::kConflict, "the transaction keeps losing its race", {{"runs", std::to_string(run)}});
}

void Committer::Turn::Committed(Submission& submission, Version version) {
  for (Mutation& mutation : submission.commit.mutations) mutation.Stamp(version);
  shared_.commits.fetch_add(1, std::memory_order_relaxed);
  shared_.user_bytes.fetch_add(CommitBytes(submission.commit), std::memory_order_relaxed);
  CommitListener* const listener = shared_.listener;
  if (listener == nullptr) return;
  const std::lock_guard lock(committer_.delivery_);
  listener->Decided(submission.commit, version, &followers_);
  listener->Visible(submission.commit, version);
}

void Committer::Turn::Done(std::unique_ptr<Submission> submission, Result<kvarts::Committed> outcome) {
  const std::lock_guard lock(committer_.delivery_);
  submission->Done(std::move(outcome));
}

Committer::Committer(Shared& shared, Servers& servers, size_t connections)
    : shared_(shared), servers_(servers), waiting_(connections) {
  for (size_t i = 0; i < connections; ++i) threads_.emplace_back([this] { Loop(); });
}

Committer::~Committer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  departures_.Ending();
}

void Committer::Submit(Submissions batch) {
  if (batch.empty()) return;
  size_t bytes = 0;
  for (const auto& submission : batch) bytes += CommitBytes(submission->commit);
  const std::lock_guard lock(mutex_);
  const size_t before = Takeable();
  const Limits& limits = shared_.options.limits;
  if (waiting_.size() + batch.size() <= limits.max_queued_commits &&
      waiting_.bytes() + bytes <= limits.max_queued_bytes) {
    waiting_.Add(std::move(batch), bytes);
  } else {
    // Not here: whoever submits may be telling something else just now.
    refused_.push_back(std::move(batch));
  }
  departures_.Arrived(Takeable(), before);
}

void Committer::Tell(const std::function<void(CommitListener&, Submissions* next)>& tell) {
  CommitListener* const listener = shared_.listener;
  if (listener == nullptr) return;
  Submissions next;
  {
    const std::lock_guard lock(delivery_);
    tell(*listener, &next);
  }
  if (!next.empty()) Submit(std::move(next));
}

void Committer::Loop() {
  std::unique_lock lock(mutex_);
  const auto waiting = [this] { return Takeable(); };
  const auto ending = [this] { return stopping_; };
  while (departures_.Await(lock, waiting, ending)) {
    if (refused_.empty()) {
      RunNext(lock);
    } else {
      RefuseNext(lock);
    }
  }
}

void Committer::RefuseNext(std::unique_lock<std::mutex>& lock) {
  const Submissions refused = std::move(refused_.front());
  refused_.pop_front();
  lock.unlock();
  {
    const std::lock_guard delivery(delivery_);
    for (const auto& submission : refused) {
      submission->Done(
          Error(ErrorCode::kOverloaded, "too many commits are waiting", {{"limit", "max_queued_commits"}}));
    }
  }
  lock.lock();
}

void Committer::RunNext(std::unique_lock<std::mutex>& lock) {
  // What waits becomes one batch, up to what a group holds; the rest is for the others.
  CommitQueue::Taken taken = waiting_.Take({kMaxGroupCommits, kMaxGroupOperations, kMaxGroupBytes});
  const size_t count = taken.batch.size();
  const uint64_t number = departures_.Leave(count, waiting_.takeable());
  lock.unlock();
  Turn(*this, std::move(taken.batch)).Run();
  lock.lock();
  waiting_.Done(taken);
  departures_.Back(number, count);
}

}  // namespace kvarts::postgres
