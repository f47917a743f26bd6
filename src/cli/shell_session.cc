#include "cli/shell_session.h"

namespace kvarts::cli {
namespace {

Error NoBlock() { return Error(ErrorCode::kInvalidArgument, "there is no transaction block; begin opens one"); }

}  // namespace

struct Session::Block {
  Block(Engine& engine, const Context& context) : txn(engine, context) {}

  struct Taken {
    Step step;
    std::string seen;
  };
  Txn txn;  // never committed: it shows the block what it has written
  std::vector<Taken> steps;
  bool spoilt = false;
};

Session::Session(std::unique_ptr<Engine> engine, Durability durability)
    : durability_(durability), engine_(std::move(engine)) {}

Session::~Session() {
  block_.reset();
  // The engine tells the store's subscriptions of its last commits, so it goes first.
  engine_.reset();
}

Result<std::unique_ptr<Session>> Session::Open(const std::string& dir, RocksOptions options, Durability durability) {
  KVARTS_TRY(std::unique_ptr<Engine> engine, OpenRocksEngine(dir, std::move(options)));
  std::unique_ptr<Session> session(new Session(std::move(engine), durability));
  KVARTS_TRY(session->store_, Store::Open(*session->engine_));
  return session;
}

Result<Session::Outcome> Session::Run(const Step& step) { return in_block() ? RunInBlock(step) : RunAlone(step); }

Result<Session::Outcome> Session::RunAlone(const Step& step) {
  Outcome outcome;
  const Store::Body body = [&](Txn& txn) -> Status {
    KVARTS_TRY(Answer answer, step(txn));
    outcome.text = std::move(answer.text);
    outcome.wrote = !txn.mutations().empty();
    return {};
  };
  RunOptions options;
  options.durability = durability_;
  KVARTS_TRY(const RunReport report, store_->RunBody(body, std::move(options)));
  if (outcome.wrote) outcome.version = report.version;
  return outcome;
}

Status Session::CheckBlockSize() const {
  const Limits& limits = engine_->limits();
  const auto too_large = [](const char* limit, size_t at_most) {
    return Error(ErrorCode::kTooLarge, "the transaction block is too large",
                 {{"limit", limit}, {"at_most", std::to_string(at_most)}});
  };
  if (block_->steps.size() >= limits.max_commit_operations) {
    return too_large("max_commit_operations", limits.max_commit_operations);
  }
  if (block_->txn.cost().bytes_written > limits.max_commit_bytes) {
    return too_large("max_commit_bytes", limits.max_commit_bytes);
  }
  return {};
}

Result<Session::Outcome> Session::RunInBlock(const Step& step) {
  Txn& txn = block_->txn;
  const Txn::Savepoint before = txn.Save();
  Result<Answer> answer = step(txn);
  const bool wrote = txn.mutations().size() > before.mutations;
  const Status fits = CheckBlockSize();
  if (!answer.has_value() || !fits.has_value()) {
    txn.RollBack(before);
    return answer.has_value() ? fits.error() : answer.error();
  }
  block_->steps.push_back({step, std::move(answer->seen)});
  return Outcome{std::move(answer->text), wrote, std::nullopt};
}

Status Session::Begin() {
  if (in_block()) return Error(ErrorCode::kInvalidArgument, "a transaction block is open; commit or rollback ends it");
  block_ = std::make_unique<Block>(*engine_, context_);
  return {};
}

void Session::SpoilBlock() {
  if (in_block()) block_->spoilt = true;
}

Result<Session::Committed> Session::Commit() {
  if (!in_block()) return NoBlock();
  if (block_->spoilt) {
    return Error(ErrorCode::kPreconditionFailed, "something in the block failed; rollback throws the block away");
  }
  const std::unique_ptr<Block> block = std::move(block_);
  bool wrote = false;
  const Store::Body body = [&](Txn& txn) -> Status {
    for (const Block::Taken& taken : block->steps) {
      KVARTS_TRY(const Answer again, taken.step(txn));
      if (again.seen != taken.seen) {
        return Error(ErrorCode::kConflict, "what the block read has changed or expired since; nothing was written");
      }
    }
    wrote = !txn.mutations().empty();
    return {};
  };
  RunOptions options;
  options.durability = durability_;
  KVARTS_TRY(const RunReport report, store_->RunBody(body, std::move(options)));
  return Committed{block->steps.size(), wrote ? std::optional(report.version) : std::nullopt};
}

Result<size_t> Session::RollBack() {
  if (!in_block()) return NoBlock();
  const size_t steps = block_->steps.size();
  block_.reset();
  return steps;
}

}  // namespace kvarts::cli
