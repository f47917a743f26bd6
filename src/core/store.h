// Store: runs transactions. It owns retries, deadlines and cancellation, what happens after a commit, and everything
// that core adds to one: feed entries, the index of owned values by expiry.
//
//   Result<int> left = store.Run([&](Txn& txn) -> Result<int> { … return n; });
//
// A body reads, decides and writes through its Txn and returns a value or an error; an error writes nothing. If what it
// read has changed by the time its commit is decided, the engine runs it again where nothing can change under it, on
// another thread: so a body refers to nothing that another thread may be changing, and keeps no state between runs.
// What a body throws, on whichever thread, reaches the caller who waits; where nobody waits it is answered as
// `internal`.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <semaphore>
#include <stop_token>
#include <type_traits>
#include <vector>

#include "base/worker_pool.h"
#include "core/context.h"
#include "core/feed.h"
#include "core/subscriptions.h"
#include "core/txn.h"
#include "engine/engine.h"

namespace kvarts {

struct RunOptions {
  Durability durability = Durability::kSync;
  // How long the commit may wait for its turn; then it fails as `overloaded` and nothing is written. Once its turn has
  // come the outcome is waited for. (Where nobody waits, in RunAsync, the answer comes no earlier than the turn would.)
  std::optional<Duration> patience;
  // Gives up in the same way when stop is requested.
  std::stop_token stop;
  // For RunAsync: the caller may be kept until the commit is on disk, so that it need not be handed to another thread.
  // The answer then mostly comes before RunAsync returns.
  bool caller_waits = false;
  // For RunAsync: the caller may be kept for as long as it takes to carry it out, but not until anything is on disk.
  bool caller_lends = false;
  // Others are at the same, so the body would lose its race: it is run when its commit's turn has come, and only then.
  // What is too much for that (Limits::max_second_run_keys) fails as `overloaded`.
  bool at_its_turn = false;
  Context context;
};

// What became of a run.
struct RunReport {
  Version version;  // of the commit; of the view if nothing was written
  Cost cost;
  SessionToken session = {};  // of the commit, where the engine has them
};

class Store {
 public:
  using Body = std::function<Status(Txn&)>;
  using Done = std::function<void(Result<RunReport>)>;
  // What a body that waits says of itself.
  enum class Ready { kDone, kWait };
  using WaitingBody = std::function<Result<Ready>(Txn&)>;

  // The engine must have no listener yet, and goes before the store. A store goes only when it owes no answer any more;
  // bodies that still wait are dropped.
  static Result<std::unique_ptr<Store>> Open(Engine& engine);
  ~Store();
  // Before the engine goes: bodies that wait for what they read are answered, and no more are begun.
  void Stop() {
    if (readers_ != nullptr) readers_->Stop();
  }

  Engine& engine() { return engine_; }
  Subscriptions& subscriptions() { return subscriptions_; }
  FeedTable& feeds() { return feeds_; }

  // Runs a body and waits for its outcome.
  Result<RunReport> RunBody(const Body& body, RunOptions options = {});
  // The same for a body that returns a value.
  template <class F>
  std::invoke_result_t<F, Txn&> Run(F body, RunOptions options = {}, RunReport* report = nullptr);

  // Runs a body at once and answers when its commit is decided: on the commit thread, which may be this one.
  // `done` must be quick. Neither may refer to anything that could be gone by then.
  struct Request {
    Body body;
    RunOptions options;
    Done done;
  };
  void RunAsync(Request request);
  // Requests that arrive together are submitted together, each a commit of its own, and each sees what those before it
  // have written.
  void RunAsync(std::vector<Request> requests);

  // Runs a body until it has something to do: right away, and after every commit that touches one of the `ranges`,
  // before anything submitted later. A run that waits may put others in their place. It has all the patience there is:
  // Cancel takes it back, and answers false when the body is already done. While the body is being run Cancel waits for
  // that, so it must not be called from within it.
  class Waiting;
  using Ranges = std::vector<KeyRange>;
  using FindingBody = std::function<Result<Ready>(Txn&, Ranges* ranges)>;
  std::shared_ptr<Waiting> RunWhenReady(KeyRange range, WaitingBody body, RunOptions options, Done done);
  // Those who wait for the same thing may stand in a line: when one of them finds nothing, neither would the others,
  // and whoever is done has changed something in the ranges, which each run says. Behind its first turn only the first
  // of them is run, so a commit costs whom it serves, and not how many wait. Where other processes write, too, it has
  // no effect.
  class Line;
  std::shared_ptr<Line> NewLine();
  std::shared_ptr<Waiting> RunWhenReady(Ranges ranges, FindingBody body, RunOptions options, Done done,
                                        std::shared_ptr<Line> line = nullptr);
  bool Cancel(const std::shared_ptr<Waiting>& waiting);

 private:
  struct RunState;
  template <class Held>
  class BodySubmission;
  class LineTurn;
  class SharedTurn;

  explicit Store(Engine& engine);

  struct Arrived;
  // Runs the bodies, and submits. False when one would have to wait for what it reads, and may not.
  bool SubmitAll(Arrived* arrived, bool may_wait);

  // Runs the body on a fresh Txn and makes its commit. Never throws.
  Status RunOnce(RunState& state, Txn& txn, Commit* commit);
  Status RunAndTake(RunState& state, Txn& txn, Commit* commit);
  // Runs the body, and says whether there is something for the engine to decide, or the answer has been given; or that
  // the body would have to wait, if it may not, and nothing has happened. When it is `in_order` behind others not yet
  // submitted, whatever it found by reading is for the engine to decide.
  enum class Prepared { kSubmit, kAnswered, kWaits };
  Prepared Prepare(RunState& state, bool in_order, bool may_wait, Submission* submission);
  Result<RunReport> Wait(RunState& state);

  Engine& engine_;
  Subscriptions subscriptions_;
  FeedTable feeds_;
  // Where bodies run that read, on an engine whose reads may wait for a network. It goes first.
  std::unique_ptr<WorkerPool> readers_;
};

template <class F>
std::invoke_result_t<F, Txn&> Store::Run(F body, RunOptions options, RunReport* report) {
  using ResultType = std::invoke_result_t<F, Txn&>;
  using Returned = typename ResultType::value_type;
  if constexpr (std::is_void_v<Returned>) {
    KVARTS_TRY(RunReport ran, RunBody(Body(std::ref(body)), std::move(options)));
    if (report != nullptr) *report = ran;
    return {};
  } else {
    std::optional<Returned> value;
    const Body run = [&](Txn& txn) -> Status {
      KVARTS_TRY(value, body(txn));
      return {};
    };
    KVARTS_TRY(RunReport ran, RunBody(run, std::move(options)));
    if (report != nullptr) *report = ran;
    return *std::move(value);
  }
}

}  // namespace kvarts
