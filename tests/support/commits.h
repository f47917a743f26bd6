// Commits as tests write them: preconditions and mutations in a line, and submissions made of
// lambdas.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <ostream>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "engine/commit.h"
#include "engine/engine.h"

namespace kvarts::test {

Precondition Absent(BytesView key);
Precondition Present(BytesView key);
Precondition VersionIs(BytesView key, Version version);
Precondition RangeUnchanged(BytesView start, BytesView end, Version since);
// The same, as something that the transaction read.
Precondition FromRead(Precondition precondition);
Precondition ExpiredToo(Precondition precondition);
Precondition Lapsing(Precondition precondition, Timestamp lapses);

Mutation PutCounter(BytesView key, int64_t number, Timestamp expiry = kNever);
Mutation Owned(Mutation put);

Commit MakeCommit(std::vector<Mutation> mutations, std::vector<Precondition> preconditions = {});

// What became of a submission. Shared by the test and the submission.
class Ticket {
 public:
  // Waits for Done. Nothing when the engine dropped the submission without it.
  std::optional<Result<Committed>> Wait();
  // The same for one that must not be dropped.
  Result<Committed> Outcome();
  // How often Run was called.
  int runs() const;

 private:
  friend class TestSubmission;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Result<Committed>> outcome_;
  bool gone_ = false;
  int runs_ = 0;
};

class TestSubmission final : public Submission {
 public:
  // Makes `commit` anew.
  using Body = std::function<Status(View&, Commit*)>;

  TestSubmission() = default;
  explicit TestSubmission(Commit first, Body again = nullptr);
  ~TestSubmission() override;

  // What the engine's calls do, beyond telling the ticket.
  Body body;
  std::function<bool()> on_claim;
  std::function<void(const Result<Committed>&)> on_done;

  const std::shared_ptr<Ticket>& ticket() const { return ticket_; }

  bool Claim() override { return !on_claim || on_claim(); }
  bool CanRun() const override { return body != nullptr; }
  Status Run(View& view) override;
  void Done(Result<Committed> outcome) override;

 private:
  std::shared_ptr<Ticket> ticket_ = std::make_shared<Ticket>();
};

// Submits them together, in order.
std::vector<std::shared_ptr<Ticket>> SubmitTogether(Engine& engine,
                                                    std::vector<std::unique_ptr<TestSubmission>> submissions);
std::shared_ptr<Ticket> SubmitOne(Engine& engine, std::unique_ptr<TestSubmission> submission);

// A transaction that is run only at its turn, in the engine.
std::unique_ptr<TestSubmission> RunFirst(TestSubmission::Body body);

// The body on a view of its own, as a submission that can be run again: what a transaction is to an
// engine.
Result<Committed> Transact(Engine& engine, const TestSubmission::Body& body);

// The code of an outcome, as a text that a failed expectation shows: "ok", "conflict", …
template <class T>
std::string CodeOf(const Result<T>& result) {
  return result ? "ok" : std::string(ErrorCodeName(result.error().code()));
}

}  // namespace kvarts::test
