#include "support/commits.h"

#include <gtest/gtest.h>

#include <utility>

namespace kvarts::test {
namespace {

Precondition Make(Precondition::Kind kind, BytesView key) {
  Precondition precondition;
  precondition.kind = kind;
  precondition.key = key;
  return precondition;
}

}  // namespace

Precondition Absent(BytesView key) { return Make(Precondition::Kind::kAbsent, key); }
Precondition Present(BytesView key) { return Make(Precondition::Kind::kPresent, key); }

Precondition VersionIs(BytesView key, Version version) {
  Precondition precondition = Make(Precondition::Kind::kVersionIs, key);
  precondition.version = version;
  return precondition;
}

Precondition RangeUnchanged(BytesView start, BytesView end, Version since) {
  Precondition precondition = Make(Precondition::Kind::kRangeUnchanged, start);
  precondition.end = end;
  precondition.version = since;
  return precondition;
}

Precondition FromRead(Precondition precondition) {
  precondition.from_read = true;
  return precondition;
}

Precondition ExpiredToo(Precondition precondition) {
  precondition.expired_too = true;
  return precondition;
}

Precondition Lapsing(Precondition precondition, Timestamp lapses) {
  precondition.lapses = lapses;
  return precondition;
}

Mutation PutCounter(BytesView key, int64_t number, Timestamp expiry) {
  Mutation mutation = Mutation::Put(key, CounterValue(number), expiry);
  mutation.kind = ValueKind::kCounter;
  return mutation;
}

Mutation Owned(Mutation put) {
  put.owned = true;
  return put;
}

Commit MakeCommit(std::vector<Mutation> mutations, std::vector<Precondition> preconditions) {
  Commit commit;
  commit.preconditions = std::move(preconditions);
  commit.mutations = std::move(mutations);
  return commit;
}

std::optional<Result<Committed>> Ticket::Wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return gone_ || outcome_; });
  return outcome_;
}

Result<Committed> Ticket::Outcome() {
  std::optional<Result<Committed>> outcome = Wait();
  if (!outcome) return Error(ErrorCode::kInternal, "the engine dropped the submission");
  return *std::move(outcome);
}

int Ticket::runs() const {
  const std::lock_guard lock(mutex_);
  return runs_;
}

TestSubmission::TestSubmission(Commit first, Body again) : body(std::move(again)) { commit = std::move(first); }

TestSubmission::~TestSubmission() {
  const std::lock_guard lock(ticket_->mutex_);
  ticket_->gone_ = true;
  ticket_->changed_.notify_all();
}

Status TestSubmission::Run(View& view) {
  {
    const std::lock_guard lock(ticket_->mutex_);
    ++ticket_->runs_;
  }
  Commit anew;
  anew.durability = commit.durability;
  const Status status = body(view, &anew);
  commit = std::move(anew);
  return status;
}

void TestSubmission::Done(Result<Committed> outcome) {
  if (on_done) on_done(outcome);
  const std::lock_guard lock(ticket_->mutex_);
  if (ticket_->outcome_) ADD_FAILURE() << "Done was called twice";
  ticket_->outcome_ = std::move(outcome);
  ticket_->changed_.notify_all();
}

std::vector<std::shared_ptr<Ticket>> SubmitTogether(Engine& engine,
                                                    std::vector<std::unique_ptr<TestSubmission>> submissions) {
  std::vector<std::shared_ptr<Ticket>> tickets;
  std::vector<std::unique_ptr<Submission>> taken;
  for (auto& submission : submissions) {
    tickets.push_back(submission->ticket());
    taken.push_back(std::move(submission));
  }
  engine.Submit(taken);
  return tickets;
}

std::shared_ptr<Ticket> SubmitOne(Engine& engine, std::unique_ptr<TestSubmission> submission) {
  std::vector<std::unique_ptr<TestSubmission>> one;
  one.push_back(std::move(submission));
  return SubmitTogether(engine, std::move(one)).front();
}

std::unique_ptr<TestSubmission> RunFirst(TestSubmission::Body body) {
  auto submission = std::make_unique<TestSubmission>(Commit(), std::move(body));
  submission->run_first = true;
  return submission;
}

Result<Committed> Transact(Engine& engine, const TestSubmission::Body& body) {
  Commit first;
  {
    KVARTS_TRY(const std::unique_ptr<View> view, engine.OpenView());
    KVARTS_CHECK_OK(body(*view, &first));
  }
  return SubmitOne(engine, std::make_unique<TestSubmission>(std::move(first), body))->Outcome();
}

}  // namespace kvarts::test
