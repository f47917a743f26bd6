#include "op_writer.h"

#include <stdexcept>

namespace kvarts::test {
namespace {

// Reads go on whatever happens to writes.
template <class T>
T Must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().ToString());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

Precondition AsItIs(Engine& engine, BytesView key) {
  const std::optional<Record> record = Must(GetOne(engine, key));
  return record ? VersionIs(key, record->header.version) : Absent(key);
}

}  // namespace

bool OpWriter::DependsOnOutcomes(const Op& op) {
  return op.kind() == OpKind::kConditional || op.kind() == OpKind::kTrim || op.kind() == OpKind::kRace;
}

void OpWriter::Step() {
  std::vector<Op> ops = {NextOp()};
  const size_t together = 1 + random_() % kMaxTogether;
  while (!DependsOnOutcomes(ops.front()) && ops.size() < together && !DependsOnOutcomes({writer_, next_, 0})) {
    ops.push_back(NextOp());
  }
  std::vector<std::unique_ptr<TestSubmission>> submissions;
  for (const Op& op : ops) {
    submissions.push_back(Make(op));
    log_.Append({AckRecord::Kind::kIntent, op, kNoVersion});
  }
  const auto tickets = SubmitTogether(engine_, std::move(submissions));
  for (size_t i = 0; i < ops.size(); ++i) Record(ops[i], tickets[i]->Outcome());
}

Op OpWriter::NextOp() {
  Op op{writer_, next_++, 0};
  const uint64_t now = engine_.Now().micros;
  if (op.kind() == OpKind::kPutExpiring) op.aux = now + Duration::Seconds(24 * 3600).micros + random_() % 1000;
  if (op.kind() == OpKind::kOwned) op.aux = now + random_() % 2000;
  if (op.kind() == OpKind::kTrim) op.aux = stamped_number_;
  return op;
}

std::unique_ptr<TestSubmission> OpWriter::Make(const Op& op) {
  auto submission = std::make_unique<TestSubmission>(MakeOpCommit(op));
  Commit& commit = submission->commit;
  if (op.kind() == OpKind::kTrim) commit.mutations = {TrimBefore(op, stamped_version_)};
  if (op.kind() == OpKind::kConditional) commit.preconditions = {AsItIs(engine_, commit.mutations[0].key)};
  if (op.kind() != OpKind::kRun && op.kind() != OpKind::kRace) return submission;
  submission->body = [op](View& view, Commit* anew) { return ReadAndAdd(op, view, anew); };
  submission->run_first = op.kind() == OpKind::kRun;
  if (op.kind() == OpKind::kRace) Must(ReadAndAdd(op, *Must(engine_.OpenView()), &commit));
  return submission;
}

void OpWriter::Record(const Op& op, const Result<Committed>& outcome) {
  if (!outcome) {
    const bool unknown = outcome.error().code() == ErrorCode::kUnknownOutcome;
    log_.Append({unknown ? AckRecord::Kind::kUnknown : AckRecord::Kind::kRefused, op, kNoVersion});
    return;
  }
  log_.Append({AckRecord::Kind::kAcked, op, outcome->version});
  acked_->fetch_add(1, std::memory_order_relaxed);
  if (op.kind() != OpKind::kStamped) return;
  stamped_number_ = op.number;
  stamped_version_ = outcome->version;
}

}  // namespace kvarts::test
