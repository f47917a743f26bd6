// Waiting for what happens on other threads, in a coroutine of a loop: a transaction's outcome, work on the pool.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/worker_pool.h"
#include "core/store.h"
#include "net/loop.h"

namespace kvarts {

// Suspends the coroutine; `start` is called with a function that resumes it, once, from any thread.
template <class Start>
net::Task<> AwaitCallback(net::Loop& loop, Start start) {
  auto initiate = [&loop, start = std::move(start)](auto handler) mutable {
    start([&loop, handler = std::move(handler)]() mutable { loop.Post(std::move(handler)); });
  };
  return asio::async_initiate<const asio::use_awaitable_t<net::Executor>&, void()>(std::move(initiate), net::kAwait);
}

// Submits the requests together, each a commit of its own, and waits for all of them. Their `done` is overwritten; the
// outcomes are in their order. With `workers` their bodies run there, in the lane, and not on the loop; when too much
// is waiting for a worker all are `overloaded`, and none was run.
net::Task<std::vector<Result<RunReport>>> RunAll(net::Loop& loop, Store& store, std::vector<Store::Request> requests,
                                                 WorkerPool* workers = nullptr,
                                                 WorkerPool::Lane lane = WorkerPool::Lane::kShort);

// Where work waits, and for how long it is worth beginning.
struct WorkTurn {
  WorkerPool::Lane lane = WorkerPool::Lane::kShort;
  net::SteadyTime begin_by = net::SteadyTime::max();
  std::stop_token stop = {};  // nobody wants it any more
};
// Too much is waiting already.
Error NoWorker();
// Why work is not begun any more; nothing: it is.
Status StillWanted(const WorkTurn& turn);

// Runs a function on the pool. `overloaded` when too much is waiting for it, or it would begin too late; `unavailable`
// when nobody wants it any more.
template <class Function>
net::Task<std::invoke_result_t<Function>> OnWorker(net::Loop& loop, WorkerPool& pool, Function function,
                                                   WorkTurn turn = {}) {
  std::optional<std::invoke_result_t<Function>> outcome;
  bool taken = true;
  auto start = [&](auto resume) {
    auto shared = std::make_shared<decltype(resume)>(std::move(resume));
    auto work = [shared, &outcome, &function, &turn] {
      const Status wanted = StillWanted(turn);
      try {
        if (wanted.has_value()) {
          outcome = function();
        } else {
          outcome = wanted.error();
        }
      } catch (const std::exception&) {
        outcome = Error(ErrorCode::kInternal, "the work was broken off by an exception");
      }
      (*shared)();
    };
    taken = pool.Submit(std::move(work), turn.lane);
    if (!taken) (*shared)();
  };
  co_await AwaitCallback(loop, std::ref(start));
  if (!taken) co_return NoWorker();
  co_return *std::move(outcome);
}

}  // namespace kvarts
