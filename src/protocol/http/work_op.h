// WorkOp: an operation whose whole answer is made on a worker thread, away from the event loop: what is read or done
// for it, its JSON, its compression.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>

#include "protocol/http/call.h"

namespace kvarts::http {

class WorkOp : public SlowOp {
 public:
  struct Reply {
    int status = 200;
    Bytes body = {};
    std::string_view type = "application/json";
    Cost cost = {};
    // What is answered instead, when work that went wrong has cost something.
    std::optional<Error> problem = {};
  };
  using Work = std::function<Result<Reply>()>;
  // What may take seconds; stop is requested when nobody wants it any more.
  using LongWork = std::function<Result<Reply>(const std::stop_token& stop)>;
  // Writes the answer itself, and says what it cost.
  using Write = std::function<Result<Cost>(Answer& answer, const std::stop_token& stop)>;

  // `write` owns all it needs, or refers to what outlives every request. Without a lane it is too little for a worker,
  // and done on the loop.
  WorkOp(Write write, std::optional<WorkerPool::Lane> lane) : write_(std::move(write)), lane_(lane) {}

  net::Task<Status> Run(Session& session, Answer& answer) final;

 private:
  const Write write_;
  const std::optional<WorkerPool::Lane> lane_;
};

// The same within another operation.
net::Task<Status> AnswerOnWorker(Session& session, Answer& answer, const WorkOp::Write& write, WorkTurn turn);

// As handlers return it.
std::unique_ptr<SlowOp> OnWorkers(WorkOp::Work work);
// For what is done sooner than handed over.
std::unique_ptr<SlowOp> OnLoop(WorkOp::Work work);
// For what may take seconds: it leaves a worker to others, and is not begun for a client that is gone.
std::unique_ptr<SlowOp> OnWorkersForLong(WorkOp::LongWork work);

}  // namespace kvarts::http
