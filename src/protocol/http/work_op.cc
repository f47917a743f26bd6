#include "protocol/http/work_op.h"

#include "protocol/common/await.h"

namespace kvarts::http {

net::Task<Status> AnswerOnWorker(Session& session, Answer& answer, const WorkOp::Write& write, WorkTurn turn) {
  Bytes text;
  int status = 0;
  auto work = [&, date = session.loop.date]() -> Result<Cost> {
    Answer written(session.service, date, session.info, &text);
    KVARTS_TRY(const Cost cost, write(written, turn.stop));
    status = written.status();
    return cost;
  };
  const Result<Cost> cost = co_await OnWorker(session.stream.loop(), session.service.workers, std::ref(work), turn);
  if (!cost.has_value()) co_return cost.error();
  session.cost = *cost;
  answer.WrittenAs(status);
  Bytes& out = session.stream.output();
  if (out.empty()) {
    out = std::move(text);
  } else {
    out.append(text);
  }
  co_return Status();
}

net::Task<Status> WorkOp::Run(Session& session, Answer& answer) {
  if (!lane_) {
    const Result<Cost> cost = write_(answer, {});
    if (!cost.has_value()) co_return cost.error();
    session.cost = *cost;
    co_return Status();
  }
  WorkTurn turn = session.Turn(*lane_);
  if (lane_ == WorkerPool::Lane::kLong) turn.stop = session.Gone();
  Status answered = co_await AnswerOnWorker(session, answer, write_, std::move(turn));
  co_return answered;
}

namespace {

std::unique_ptr<SlowOp> Replying(WorkOp::LongWork work, std::optional<WorkerPool::Lane> lane) {
  auto write = [work = std::move(work)](Answer& answer, const std::stop_token& stop) -> Result<Cost> {
    KVARTS_TRY(const WorkOp::Reply reply, work(stop));
    if (reply.problem) {
      answer.Problem(*reply.problem, reply.cost);
      return reply.cost;
    }
    ResponseWriter& head = answer.Begin(reply.status, reply.cost);
    head.ContentType(reply.type);
    head.body(reply.body.size())->append(reply.body);
    answer.Finish();
    return reply.cost;
  };
  return std::make_unique<WorkOp>(std::move(write), lane);
}

}  // namespace

std::unique_ptr<SlowOp> OnWorkers(WorkOp::Work work) {
  return Replying([work = std::move(work)](const std::stop_token&) { return work(); }, WorkerPool::Lane::kShort);
}

std::unique_ptr<SlowOp> OnLoop(WorkOp::Work work) {
  return Replying([work = std::move(work)](const std::stop_token&) { return work(); }, std::nullopt);
}

std::unique_ptr<SlowOp> OnWorkersForLong(WorkOp::LongWork work) {
  return Replying(std::move(work), WorkerPool::Lane::kLong);
}

}  // namespace kvarts::http
