// Of connections: how a batch becomes a transaction of the store, and its answers are taken over.
#include "protocol/common/await.h"
#include "protocol/resp/connection.h"
#include "protocol/resp/errors.h"

namespace kvarts::resp {
namespace {

// What a connection keeps for its next answers.
constexpr size_t kKeptReplies = 4 << 10;
// Whoever has lost a race to others will lose the next ones.
constexpr size_t kRacesExpected = 32;

// Of a transaction that has only read, and is not committed.
void RunEffects(Txn& txn) {
  if (!txn.has_effects()) return;
  for (const auto& effect : txn.TakeEffects()) effect(kNoVersion);
}

}  // namespace

bool Connection::OnlyReads(const Batch& batch) const {
  return !batch.writes() && !batch.takes_long() && !service_.store.engine().capabilities().reads_may_wait;
}

net::Task<Status> Connection::RunBody(Store::Body body, Batch& batch, bool must_commit) {
  Status ran = co_await RunBodyOnce(body, batch, must_commit);
  if (!ran.has_value() && ran.error().text() == kNeedsWorker) {
    batch.set_takes_long();
    ran = co_await RunBodyOnce(body, batch, must_commit);
  }
  co_return ran;
}

net::Task<Status> Connection::RunBodyOnce(const Store::Body& body, const Batch& batch, bool must_commit) {
  if (!must_commit && OnlyReads(batch)) {
    const Context context;
    Txn txn(service_.store.engine(), context);
    txn.ForgetReads();
    Status ran = body(txn);
    if (ran.has_value()) RunEffects(txn);
    co_return ran;
  }
  stream_.Keep();
  const bool shared = service_.store.engine().capabilities().shared;
  const bool at_its_turn = raced_ > 0 && batch.writes() && !batch.takes_long() && !shared;
  if (raced_ > 0) --raced_;
  Result<RunReport> ran = co_await Submit(body, batch, at_its_turn);
  // There it may be too much.
  const bool too_much = !ran.has_value() && ran.error().code() == ErrorCode::kOverloaded;
  if (at_its_turn && too_much && ran.error().text() != kNeedsWorker) {
    raced_ = 0;
    ran = co_await Submit(body, batch, false);
  }
  if (!ran.has_value()) co_return std::move(ran).error();
  if (ran->cost.runs > 1) raced_ = kRacesExpected;
  if (session_.tracking && batch.wrote()) service_.tracking.NoteOwn(session_.id, ran->version);
  co_return Status();
}

net::Task<Result<RunReport>> Connection::Submit(const Store::Body& body, const Batch& batch, bool at_its_turn) {
  Store::Request request{body, {}, nullptr};
  request.options.durability = session_.durability.value_or(service_.settings.durability());
  request.options.at_its_turn = at_its_turn;
  if (!batch.takes_long()) {
    Result<RunReport> ran = co_await service_.commits[stream_.loop().number()]->Run(std::move(request));
    co_return ran;
  }
  std::vector<Store::Request> requests;
  requests.push_back(std::move(request));
  auto outcomes =
      co_await RunAll(stream_.loop(), service_.store, std::move(requests), &service_.workers, WorkerPool::Lane::kLong);
  co_return std::move(outcomes[0]);
}

bool Connection::RunAtOnce() {
  if (!OnlyReads(batch_)) return false;
  const Context context;
  Txn txn(service_.store.engine(), context);
  txn.ForgetReads();
  if (!batch_.Run(txn, service_, session_.version, &held_answers_, &replies_).has_value()) return false;
  RunEffects(txn);
  CountBatch(batch_);
  TakeReplies();
  batch_.Clear();
  return true;
}

// What is large is handed over, and not copied.
void Connection::TakeReplies() {
  Bytes& output = stream_.output();
  if (output.empty()) {
    output.swap(replies_);
  } else {
    output.append(replies_);
  }
  replies_.clear();
  if (replies_.capacity() > kKeptReplies) replies_.shrink_to_fit();
}

net::Task<> Connection::RunBatch() {
  const auto body = [this](Txn& txn) { return batch_.Run(txn, service_, session_.version, &held_answers_, &replies_); };
  const Status ran = co_await RunBody(body, batch_);
  if (!ran.has_value()) {
    co_await AnswerFailed(ran.error());
  } else {
    CountBatch(batch_);
    TakeReplies();
  }
  batch_.Clear();
  replies_.clear();
}

// What could not be committed together may be by itself; unless it may have been.
net::Task<> Connection::AnswerFailed(const Error& failed) {
  if (batch_.size() == 1 || failed.code() == ErrorCode::kUnknownOutcome) {
    service_.statistics.Failed(ErrorReply(failed));
    batch_.AnswerAll(failed, &stream_.output());
    co_return;
  }
  for (size_t i = 0; i < batch_.size(); ++i) {
    if (stream_.output().size() > kMaxUnsent && !stream_.FlushNow()) {
      stream_.Keep();
      const bool sent = co_await Send();
      // Behind what was left out nothing is carried out.
      if (!sent) co_return stream_.Abort();
    }
    const auto body = [this, i](Txn& txn) {
      return batch_.RunOne(i, txn, service_, session_.version, &held_answers_, &replies_);
    };
    const Status ran = co_await RunBody(body, batch_);
    if (ran.has_value()) {
      CountBatch(batch_);
      TakeReplies();
    } else {
      service_.statistics.Failed(ErrorReply(ran.error()));
      batch_.AnswerOne(i, ran.error(), &stream_.output());
    }
  }
}

}  // namespace kvarts::resp
