// WorkOp: an operation whose whole answer is made on a worker thread, away from the event loop.
#pragma once

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

  net::Task<Status> Run(Session& session, Answer& answer) final;

 private:
  virtual Result<Reply> Work() = 0;
};

}  // namespace kvarts::http
