#include "protocol/http/work_op.h"

#include "protocol/common/await.h"
#include "protocol/http/compress.h"

namespace kvarts::http {

net::Task<Status> AnswerFromWorker(Session& session, Answer& answer, WorkOp::Work work, WorkTurn turn) {
  bool packed = false;
  auto make = [&]() -> Result<WorkOp::Reply> {
    KVARTS_TRY(WorkOp::Reply reply, work());
    packed = answer.Packs(reply.body.size());
    if (packed) {
      const Bytes plain = std::exchange(reply.body, {});
      AppendGzip(&reply.body, plain);
    }
    return reply;
  };
  Result<WorkOp::Reply> reply = co_await OnWorker(session.stream.loop(), session.service.workers, std::ref(make), turn);
  if (!reply.has_value()) co_return std::move(reply).error();
  session.cost = reply->cost;
  ResponseWriter& head = answer.Begin(reply->status, reply->cost);
  if (!reply->etag.empty()) head.ETag(reply->etag);
  head.ContentType(reply->type);
  if (!reply->expiry.empty()) head.Header("Kvarts-Expiry", reply->expiry);
  if (packed) answer.SayPacked();
  head.body(reply->body.size())->append(reply->body);
  head.Finish();
  co_return Status();
}

net::Task<Status> WorkOp::Run(Session& session, Answer& answer) {
  WorkTurn turn = session.Turn(lane_);
  if (lane_ == WorkerPool::Lane::kLong) turn.stop = session.gone;
  auto work = [this, stop = turn.stop] { return work_(stop); };
  Status answered = co_await AnswerFromWorker(session, answer, std::move(work), std::move(turn));
  co_return answered;
}

}  // namespace kvarts::http
