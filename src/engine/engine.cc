#include "engine/engine.h"

#include <array>
#include <semaphore>

namespace kvarts {
namespace {

constexpr std::array<std::string_view, 3> kProfileNames = {"lookup", "ingest", "window"};

// Where a waiting thread finds its outcome.
struct Waiter {
  std::binary_semaphore ready{0};
  Result<Committed> outcome = Error(ErrorCode::kInternal, "the commit has no outcome yet");
};

class WaitedSubmission final : public Submission {
 public:
  explicit WaitedSubmission(Waiter* waiter) : waiter_(waiter) {}
  void Done(Result<Committed> outcome) override {
    waiter_->outcome = std::move(outcome);
    waiter_->ready.release();
  }

 private:
  Waiter* waiter_;
};

}  // namespace

std::string_view ProfileName(Profile profile) { return kProfileNames.at(static_cast<size_t>(profile)); }

std::optional<Profile> ParseProfile(std::string_view name) {
  for (size_t i = 0; i < kProfileNames.size(); ++i) {
    if (kProfileNames[i] == name) return static_cast<Profile>(i);
  }
  return std::nullopt;
}

void Engine::GetLater(PendingGet& read) { read.Done(Get(read.keys, read.records, read.options)); }

Result<Committed> CommitAndWait(Engine& engine, Commit commit) {
  Waiter waiter;
  std::unique_ptr<Submission> submission = std::make_unique<WaitedSubmission>(&waiter);
  submission->commit = std::move(commit);
  submission->caller_waits = true;
  engine.Submit({&submission, 1});
  waiter.ready.acquire();
  return std::move(waiter.outcome);
}

Result<std::optional<Record>> GetOne(Engine& engine, BytesView key, const ReadOptions& options) {
  std::optional<Record> record;
  KVARTS_CHECK_OK(engine.Get({&key, 1}, {&record, 1}, options));
  return record;
}

}  // namespace kvarts
