#include "core/store.h"

#include "core/expiry.h"
#include "core/run_state.h"

namespace kvarts {

namespace {

// Bodies that may wait for their reads at the same time, and those that may wait for that.
constexpr size_t kReaders = 16;
constexpr size_t kMaxQueuedReaders = 10'000;

Error GaveUp() { return Error(ErrorCode::kOverloaded, "the commit's turn did not come in time; nothing was written"); }

}  // namespace

// A body that was run and its commit. `Held` keeps the state: shared with the submitter if it waits, else in place.
template <class Held>
class Store::BodySubmission final : public Submission {
 public:
  template <class... Arguments>
  explicit BodySubmission(Arguments&&... arguments) : held_(std::forward<Arguments>(arguments)...) {}

  bool Claim() override {
    // A feed was declared after the body was run: it is run again, so that no change goes unrecorded.
    too_late_ = state().TooLate();
    if (too_late_ || state().feeds != state().store.feeds_.current()) run_first = true;
    return state().Take();
  }
  bool CanRun() const override { return true; }
  Status Run(View& view) override {
    if (too_late_) return GaveUp();
    Txn txn(state().store.engine_, state().options.context, view);
    return state().store.RunOnce(state(), txn, &commit);
  }
  void Done(Result<Committed> outcome) override { state().Settle(std::move(outcome)); }

  RunState& state() {
    if constexpr (std::is_same_v<Held, RunState>) {
      return held_;
    } else {
      return *held_;
    }
  }

 private:
  Held held_;
  bool too_late_ = false;
};

// Requests on their way to the engine.
struct Store::Arrived {
  std::vector<Request> requests;
  size_t next = 0;  // the first that was not begun
  std::vector<std::unique_ptr<Submission>> submissions = {};
  std::unique_ptr<BodySubmission<RunState>> waits = {};  // behind those, before the next
};

Result<std::unique_ptr<Store>> Store::Open(Engine& engine) {
  std::unique_ptr<Store> store(new Store(engine));
  engine.SetListener(&store->subscriptions_);
  KVARTS_CHECK_OK(store->feeds_.Load());
  return store;
}

Store::Store(Engine& engine)
    : engine_(engine), subscriptions_(engine.capabilities().shared ? &engine : nullptr), feeds_(engine) {
  if (engine.capabilities().reads_may_wait) readers_ = std::make_unique<WorkerPool>(kReaders, kMaxQueuedReaders);
}

Store::~Store() = default;

Status Store::RunOnce(RunState& state, Txn& txn, Commit* commit) {
  try {
    state.thrown = nullptr;
    return RunAndTake(state, txn, commit);
  } catch (...) {
    state.thrown = std::current_exception();
    return Error(ErrorCode::kInternal, "the body threw an exception; nothing was written");
  }
}

Status Store::RunAndTake(RunState& state, Txn& txn, Commit* commit) {
  state.feeds = feeds_.current();
  txn.cost() = state.report.cost;
  txn.cost().runs += 1;
  KVARTS_CHECK_OK(state.body(txn));
  if (!txn.mutations().empty()) {
    KVARTS_CHECK_OK(feeds_.Record(txn));
    IndexOwned(txn);
  }
  state.effects = txn.TakeEffects();
  state.report.cost = txn.cost();
  // Only without a view, which on the commit thread there always is: the engine must not be called from there.
  const std::optional<Version> viewed = txn.ViewVersion();
  state.report.version = viewed ? *viewed : engine_.LastVersion();
  *commit = txn.TakeCommit(state.options.durability);
  return {};
}

Store::Prepared Store::Prepare(RunState& state, bool in_order, bool may_wait, Submission* submission) {
  if (state.options.at_its_turn) {
    submission->run_first = true;
    return Prepared::kSubmit;
  }
  Txn txn(engine_, state.options.context);
  if (!may_wait) txn.ForbidWaiting();
  const Status ran = RunOnce(state, txn, &submission->commit);
  if (txn.waits()) return Prepared::kWaits;
  if (!ran.has_value()) {
    submission->run_first = in_order;
    if (in_order) return Prepared::kSubmit;
    state.Finish(ran.error());
    return Prepared::kAnswered;
  }
  const Commit& commit = submission->commit;
  const bool decides = txn.states() || !commit.mutations.empty() || (in_order && !commit.preconditions.empty());
  if (decides) return Prepared::kSubmit;
  for (const auto& effect : state.effects) effect(state.report.version);
  state.Finish(std::move(state.report));
  return Prepared::kAnswered;
}

Result<RunReport> Store::RunBody(const Body& body, RunOptions options) {
  const auto state = std::make_shared<RunState>(*this, body, std::move(options), nullptr);
  std::unique_ptr<Submission> submission = std::make_unique<BodySubmission<std::shared_ptr<RunState>>>(state);
  // Whoever may give up must be able to do so while others are at work.
  submission->caller_waits = !state->deadline && !state->options.stop.stop_possible();
  if (Prepare(*state, false, true, submission.get()) == Prepared::kSubmit) engine_.Submit({&submission, 1});
  return Wait(*state);
}

Result<RunReport> Store::Wait(RunState& state) {
  // A request to stop wakes the waiter by giving the commit up.
  const std::stop_callback on_stop(state.options.stop, [&state] {
    if (state.GiveUp()) state.finished.release();
  });
  if (!state.deadline) {
    state.finished.acquire();
  } else if (!state.finished.try_acquire_until(*state.deadline)) {
    if (state.GiveUp()) return GaveUp();
    state.finished.acquire();
  }
  if (state.turn.load() == RunState::kGivenUp) return GaveUp();
  if (state.thrown) std::rethrow_exception(state.thrown);
  return std::move(state.outcome);
}

void Store::RunAsync(Request request) {
  std::vector<Request> one;
  one.push_back(std::move(request));
  RunAsync(std::move(one));
}

void Store::RunAsync(std::vector<Request> requests) {
  Arrived arrived{std::move(requests)};
  if (SubmitAll(&arrived, readers_ == nullptr)) return;
  // They stay together, and in their order.
  auto shared = std::make_shared<Arrived>(std::move(arrived));
  if (readers_->Submit([this, shared] { SubmitAll(shared.get(), true); })) return;
  const Error refused(ErrorCode::kOverloaded, "too many transactions wait for what they read",
                      {{"at_most", std::to_string(kMaxQueuedReaders)}});
  for (const auto& submission : shared->submissions) submission->Done(refused);
  shared->waits->Done(refused);
  for (; shared->next < shared->requests.size(); ++shared->next) shared->requests[shared->next].done(refused);
}

bool Store::SubmitAll(Arrived* arrived, bool may_wait) {
  while (arrived->waits || arrived->next < arrived->requests.size()) {
    auto submission = std::move(arrived->waits);
    if (!submission) {
      Request& request = arrived->requests[arrived->next++];
      submission = std::make_unique<BodySubmission<RunState>>(*this, std::move(request.body),
                                                              std::move(request.options), std::move(request.done));
      submission->caller_waits = submission->state().options.caller_waits;
      submission->caller_lends = submission->state().options.caller_lends;
    }
    const bool in_order = !arrived->submissions.empty();
    const Prepared prepared = Prepare(submission->state(), in_order, may_wait, submission.get());
    if (prepared == Prepared::kWaits) {
      arrived->waits = std::move(submission);
      return false;
    }
    if (prepared == Prepared::kSubmit) arrived->submissions.push_back(std::move(submission));
  }
  if (!arrived->submissions.empty()) engine_.Submit(arrived->submissions);
  return true;
}

}  // namespace kvarts
