// How a connection carries out the writes that arrived together.
#include "protocol/http/connection.h"

namespace kvarts::http {
namespace {

// Writes of more commands or bytes in all are carried out on a worker: what they read and copy would keep the loop from
// its other connections.
constexpr size_t kCommandsOnLoop = 256;
constexpr size_t kBytesOnLoop = 512 << 10;

// How long a write that is held back sleeps before it looks whether it still has to be.
constexpr std::chrono::milliseconds kLongestNap{100};

}  // namespace

bool Connection::BatchIsFull() const {
  return batch_.size() >= service_.options.max_pipelined || batch_bytes_ >= service_.options.max_pipelined_bytes ||
         !behind_.empty();
}

net::Task<> Connection::RunBatch() {
  stream_.Keep();
  stream_.ClearDeadline();
  const bool large = BatchIsLarge();
  Outcomes outcomes;
  const net::SteadyTime now = std::chrono::steady_clock::now();
  const std::optional<net::SteadyTime> turn = service_.throttle.Reserve(service_.engine().pressure(), batch_bytes_, now,
                                                                        now + service_.options.request_timeout);
  if (turn != now) loop_.metrics.throttled.Add(batch_.size());
  if (turn > now) co_await SleepUntil(*turn);
  if (turn) {
    std::vector<Store::Request> requests;
    requests.reserve(batch_.size());
    for (const std::shared_ptr<WriteOp>& op : batch_) {
      requests.push_back({[op](Txn& txn) { return op->Run(txn); }, std::move(op->options), nullptr});
    }
    WorkerPool* const workers = large ? &service_.workers : nullptr;
    outcomes = co_await RunAll(stream_.loop(), service_.store, std::move(requests), workers);
  } else {
    const Error held_back(ErrorCode::kOverloaded, "writes are held back until the engine has caught up",
                          {{"limit", "request_timeout"}});
    outcomes.assign(batch_.size(), held_back);
  }
  size_t answer_bytes = 0;
  for (const std::shared_ptr<WriteOp>& op : batch_) answer_bytes += op->AnswerBytes();
  if (large || answer_bytes > kLargeAnswer) {
    co_await AnswerBatchOnWorker(outcomes);
  } else {
    AnswerBatch(outcomes, loop_.date, &stream_.output());
  }
  for (size_t i = 0; i < batch_.size(); ++i) {
    if (outcomes[i].has_value() && service_.options.hot_keys) batch_[i]->CountIn(loop_.hot);
    Done(batch_[i]->info, batch_[i]->answered, outcomes[i].has_value() ? outcomes[i]->cost : batch_[i]->spent());
  }
  stream_.output().append(std::exchange(behind_, {}));
  batch_.clear();
  batch_bytes_ = 0;
  held_.Release();
}

bool Connection::BatchIsLarge() const {
  size_t commands = 0;
  for (const std::shared_ptr<WriteOp>& op : batch_) commands += op->commands;
  return commands > kCommandsOnLoop || batch_bytes_ > kBytesOnLoop;
}

// Waits for a turn among the writers, unless they need not wait any more.
net::Task<> Connection::SleepUntil(net::SteadyTime turn) {
  while (!stream_.aborted() && service_.engine().pressure() > WriteThrottle::kFrom) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(turn - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    co_await stream_.Sleep(std::min(left, kLongestNap));
  }
}

// On any thread.
void Connection::AnswerBatch(const Outcomes& outcomes, const HttpDate& date, Bytes* out) const {
  for (size_t i = 0; i < batch_.size(); ++i) {
    WriteOp& op = *batch_[i];
    Answer answer(service_, date, op.info, out);
    if (outcomes[i].has_value()) {
      answer.Follows(outcomes[i]->session);
      op.Respond(answer, *outcomes[i]);
    } else {
      answer.Problem(outcomes[i].error(), op.spent());
    }
    op.answered = answer.status();
  }
}

net::Task<> Connection::AnswerBatchOnWorker(const Outcomes& outcomes) {
  Bytes answers;
  auto write = [this, &outcomes, &answers, date = loop_.date]() -> Status {
    AnswerBatch(outcomes, date, &answers);
    return {};
  };
  const Status written = co_await OnWorker(stream_.loop(), service_.workers, std::ref(write));
  if (written.has_value()) {
    stream_.output().append(answers);
  } else {
    // No worker has time: what was done is said all the same.
    AnswerBatch(outcomes, loop_.date, &stream_.output());
  }
}

}  // namespace kvarts::http
