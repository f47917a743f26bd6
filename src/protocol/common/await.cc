#include "protocol/common/await.h"

#include <algorithm>

namespace kvarts {

net::Task<std::vector<Result<RunReport>>> RunAll(net::Loop& loop, Store& store, std::vector<Store::Request> requests,
                                                 WorkerPool* workers, WorkerPool::Lane lane) {
  std::vector<Result<RunReport>> outcomes(requests.size());
  std::atomic<size_t> left = requests.size();
  auto start = [&](auto resume) {
    // Whoever is last resumes; until then the frame of this coroutine, and all that is in it, stays.
    auto shared = std::make_shared<decltype(resume)>(std::move(resume));
    for (size_t i = 0; i < requests.size(); ++i) {
      requests[i].done = [shared, &outcomes, &left, i](Result<RunReport> outcome) {
        outcomes[i] = std::move(outcome);
        if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) (*shared)();
      };
    }
    auto run = [&store, &requests] { store.RunAsync(std::move(requests)); };
    if (workers == nullptr) {
      run();
    } else if (!workers->Submit(run, lane)) {
      std::ranges::fill(outcomes, Result<RunReport>(NoWorker()));
      (*shared)();
    }
  };
  co_await AwaitCallback(loop, std::ref(start));
  co_return outcomes;
}

Error NoWorker() {
  return Error(ErrorCode::kOverloaded, "too many requests are waiting for a worker", {{"limit", "worker_queue"}});
}

Status StillWanted(const WorkTurn& turn) {
  if (turn.stop.stop_requested()) return Error(ErrorCode::kUnavailable, "the client has gone");
  if (std::chrono::steady_clock::now() <= turn.begin_by) return {};
  return Error(ErrorCode::kOverloaded, "the request waited for a worker for too long", {{"limit", "request_timeout"}});
}

}  // namespace kvarts
