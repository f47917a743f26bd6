// Bodies that wait until they have something to do (Store::RunWhenReady).
//
// Every turn of a waiting body is a submission of its own, run on the commit thread: when it finds nothing to do and
// waits again, no commit can have slipped by.
#include <map>

#include "core/run_state.h"

namespace kvarts {

class Store::Waiting {
 public:
  Waiting(Store& store, Ranges ranges, FindingBody body, RunOptions options, Done done)
      : ranges_(std::move(ranges)),
        ticket_(store.subscriptions_.NextTicket()),
        body_(std::move(body)),
        state_(
            store, [this](Txn& txn) { return Try(txn); }, std::move(options), std::move(done)) {}

 private:
  friend class Store;
  friend class Line;
  friend class LineTurn;
  friend class SharedTurn;

  Status Try(Txn& txn) {
    Ranges ranges = ranges_;
    KVARTS_TRY(const Ready ready, body_(txn, &ranges));
    parked_ = ready == Ready::kWait;
    if (parked_) txn.RollBack({0, 0});
    moved_ = ranges != ranges_;
    ranges_ = std::move(ranges);
    return {};
  }
  // Whether it waits again; if not, the commit is there or why there is none.
  Status Run(View& view, Commit* commit, bool* parked) {
    Txn txn(state_.store.engine_, state_.options.context, view);
    const Status ran = state_.store.RunOnce(state_, txn, commit);
    *parked = ran.has_value() && parked_;
    if (*parked) *commit = {};
    return ran;
  }

  Ranges ranges_;
  const Subscriptions::Id ticket_;
  const FindingBody body_;
  RunState state_;
  std::weak_ptr<Line> line_;
  bool parked_ = false;             // the last run had nothing to do
  bool moved_ = false;              // and waits for something else than before
  std::atomic<bool> woken_{false};  // during a turn
};

// In the order of their tickets. One of them is registered for all, from when one of them has waited in vain; until
// then, each has a turn that is yet to come.
class Store::Line : public std::enable_shared_from_this<Line> {
 public:
  explicit Line(Store& store) : store_(store) {}

  void Join(const std::shared_ptr<Waiting>& one) {
    const std::lock_guard lock(mutex_);
    members_.emplace(one->ticket_, one);
  }
  // It is not to be run any more.
  void Leave(const Waiting& one) {
    const std::lock_guard lock(mutex_);
    members_.erase(one.ticket_);
    if (registered_ == one.ticket_) HandOver();
  }
  // The first whose turn can be taken.
  std::shared_ptr<Waiting> Take() {
    const std::lock_guard lock(mutex_);
    for (const auto& [ticket, one] : members_) {
      if (one->state_.Take()) return one;
    }
    return nullptr;
  }
  // What comes of a turn of one of them that went well, before its commit is decided: so whoever is next hears of that.
  void EndTurn(const Waiting& one, bool parked) {
    const std::lock_guard lock(mutex_);
    const bool moved = !one.ranges_.empty() && ranges_ != one.ranges_;
    if (moved) ranges_ = one.ranges_;
    if (parked) {
      if (!registered_ || moved) Register(one.ticket_);
      return;
    }
    members_.erase(one.ticket_);
    if (registered_ && (moved || registered_ == one.ticket_)) HandOver();
  }
  // Has the first of them look once more.
  void Wake();
  // Nobody will.
  void EndAll(const Error& why) {
    while (const std::shared_ptr<Waiting> one = Take()) {
      Leave(*one);
      one->state_.SetTurn(RunState::kEnded);
      one->state_.Settle(why);
    }
  }

 private:
  void HandOver() {
    if (!members_.empty()) return Register(members_.begin()->first);
    store_.subscriptions_.Cancel(*std::exchange(registered_, std::nullopt));
  }
  // Both are, for a moment, when another was: nothing slips by.
  void Register(Subscriptions::Id ticket);

  Store& store_;
  std::mutex mutex_;
  std::map<Subscriptions::Id, std::shared_ptr<Waiting>> members_;
  std::optional<Subscriptions::Id> registered_;
  Ranges ranges_;
};

// A turn of one that has joined a line, or of the first of it.
class Store::LineTurn final : public Submission {
 public:
  explicit LineTurn(std::shared_ptr<Line> line, std::shared_ptr<Waiting> joined = nullptr)
      : line_(std::move(line)), joined_(std::move(joined)) {
    run_first = true;
  }

  bool Claim() override {
    if (joined_ == nullptr) {
      waiting_ = line_->Take();
    } else if (joined_->state_.Take()) {
      waiting_ = joined_;
    }
    return waiting_ != nullptr;
  }
  bool CanRun() const override { return true; }
  Status Run(View& view) override {
    const Status ran = waiting_->Run(view, &commit, &parked_);
    if (ran.has_value()) {
      line_->EndTurn(*waiting_, parked_);
    } else {
      line_->Leave(*waiting_);
    }
    waiting_->state_.SetTurn(parked_ ? RunState::kWaiting : RunState::kEnded);
    return ran;
  }
  void Done(Result<Committed> outcome) override {
    if (waiting_ == nullptr) return Refused(outcome.error());
    const bool failed = !outcome.has_value();
    if (!parked_) {
      // Of a commit that changes something the next one hears.
      const bool told = !failed && !commit.mutations.empty();
      waiting_->state_.Settle(std::move(outcome));
      if (!told) line_->Wake();
    } else if (failed && waiting_->state_.GiveUp(RunState::kEnded)) {
      // What it saw was not written after all, so it may be waiting for what is already there.
      line_->Leave(*waiting_);
      waiting_->state_.Settle(std::move(outcome));
      line_->Wake();
    }
  }

 private:
  // It never had its turn.
  void Refused(const Error& why) {
    if (joined_ == nullptr) return line_->EndAll(why);
    if (!joined_->state_.GiveUp(RunState::kEnded)) return;
    line_->Leave(*joined_);
    joined_->state_.Settle(why);
  }

  const std::shared_ptr<Line> line_;
  const std::shared_ptr<Waiting> joined_;
  std::shared_ptr<Waiting> waiting_;
  bool parked_ = false;  // this turn ended in waiting again
};

void Store::Line::Wake() {
  {
    const std::lock_guard lock(mutex_);
    if (members_.empty()) return;
  }
  std::unique_ptr<Submission> turn = std::make_unique<LineTurn>(shared_from_this());
  store_.engine_.Submit({&turn, 1});
}

void Store::Line::Register(Subscriptions::Id ticket) {
  const auto before = std::exchange(registered_, ticket);
  auto wake = [line = shared_from_this()] { return std::make_unique<LineTurn>(line); };
  store_.subscriptions_.Wait(ticket, ranges_, std::move(wake), true);
  if (before && before != ticket) store_.subscriptions_.Cancel(*before);
}

// A turn on an engine that other processes write to, and that has several commits under way at once. There a body waits
// from before its view is opened, and being woken during its turn is made up for behind it: so is having waited for the
// wrong ranges. There are no lines.
class Store::SharedTurn final : public Submission {
 public:
  explicit SharedTurn(std::shared_ptr<Waiting> waiting) : waiting_(std::move(waiting)) { run_first = true; }

  bool Claim() override {
    RunState& state = waiting_->state_;
    bool taken = state.Take();
    if (!taken) {
      waiting_->woken_ = true;
      taken = state.Take();  // the other turn may have ended meanwhile
    }
    if (taken) Register();
    return taken;
  }
  bool CanRun() const override { return true; }
  Status Run(View& view) override { return waiting_->Run(view, &commit, &parked_); }
  void Done(Result<Committed> outcome) override {
    RunState& state = waiting_->state_;
    if (!parked_ || !outcome.has_value()) {
      state.store.subscriptions_.Cancel(waiting_->ticket_);
      state.SetTurn(RunState::kEnded);
      return state.Settle(std::move(outcome));
    }
    const bool moved = std::exchange(waiting_->moved_, false);
    state.SetTurn(RunState::kWaiting);
    if (!waiting_->woken_.exchange(false) && !moved) return;
    std::unique_ptr<Submission> again = std::make_unique<SharedTurn>(waiting_);
    state.store.engine_.Submit({&again, 1});
  }

 private:
  void Register() {
    waiting_->state_.store.subscriptions_.Wait(waiting_->ticket_, waiting_->ranges_,
                                               [waiting = waiting_] { return std::make_unique<SharedTurn>(waiting); });
  }

  const std::shared_ptr<Waiting> waiting_;
  bool parked_ = false;  // this turn ended in waiting again
};

std::shared_ptr<Store::Line> Store::NewLine() { return std::make_shared<Line>(*this); }

std::shared_ptr<Store::Waiting> Store::RunWhenReady(KeyRange range, WaitingBody body, RunOptions options, Done done) {
  Ranges ranges;
  ranges.push_back(std::move(range));
  auto same = [body = std::move(body)](Txn& txn, Ranges*) { return body(txn); };
  return RunWhenReady(std::move(ranges), std::move(same), std::move(options), std::move(done));
}

std::shared_ptr<Store::Waiting> Store::RunWhenReady(Ranges ranges, FindingBody body, RunOptions options, Done done,
                                                    std::shared_ptr<Line> line) {
  auto waiting =
      std::make_shared<Waiting>(*this, std::move(ranges), std::move(body), std::move(options), std::move(done));
  std::unique_ptr<Submission> turn;
  if (engine_.capabilities().shared) {
    turn = std::make_unique<SharedTurn>(waiting);
  } else {
    if (line == nullptr) line = NewLine();
    waiting->line_ = line;
    line->Join(waiting);
    turn = std::make_unique<LineTurn>(std::move(line), waiting);
  }
  engine_.Submit({&turn, 1});
  return waiting;
}

bool Store::Cancel(const std::shared_ptr<Waiting>& waiting) {
  RunState& state = waiting->state_;
  while (!state.GiveUp()) {
    const RunState::Turn turn = state.turn.load();
    if (turn == RunState::kEnded || turn == RunState::kGivenUp) return turn == RunState::kGivenUp;
    state.turn.wait(RunState::kTaken);
  }
  if (const std::shared_ptr<Line> line = waiting->line_.lock()) {
    line->Leave(*waiting);
  } else {
    subscriptions_.Cancel(waiting->ticket_);
  }
  return true;
}

}  // namespace kvarts
