// WorkOp: an operation whose whole answer is made on a worker thread, away from the event loop.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "protocol/http/call.h"

namespace kvarts::http {

class WorkOp : public SlowOp {
 public:
  struct Reply {
    int status = 200;
    Bytes body = {};
    std::string_view type = "application/json";
    Cost cost = {};
    std::string etag = {};    // of one value; without quotes
    std::string expiry = {};  // of a value that is the body itself
  };
  using Work = std::function<Result<Reply>()>;
  // What may take seconds; stop is requested when nobody wants it any more.
  using LongWork = std::function<Result<Reply>(const std::stop_token& stop)>;

  // `work` owns all it needs, or refers to what outlives every request.
  WorkOp(LongWork work, WorkerPool::Lane lane) : work_(std::move(work)), lane_(lane) {}

  net::Task<Status> Run(Session& session, Answer& answer) final;

 private:
  const LongWork work_;
  const WorkerPool::Lane lane_;
};

// Answers with what `work` makes on a worker, where it is compressed, too.
net::Task<Status> AnswerFromWorker(Session& session, Answer& answer, WorkOp::Work work, WorkTurn turn);

// As handlers return it.
inline std::unique_ptr<SlowOp> OnWorkers(WorkOp::Work work) {
  return std::make_unique<WorkOp>([work = std::move(work)](const std::stop_token&) { return work(); },
                                  WorkerPool::Lane::kShort);
}
// The same for what may take seconds: it leaves a worker to others, and is not begun for a client that is gone.
inline std::unique_ptr<SlowOp> OnWorkersForLong(WorkOp::LongWork work) {
  return std::make_unique<WorkOp>(std::move(work), WorkerPool::Lane::kLong);
}

}  // namespace kvarts::http
