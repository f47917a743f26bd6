#include "engine/postgres/servers.h"

#include <algorithm>

#include "base/log.h"

namespace kvarts::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// However many meet a failure, a server is not asked more often than that.
constexpr milliseconds kShortestPause{20};

std::vector<std::string> NamesOf(const std::vector<std::string>& targets) {
  std::vector<std::string> names;
  for (const std::string& target : targets) names.push_back(ServerName(target).value_or("a server"));
  return names;
}

}  // namespace

Servers::Server::Server(Servers& owner, size_t number, const PostgresOptions& options)
    : index(number), target(options.servers[number]) {
  using std::chrono::milliseconds;
  const auto make = [&](Use use, const char* limit, size_t max_connections, milliseconds longest = milliseconds(0)) {
    const auto broken = [&owner, this] {
      owner.Failed(*this, Error(ErrorCode::kUnavailable, "a connection to the server broke"));
    };
    pools[static_cast<size_t>(use)] =
        std::make_unique<Pool>(target, Pool::Options{max_connections, limit, options.connect_timeout, longest, broken});
  };
  // Who waits for locks in vain is told so by the server, before it is too late to know what became of it.
  make(Use::kWriting, "postgres.commit_connections", options.commit_connections, options.request_timeout * 3 / 4);
  make(Use::kReading, "postgres.read_connections", options.read_connections);
  make(Use::kLoop, "loops", options.loop_connections);
  make(Use::kOther, "postgres.other_connections", options.other_connections);
}

Servers::Servers(const PostgresOptions& options)
    : probe_interval_(options.probe_interval),
      probe_timeout_(options.probe_timeout),
      primary_patience_(options.primary_patience),
      state_(NamesOf(options.servers), options.max_failures, options.probe_interval),
      lost_since_(steady_clock::now()) {
  for (size_t i = 0; i < options.servers.size(); ++i) servers_.push_back(std::make_unique<Server>(*this, i, options));
}

Servers::~Servers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  ask_.notify_all();
  changed_.notify_all();
  for (const auto& server : servers_) {
    if (server->prober.joinable()) server->prober.join();
  }
}

Result<Servers::Found> Servers::Start(Deadline deadline) {
  for (const auto& server : servers_) {
    const auto name = ServerName(server->target);
    if (name.has_value()) continue;
    // Not the target itself, which may have a password in it.
    return Error(name.error().code(), "libpq cannot read how to reach a server",
                 {{"server", "the " + std::to_string(server->index + 1) + ". of the list"},
                  {"message", std::string(name.error().field("message"))}});
  }
  for (const auto& server : servers_) server->prober = std::jthread([this, &server = *server] { ProbeLoop(server); });
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [this] {
    const auto primary = state_.primary();
    if (!primary) return state_.AnyRefused();
    return state_[*primary].seen->schema_version != 0 || state_.AllAnswer();
  });
  const auto primary = state_.primary();
  if (!primary) return state_.NoPrimary();
  return Found{servers_[*primary]->target, state_[*primary].seen->schema_version, state_.AllAnswer(),
               state_.Described(), state_.Stranger()};
}

void Servers::ProbeLoop(Server& server) {
  std::unique_ptr<Connection> connection;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    server.ask_now = false;
    lock.unlock();
    Probe(server, connection);
    lock.lock();
    // One that fails is looked at more often, so that three failures are no three intervals.
    const auto pause = state_[server.index].failure ? probe_interval_ / 4 : probe_interval_;
    const auto asked = steady_clock::now();
    ask_.wait_until(lock, asked + std::min(kShortestPause, pause), [this] { return stopping_; });
    ask_.wait_until(lock, asked + pause, [&] { return stopping_ || server.ask_now; });
  }
}

void Servers::Probe(Server& server, std::unique_ptr<Connection>& connection) {
  const bool was_open = connection != nullptr;
  const Deadline deadline = In(probe_timeout_);
  auto seen = Ask(server, connection, deadline);
  // A server that was restarted has ended the old connection, and that is all.
  if (!seen.has_value() && was_open && steady_clock::now() < deadline) seen = Ask(server, connection, deadline);
  ShardState::Duty duty;
  Closing closing;
  {
    const std::lock_guard lock(mutex_);
    if (seen.has_value()) {
      state_.Answered(server.index, *seen);
    } else {
      state_.Failed(server.index, seen.error());
    }
    closing = Settle();
    duty = state_.DutyOf(server.index);
  }
  if (!seen.has_value() || !duty) return;
  if (const Status done = Do(duty, *seen, *connection); !done.has_value()) {
    Log(LogLevel::kWarning, "a server does not take what its role asks for", done.error(),
        {{"server", state_[server.index].name}});
    connection.reset();
  }
}

Result<Observation> Servers::Ask(Server& server, std::unique_ptr<Connection>& connection, Deadline deadline) {
  if (connection == nullptr) {
    KVARTS_TRY(connection, Connection::Open(server.target, {}, deadline));
  }
  auto seen = Observe(*connection, deadline);
  if (!seen.has_value()) connection.reset();
  return seen;
}

Status Servers::Do(const ShardState::Duty& duty, const Observation& seen, Connection& connection) {
  const Deadline deadline = In(probe_timeout_);
  if (duty.fence_with != 0) KVARTS_CHECK_OK(Fence(connection, duty.fence_with, deadline));
  if (duty.lift_fence) KVARTS_CHECK_OK(LiftFence(connection, deadline));
  if (duty.note_timeline) KVARTS_CHECK_OK(NoteTimeline(connection, seen, deadline));
  return {};
}

void Servers::Failed(Server& server, const Error& why) {
  Closing closing;  // without the lock: it goes after it
  const std::lock_guard lock(mutex_);
  server.ask_now = true;
  ask_.notify_all();
  if (state_[server.index].breaker.open()) return;
  state_.Failed(server.index, why);
  closing = Settle();
}

Servers::Closing Servers::Settle() {
  Closing closing;
  for (const auto& server : servers_) {
    const ShardState::Server& state = state_[server->index];
    if (state.generation != server->generation) {
      LogChanges(*server);
      server->generation = state.generation;
      for (const auto& pool : server->pools) std::ranges::move(pool->Empty(), std::back_inserter(closing));
    } else if (server->silent && !state.breaker.open()) {
      Log(LogLevel::kInfo, "a server answers again", {{"server", state.name}, {"role", ServerRoleName(state.role)}});
    }
    server->silent = state.breaker.open();
    // Its own thread does it, the next time that it asks.
    const bool has_duty = static_cast<bool>(state_.DutyOf(server->index));
    if (has_duty && !server->has_duty) server->ask_now = true;
    server->has_duty = has_duty;
  }
  const bool has_primary = state_.primary().has_value();
  if (had_primary_ && !has_primary) lost_since_ = steady_clock::now();
  // What replicas lag is known when they are asked after the primary.
  if (!had_primary_ && has_primary) {
    for (const auto& server : servers_) server->ask_now = true;
  }
  had_primary_ = has_primary;
  ask_.notify_all();
  changed_.notify_all();
  return closing;
}

void Servers::LogChanges(const Server& server) const {
  const ShardState::Server& state = state_[server.index];
  const std::string_view role = ServerRoleName(state.role);
  if (state.refusal) {
    Log(LogLevel::kError, "a server is not used", *state.refusal, {{"server", state.name}});
  } else if (state.breaker.open() && state.failure) {
    Log(LogLevel::kWarning, "a server does not answer", *state.failure, {{"server", state.name}, {"role", role}});
  } else {
    Log(LogLevel::kInfo, "a server has a role", {{"server", state.name}, {"role", role}});
  }
}

Result<Servers::Server*> Servers::AwaitPrimary(Deadline deadline) {
  std::unique_lock lock(mutex_);
  const auto found = [this] { return state_.primary().has_value(); };
  if (!found()) {
    changed_.wait_until(lock, std::min(deadline, lost_since_ + primary_patience_),
                        [&] { return stopping_ || found(); });
  }
  const auto primary = state_.primary();
  if (!primary) return state_.NoPrimary();
  return servers_[*primary].get();
}

Result<Pool::Lease> Servers::Primary(Use use, Deadline deadline, Pool::WhenFull when_full) {
  while (true) {
    KVARTS_TRY(Server* const server, AwaitPrimary(deadline));
    auto lease = server->pool(use).Take(deadline, when_full);
    if (lease.has_value() || lease.error().code() != ErrorCode::kUnavailable) return lease;
    // Who is in too much of a hurry to be answered has not shown that the server does not answer.
    if (steady_clock::now() >= deadline) return lease;
    Failed(*server, lease.error());
  }
}

std::vector<Servers::Server*> Servers::Readable(const ReplicaNeed& need) {
  const std::lock_guard lock(mutex_);
  std::vector<Server*> readable;
  for (size_t index = 0; index < servers_.size(); ++index) {
    if (!state_.MayRead(index, need.max_lag)) continue;
    if (need.replayed && !state_[index].seen->position().Covers(*need.replayed)) continue;
    if (state_[index].seen->timeline < need.timeline) continue;
    readable.push_back(servers_[index].get());
  }
  // Each is the first as often as the others.
  if (!readable.empty())
    std::ranges::rotate(readable, readable.begin() + static_cast<ptrdiff_t>(turn_++ % readable.size()));
  return readable;
}

Result<Pool::Lease> Servers::Replica(Use use, const ReplicaNeed& need, Deadline deadline) {
  const std::vector<Server*> readable = Readable(need);
  Server* full = nullptr;
  for (Server* const server : readable) {
    auto lease = server->pool(use).Take(deadline, Pool::WhenFull::kRefuse);
    if (lease.has_value()) return lease;
    if (lease.error().code() == ErrorCode::kOverloaded) {
      if (full == nullptr) full = server;
    } else if (steady_clock::now() < deadline) {
      Failed(*server, lease.error());
    }
  }
  if (full == nullptr) return Pool::Lease();
  auto lease = full->pool(use).Take(deadline);
  if (lease.has_value() || lease.error().code() == ErrorCode::kOverloaded) return lease;
  return Pool::Lease();
}

bool Servers::HasPrimary() const {
  const std::lock_guard lock(mutex_);
  return state_.primary().has_value();
}

Durability Servers::strongest() const {
  const std::lock_guard lock(mutex_);
  return state_.strongest();
}

std::vector<ServerStats> Servers::Stats() const {
  const std::lock_guard lock(mutex_);
  std::vector<ServerStats> all;
  for (const auto& server : servers_) {
    const ShardState::Server& state = state_[server->index];
    ServerStats stats;
    stats.name = state.name;
    stats.role = state.role;
    stats.lag = state.lag;
    stats.failures = state.breaker.failures();
    stats.breaker_open = state.breaker.open();
    if (state.seen) {
      stats.timeline = state.seen->timeline;
      stats.replayed = state.seen->replayed;
      stats.standbys = state.seen->standbys;
    }
    for (const auto& pool : server->pools) stats.connections += pool->open();
    if (state.failure) stats.problem = state.failure->ToString();
    if (state.refusal) stats.problem = state.refusal->ToString();
    all.push_back(std::move(stats));
  }
  return all;
}

}  // namespace kvarts::postgres
