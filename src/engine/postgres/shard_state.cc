#include "engine/postgres/shard_state.h"

#include <algorithm>

namespace kvarts::postgres {

using std::chrono::milliseconds;

std::string_view ServerRoleName(ServerRole role) {
  switch (role) {
    case ServerRole::kUnknown:
      return "unknown";
    case ServerRole::kPrimary:
      return "primary";
    case ServerRole::kReplica:
      return "replica";
    case ServerRole::kReplaced:
      return "replaced";
    case ServerRole::kRefused:
      return "refused";
  }
  return "unknown";
}

ShardState::ShardState(const std::vector<std::string>& names, int max_failures, milliseconds probe_interval)
    : probe_interval_(probe_interval) {
  for (const std::string& name : names) servers_.push_back({.name = name, .breaker = Breaker(max_failures)});
}

void ShardState::Answered(size_t index, Observation seen) {
  Server& server = servers_[index];
  if (server.seen && server.seen->started_us != seen.started_us) ++server.generation;
  server.asked = true;
  server.breaker.Success();
  server.failure.reset();
  server.seen = std::move(seen);
  Judge();
  server.lag = server.role == ServerRole::kReplica ? LagOf(*server.seen) : std::nullopt;
}

void ShardState::Failed(size_t index, const Error& why) {
  Server& server = servers_[index];
  const bool was_open = server.breaker.open();
  server.asked = true;
  server.breaker.Failure();
  server.failure = why;
  if (!was_open && server.breaker.open()) ++server.generation;
  Judge();
}

void ShardState::Judge() {
  FindCluster();
  if (system_id_.empty()) return;
  for (Server& server : servers_) {
    server.refusal = server.seen ? RefusalOf(server) : std::nullopt;
    if (!server.seen || server.refusal) continue;
    const Observation& seen = *server.seen;
    highest_timeline_ = std::max({highest_timeline_, seen.timeline, seen.noted_timeline, seen.fenced_by});
  }
  RefuseCopies();
  for (Server& server : servers_) {
    const ServerRole role = RoleOf(server);
    if (role != server.role) ++server.generation;
    server.role = role;
    if (role != ServerRole::kPrimary) continue;
    const Observation& seen = *server.seen;
    if (!samples_.empty() && samples_.back().at >= seen.at) continue;  // of this answer there is one
    samples_.push_back({seen.at, seen.position()});
    if (samples_.size() > kMaxSamples) samples_.pop_front();
  }
}

void ShardState::FindCluster() {
  if (!system_id_.empty() || !AllAsked()) return;
  std::string found;
  bool agreed = true;
  for (const Server& server : servers_) {
    if (!server.seen) continue;
    if (found.empty()) found = server.seen->system_id;
    agreed = agreed && server.seen->system_id == found;
  }
  if (agreed) {
    system_id_ = found;
    return;
  }
  for (Server& server : servers_) {
    if (!server.seen) continue;
    server.role = ServerRole::kRefused;
    server.refusal = Error(ErrorCode::kUnavailable, "the servers are not of one cluster",
                           {{"system_identifier", server.seen->system_id}});
  }
}

std::optional<Error> ShardState::RefusalOf(const Server& server) const {
  const Observation& seen = *server.seen;
  if (seen.system_id != system_id_) {
    return Error(ErrorCode::kUnavailable, "the server has another cluster's data",
                 {{"system_identifier", seen.system_id}, {"expected", system_id_}});
  }
  if (seen.schema_version > kSchemaVersion) {
    return Error(ErrorCode::kUnavailable, "the database has a schema of a later Kvarts",
                 {{"schema_version", std::to_string(seen.schema_version)}, {"known", std::to_string(kSchemaVersion)}});
  }
  const auto primary = std::ranges::find(servers_, ServerRole::kPrimary, &Server::role);
  if (primary == servers_.end() || &*primary == &server) return std::nullopt;
  // It may hold nothing, so that no store tells.
  if (primary->seen->database_id != seen.database_id) {
    return Error(ErrorCode::kUnavailable, "the entry of the server names another database than the primary's",
                 {{"database", seen.database}, {"expected", primary->seen->database}});
  }
  if (seen.store_id.empty()) return std::nullopt;
  if (primary->seen->store_id.empty() || primary->seen->store_id == seen.store_id) return std::nullopt;
  return Error(ErrorCode::kUnavailable, "the server has another database's data",
               {{"store", seen.store_id}, {"expected", primary->seen->store_id}});
}

// Of those that could be the primary, when there are several.
void ShardState::RefuseCopies() {
  std::vector<Server*> candidates;
  for (Server& server : servers_) {
    if (server.seen && !server.refusal && !server.breaker.open() && !server.seen->in_recovery &&
        server.seen->timeline == highest_timeline_) {
      candidates.push_back(&server);
    }
  }
  if (candidates.size() < 2) return;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const bool twice =
        std::any_of(candidates.begin(), candidates.begin() + static_cast<ptrdiff_t>(i),
                    [&](Server* other) { return other->seen->started_us == candidates[i]->seen->started_us; });
    if (twice) candidates[i]->refusal = Error(ErrorCode::kUnavailable, "the server is listed twice");
  }
  std::erase_if(candidates, [](const Server* server) { return server->refusal.has_value(); });
  if (candidates.size() < 2) return;
  for (Server* server : candidates) {
    server->refusal = Error(ErrorCode::kUnavailable, "several servers are a primary on the same timeline",
                            {{"timeline", std::to_string(highest_timeline_)}});
  }
}

ServerRole ShardState::RoleOf(const Server& server) const {
  if (!server.seen) return ServerRole::kUnknown;
  if (server.refusal) return ServerRole::kRefused;
  if (server.seen->in_recovery) return ServerRole::kReplica;
  return server.seen->timeline < highest_timeline_ ? ServerRole::kReplaced : ServerRole::kPrimary;
}

// Nothing that was committed so long before the replica answered is missing on it.
std::optional<milliseconds> ShardState::LagOf(const Observation& replica) const {
  if (replica.timeline < highest_timeline_) return std::nullopt;
  std::optional<milliseconds> lag = replica.replay_age;
  bool newest = true;
  for (auto sample = samples_.rbegin(); sample != samples_.rend(); ++sample) {
    if (sample->at > replica.at) continue;  // it could not have had that
    if (replica.position().Covers(sample->position)) {
      auto age = std::chrono::ceil<milliseconds>(replica.at - sample->at);
      // It had all that was known to be there; between two looks at the primary nothing better is known.
      if (newest && age <= 2 * probe_interval_) age = milliseconds(0);
      return lag ? std::min(*lag, age) : age;
    }
    newest = false;
  }
  return lag;
}

std::optional<size_t> ShardState::primary() const {
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (servers_[i].role == ServerRole::kPrimary && !servers_[i].breaker.open()) return i;
  }
  return std::nullopt;
}

bool ShardState::AllAsked() const { return std::ranges::all_of(servers_, &Server::asked); }

bool ShardState::AllAnswer() const {
  return std::ranges::all_of(servers_, [](const Server& server) { return server.seen && !server.failure; });
}

bool ShardState::AnyRefused() const {
  return std::ranges::any_of(servers_, [](const Server& server) { return server.refusal.has_value(); });
}

std::optional<Error> ShardState::Stranger() const {
  for (const Server& server : servers_) {
    const auto refusal = server.seen ? RefusalOf(server) : std::nullopt;
    if (!refusal) continue;
    return Error(ErrorCode::kUnavailable, "a server of the list is not of this shard",
                 {{"server", server.name}, {"cause", refusal->ToString()}});
  }
  return std::nullopt;
}

bool ShardState::MayRead(size_t index, std::optional<milliseconds> max_lag) const {
  const Server& server = servers_[index];
  // Others can do it: one failure is enough not to try this one.
  if (server.role != ServerRole::kReplica || server.breaker.failures() != 0) return false;
  if (server.seen->schema_version == 0) return false;
  return !max_lag || (server.lag && *server.lag <= *max_lag);
}

ShardState::Duty ShardState::DutyOf(size_t index) const {
  const Server& server = servers_[index];
  Duty duty;
  if (server.failure || !server.seen || server.seen->schema_version == 0) return duty;
  const Observation& seen = *server.seen;
  if (server.role == ServerRole::kReplaced && seen.fenced_by < highest_timeline_) duty.fence_with = highest_timeline_;
  if (server.role == ServerRole::kPrimary) {
    // The fence is from a time before it was promoted itself.
    duty.lift_fence = seen.fenced_by != 0;
    duty.note_timeline = seen.noted_timeline != seen.timeline;
  }
  return duty;
}

Durability ShardState::strongest() const {
  const auto index = primary();
  if (!index || servers_[*index].seen->synchronous_standbys.empty()) return Durability::kSync;
  return Durability::kApplied;
}

std::string ShardState::Describe(const Server& server) {
  if (!server.asked) return "was not asked yet";
  if (server.refusal) return server.refusal->ToString();
  if (server.failure) return server.failure->ToString();
  if (server.role == ServerRole::kPrimary) return "is the primary";
  if (server.role == ServerRole::kReplica) return "is a replica";
  if (server.role == ServerRole::kReplaced) {
    return "was replaced: its timeline is " + std::to_string(server.seen->timeline);
  }
  return "answers, and others were not asked yet";
}

std::string ShardState::Described() const {
  std::string all;
  for (const Server& server : servers_) {
    if (!all.empty()) all += "; ";
    all += server.name + " " + Describe(server);
  }
  return all;
}

Error ShardState::NoPrimary() const {
  return Error(ErrorCode::kUnavailable, "the shard has no primary",
               {{"timeline", std::to_string(highest_timeline_)}, {"servers", Described()}});
}

}  // namespace kvarts::postgres
