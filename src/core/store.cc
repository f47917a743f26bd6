#include "core/store.h"

#include <chrono>
#include <exception>

#include "core/expiry.h"

namespace kvarts {

namespace {

// Bodies that may wait for their reads at the same time, and those that may wait for that.
constexpr size_t kReaders = 16;
constexpr size_t kMaxQueuedReaders = 10'000;

Error GaveUp() { return Error(ErrorCode::kOverloaded, "the commit's turn did not come in time; nothing was written"); }

}  // namespace

// One run of a body on its way to an outcome, shared by the submitter and the engine.
struct Store::RunState {
  enum Turn {
    kWaiting,  // for its turn
    kTaken,    // its turn has come
    kGivenUp,  // its turn will never come
    kEnded,    // there is an outcome, or will be
  };

  RunState(Store& in, Body run, RunOptions with, Done then)
      : store(in), body(std::move(run)), options(std::move(with)), done(std::move(then)) {
    if (options.patience) deadline = SteadyClock::now() + std::chrono::microseconds(options.patience->micros);
  }

  void Finish(Result<RunReport> result) {
    if (turn.exchange(kEnded) == kGivenUp) return;
    if (done) return done(std::move(result));
    outcome = std::move(result);
    finished.release();
  }
  // The engine has decided.
  void Settle(Result<Committed> committed) {
    if (!committed.has_value()) return Finish(std::move(committed).error());
    report.version = committed->version;
    report.session = committed->session;
    report.cost.sync_wait_us += committed->sync_wait_us;
    for (const auto& effect : effects) effect(committed->version);
    Finish(std::move(report));
  }
  // The commit's turn has come; false when it was given up.
  bool Take() {
    Turn waiting = kWaiting;
    return turn.compare_exchange_strong(waiting, kTaken);
  }
  // True when the commit's turn has not come, and never will.
  bool GiveUp(Turn to = kGivenUp) {
    Turn waiting = kWaiting;
    return turn.compare_exchange_strong(waiting, to);
  }
  // From kTaken on.
  void SetTurn(Turn to) {
    turn.store(to);
    turn.notify_all();
  }
  bool TooLate() const { return options.stop.stop_requested() || (deadline && SteadyClock::now() > *deadline); }

  using SteadyClock = std::chrono::steady_clock;

  Store& store;
  const Body body;
  const RunOptions options;
  const Done done;
  std::optional<SteadyClock::time_point> deadline;
  std::atomic<Turn> turn{kWaiting};
  const void* feeds = nullptr;  // which feeds there were when the body was run
  std::exception_ptr thrown;    // by the body's last run
  std::vector<std::function<void(Version)>> effects;
  RunReport report;
  Result<RunReport> outcome = Error(ErrorCode::kInternal, "the transaction has no outcome");
  std::binary_semaphore finished{0};
};

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

class Store::Waiting {
 public:
  Waiting(Store& store, KeyRange range, WaitingBody body, RunOptions options, Done done)
      : range_(std::move(range)),
        ticket_(store.subscriptions_.NextTicket()),
        body_(std::move(body)),
        state_(
            store, [this](Txn& txn) { return Try(txn); }, std::move(options), std::move(done)) {}

 private:
  friend class Store;
  friend class WaitingSubmission;

  Status Try(Txn& txn) {
    KVARTS_TRY(const Ready ready, body_(txn));
    parked_ = ready == Ready::kWait;
    if (parked_) txn.RollBack({0, 0});
    return {};
  }

  const KeyRange range_;
  const Subscriptions::Id ticket_;
  const WaitingBody body_;
  RunState state_;
  bool parked_ = false;             // the last run had nothing to do
  std::atomic<bool> woken_{false};  // during a turn
};

// Every turn of a waiting body is a submission of its own, run on the commit thread: when it finds nothing to do and
// waits again, no commit can have slipped by. On an engine that other processes write to, and that has several commits
// under way at once, it waits from before its view is opened, and being woken during its turn is made up for behind it.
class Store::WaitingSubmission final : public Submission {
 public:
  explicit WaitingSubmission(std::shared_ptr<Waiting> waiting)
      : waiting_(std::move(waiting)), shared_(waiting_->state_.store.engine_.capabilities().shared) {
    run_first = true;
  }

  bool Claim() override {
    RunState& state = waiting_->state_;
    bool taken = state.Take();
    if (!taken && shared_) {
      waiting_->woken_ = true;
      taken = state.Take();  // the other turn may have ended meanwhile
    }
    if (taken && shared_) Register();
    return taken;
  }
  bool CanRun() const override { return true; }
  Status Run(View& view) override {
    RunState& state = waiting_->state_;
    Txn txn(state.store.engine_, state.options.context, view);
    const Status ran = state.store.RunOnce(state, txn, &commit);
    parked_ = ran.has_value() && waiting_->parked_;
    if (parked_) commit = {};
    if (shared_) return ran;
    if (parked_) Register();
    state.SetTurn(parked_ ? RunState::kWaiting : RunState::kEnded);
    return ran;
  }
  void Done(Result<Committed> outcome) override {
    RunState& state = waiting_->state_;
    if (shared_) return EndTurn(std::move(outcome));
    if (!parked_) return state.Settle(std::move(outcome));
    // What it saw was not written after all, so it may be waiting for what is already there.
    if (outcome.has_value() || !state.GiveUp(RunState::kEnded)) return;
    state.store.subscriptions_.Cancel(waiting_->ticket_);
    state.Settle(std::move(outcome));
  }

 private:
  void Register() {
    waiting_->state_.store.subscriptions_.Wait(waiting_->ticket_, waiting_->range_, [waiting = waiting_] {
      return std::make_unique<WaitingSubmission>(waiting);
    });
  }

  void EndTurn(Result<Committed> outcome) {
    RunState& state = waiting_->state_;
    if (!parked_ || !outcome.has_value()) {
      state.store.subscriptions_.Cancel(waiting_->ticket_);
      state.SetTurn(RunState::kEnded);
      return state.Settle(std::move(outcome));
    }
    state.SetTurn(RunState::kWaiting);
    if (!waiting_->woken_.exchange(false)) return;
    std::unique_ptr<Submission> again = std::make_unique<WaitingSubmission>(waiting_);
    state.store.engine_.Submit({&again, 1});
  }

  const std::shared_ptr<Waiting> waiting_;
  const bool shared_;
  bool parked_ = false;  // this turn ended in waiting again
};

std::shared_ptr<Store::Waiting> Store::RunWhenReady(KeyRange range, WaitingBody body, RunOptions options, Done done) {
  auto waiting =
      std::make_shared<Waiting>(*this, std::move(range), std::move(body), std::move(options), std::move(done));
  std::unique_ptr<Submission> submission = std::make_unique<WaitingSubmission>(waiting);
  engine_.Submit({&submission, 1});
  return waiting;
}

bool Store::Cancel(const std::shared_ptr<Waiting>& waiting) {
  RunState& state = waiting->state_;
  while (!state.GiveUp()) {
    const RunState::Turn turn = state.turn.load();
    if (turn == RunState::kEnded || turn == RunState::kGivenUp) return turn == RunState::kGivenUp;
    state.turn.wait(RunState::kTaken);
  }
  subscriptions_.Cancel(waiting->ticket_);
  return true;
}

}  // namespace kvarts
