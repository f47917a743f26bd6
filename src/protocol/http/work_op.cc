#include "protocol/http/work_op.h"

#include "protocol/common/await.h"

namespace kvarts::http {

net::Task<Status> WorkOp::Run(Session& session, Answer& answer) {
  Result<Reply> reply = co_await OnWorker(session.stream.loop(), session.service.workers, std::cref(work_));
  if (!reply.has_value()) co_return std::move(reply).error();
  session.cost = reply->cost;
  ResponseWriter& head = answer.Begin(reply->status, reply->cost);
  head.ContentType(reply->type);
  head.body(reply->body.size())->append(reply->body);
  answer.Finish();
  co_return Status();
}

}  // namespace kvarts::http
