#include "core/store.h"

#include <chrono>

#include "core/expiry.h"

namespace kvarts {

// One run of a body on its way to an outcome, shared by the submitter and the engine.
struct Store::RunState {
  enum Turn { kWaiting, kTaken, kGivenUp };

  RunState(Store& in, Body run, RunOptions with, Done then)
      : store(in), body(std::move(run)), options(std::move(with)), done(std::move(then)) {}

  void Finish(Result<RunReport> result) {
    if (done) return done(std::move(result));
    outcome = std::move(result);
    finished.release();
  }
  // The engine has decided.
  void Settle(Result<Committed> committed) {
    if (!committed.has_value()) return Finish(std::move(committed).error());
    report.version = committed->version;
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
  bool GiveUp() {
    Turn waiting = kWaiting;
    return turn.compare_exchange_strong(waiting, kGivenUp);
  }

  Store& store;
  const Body body;
  const RunOptions options;
  const Done done;
  std::atomic<Turn> turn{kWaiting};
  const void* feeds = nullptr;  // which feeds there were when the body was run
  std::vector<std::function<void(Version)>> effects;
  RunReport report;
  Result<RunReport> outcome = Error(ErrorCode::kInternal, "the transaction has no outcome");
  std::binary_semaphore finished{0};
};

class Store::BodySubmission final : public Submission {
 public:
  explicit BodySubmission(std::shared_ptr<RunState> state) : state_(std::move(state)) {}

  bool Claim() override {
    // A feed was declared after the body was run: it is run again, so that no change goes unrecorded.
    if (state_->feeds != state_->store.feeds_.current()) run_first = true;
    return state_->Take();
  }
  bool CanRun() const override { return true; }
  Status Run(View& view) override {
    Txn txn(state_->store.engine_, state_->options.context, view);
    bool writes = false;
    return state_->store.RunOnce(*state_, txn, &commit, &writes);
  }
  void Done(Result<Committed> outcome) override { state_->Settle(std::move(outcome)); }

 private:
  std::shared_ptr<RunState> state_;
};

Result<std::unique_ptr<Store>> Store::Open(Engine& engine) {
  std::unique_ptr<Store> store(new Store(engine));
  engine.SetListener(&store->subscriptions_);
  KVARTS_CHECK_OK(store->feeds_.Load());
  return store;
}

Store::~Store() = default;

Status Store::RunOnce(RunState& state, Txn& txn, Commit* commit, bool* writes) {
  state.feeds = feeds_.current();
  txn.cost() = state.report.cost;
  txn.cost().runs += 1;
  KVARTS_CHECK_OK(state.body(txn));
  *writes = !txn.mutations().empty();
  if (*writes) {
    KVARTS_CHECK_OK(feeds_.Record(txn));
    IndexOwned(txn);
  }
  state.effects = txn.TakeEffects();
  state.report.cost = txn.cost();
  state.report.version = txn.ViewVersion().value_or(engine_.LastVersion());
  *commit = txn.TakeCommit(state.options.durability);
  return {};
}

std::unique_ptr<Submission> Store::Prepare(const std::shared_ptr<RunState>& state) {
  auto submission = std::make_unique<BodySubmission>(state);
  bool writes = false;
  Txn txn(engine_, state->options.context);
  const Status ran = RunOnce(*state, txn, &submission->commit, &writes);
  if (ran.has_value() && writes) return submission;
  if (!ran.has_value()) {
    state->Finish(ran.error());
    return nullptr;
  }
  for (const auto& effect : state->effects) effect(state->report.version);
  state->Finish(std::move(state->report));
  return nullptr;
}

Result<RunReport> Store::RunBody(const Body& body, RunOptions options) {
  const auto state = std::make_shared<RunState>(*this, body, std::move(options), nullptr);
  std::unique_ptr<Submission> submission = Prepare(state);
  if (submission != nullptr) engine_.Submit({&submission, 1});
  return Wait(*state);
}

Result<RunReport> Store::Wait(RunState& state) {
  const std::optional<Duration>& patience = state.options.patience;
  const Error gave_up(ErrorCode::kOverloaded, "the commit's turn did not come in time; nothing was written");
  // A request to stop wakes the waiter by giving the commit up.
  bool stopped = false;
  const std::stop_callback on_stop(state.options.stop, [&] {
    if (!state.GiveUp()) return;
    stopped = true;
    state.finished.release();
  });
  if (patience && !state.finished.try_acquire_for(std::chrono::microseconds(patience->micros))) {
    if (state.GiveUp()) return gave_up;
    state.finished.acquire();
  } else if (!patience) {
    state.finished.acquire();
  }
  if (stopped) return gave_up;
  return std::move(state.outcome);
}

void Store::RunAsync(Request request) {
  std::vector<Request> one;
  one.push_back(std::move(request));
  RunAsync(std::move(one));
}

void Store::RunAsync(std::vector<Request> requests) {
  std::vector<std::unique_ptr<Submission>> submissions;
  submissions.reserve(requests.size());
  for (Request& request : requests) {
    const auto state =
        std::make_shared<RunState>(*this, std::move(request.body), std::move(request.options), std::move(request.done));
    if (auto submission = Prepare(state)) submissions.push_back(std::move(submission));
  }
  if (!submissions.empty()) engine_.Submit(submissions);
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
  bool parked_ = false;  // the last run had nothing to do
};

// Every turn of a waiting body is a submission of its own, run on the engine's thread: when it finds nothing to do and
// waits again, no commit can have slipped by.
class Store::WaitingSubmission final : public Submission {
 public:
  explicit WaitingSubmission(std::shared_ptr<Waiting> waiting) : waiting_(std::move(waiting)) { run_first = true; }

  bool Claim() override { return waiting_->state_.Take(); }
  bool CanRun() const override { return true; }
  Status Run(View& view) override {
    RunState& state = waiting_->state_;
    Txn txn(state.store.engine_, state.options.context, view);
    bool writes = false;
    KVARTS_CHECK_OK(state.store.RunOnce(state, txn, &commit, &writes));
    if (!waiting_->parked_) return {};
    commit = {};
    state.turn.store(RunState::kWaiting);
    state.store.subscriptions_.Wait(waiting_->ticket_, waiting_->range_,
                                    [waiting = waiting_] { return std::make_unique<WaitingSubmission>(waiting); });
    parked_ = true;
    return {};
  }
  void Done(Result<Committed> outcome) override {
    if (!parked_) waiting_->state_.Settle(std::move(outcome));
  }

 private:
  std::shared_ptr<Waiting> waiting_;
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
  if (!waiting->state_.GiveUp()) return false;
  subscriptions_.Cancel(waiting->ticket_);
  return true;
}

}  // namespace kvarts
