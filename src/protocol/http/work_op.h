// WorkOp: an operation whose whole answer is made on a worker thread, away from the event loop.
#pragma once

#include <functional>

#include "protocol/http/call.h"

namespace kvarts::http {

class WorkOp : public SlowOp {
 public:
  struct Reply {
    int status = 200;
    Bytes body = {};
    std::string_view type = "application/json";
    Cost cost = {};
  };
  using Work = std::function<Result<Reply>()>;

  // `work` owns all it needs, or refers to what outlives every request.
  explicit WorkOp(Work work) : work_(std::move(work)) {}

  net::Task<Status> Run(Session& session, Answer& answer) final;

 private:
  const Work work_;
};

// As handlers return it.
inline std::unique_ptr<SlowOp> OnWorkers(WorkOp::Work work) { return std::make_unique<WorkOp>(std::move(work)); }

}  // namespace kvarts::http
