#include "engine/postgres/decision.h"

#include "engine/postgres/commit_queue.h"
#include "engine/postgres/wal_position.h"

namespace kvarts::postgres {
namespace {

Error NoReplicasToWaitFor(Durability durability) {
  return Error(ErrorCode::kInvalidArgument, "the primary waits for no replicas: its synchronous_standby_names is empty",
               {{"durability", std::string(DurabilityName(durability))},
                {"strongest", std::string(DurabilityName(Durability::kSync))}});
}

}  // namespace

bool IsOutOfLocks(const Failure& failure) { return failure.sqlstate == "53200" && !failure.sent; }

Call PositionCall(Durability durability) {
  Params params;
  params.Bool(durability >= Durability::kSync);
  return {&kPosition, std::move(params)};
}

SessionToken TokenOf(const Rows& rows) {
  return WalPosition{static_cast<uint32_t>(rows.Int8(0, 0)), static_cast<uint64_t>(rows.Int8(0, 1))}.token();
}

std::expected<Decision, Failure> DecisionBy(std::expected<std::vector<Rows>, Failure> flown, size_t at,
                                            Durability durability, bool with_session) {
  if (flown.has_value()) {
    return Decision{std::move((*flown)[at]), with_session ? TokenOf(flown->back()) : SessionToken()};
  }
  std::vector<Rows>& ended = flown.error().ended;
  if (ended.size() <= at) return std::unexpected(std::move(flown).error());
  // They are committed, whatever became of the questions.
  return Decision{std::move(ended[at]), kBeyondReplicas, !WaitsForReplicas(durability)};
}

std::expected<Decision, Failure> FlyCommits(Connection& connection, Call commits, Durability durability,
                                            bool with_session, Deadline deadline) {
  std::vector<Call> calls;
  if (WaitsForReplicas(durability)) calls.push_back({&kRequireStandbys, {}});
  const size_t at = calls.size();
  calls.push_back(std::move(commits));
  if (WaitsForReplicas(durability)) calls.push_back({&kRequireStandbys, {}});
  if (with_session) calls.push_back(PositionCall(durability));
  auto decision = DecisionBy(connection.Fly(calls, deadline), at, durability, with_session);
  if (!decision.has_value() && decision.error().sqlstate == kNoStandbys && WaitsForReplicas(durability)) {
    decision.error().error = NoReplicasToWaitFor(durability);
  }
  return decision;
}

Error OutcomeOf(const Failure& failure) {
  if (!failure.sent) return failure.error;
  return Error(ErrorCode::kUnknownOutcome, "the server did not say what became of the commit",
               {{"cause", failure.error.ToString()}});
}

Error WaitBrokenOff() { return Error(ErrorCode::kUnknownOutcome, "the wait for the replicas was broken off"); }

Verdict VerdictOf(const Decision& decision, int number) {
  if (!decision.first) return VerdictOf(decision.rows, number);
  return {Verdict::Kind::kCommitted, 0, {decision.first->stamp + static_cast<uint64_t>(number)}};
}

}  // namespace kvarts::postgres
