// One run of a body on its way to an outcome, shared by the submitter and the engine; for what implements Store.
#pragma once

#include <chrono>
#include <exception>

#include "core/store.h"

namespace kvarts {

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

}  // namespace kvarts
