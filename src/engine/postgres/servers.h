// The servers of a shard: which is the primary, which are replicas, and connections to them. Safe from any thread.
//
// Each server is asked about itself by a thread of its own, over a connection of its own, every probe_interval and at
// once when somebody met a failure: one that hangs, or whose name nobody resolves, delays nothing about the others.
// What follows from the answers is decided in one place (shard_state.h).
//
// No lock is held while a connection is opened, used or closed. The lock here is taken before those of the pools.
#pragma once

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/postgres/pool.h"
#include "engine/postgres/postgres_engine.h"
#include "engine/postgres/shard_state.h"

namespace kvarts::postgres {

// What a connection is for; each use has a pool of its own on each server.
enum class Use : uint8_t { kWriting, kReading, kLoop, kOther };

// What a replica must have to be read from. Nothing: any will do that answers.
struct ReplicaNeed {
  // At its last answer, at most a probe_interval ago.
  std::optional<std::chrono::milliseconds> max_lag;
  // As far as is known: it may be further by now.
  std::optional<WalPosition> replayed;
  // It is known to be on this one at least.
  uint32_t timeline = 0;
};

// For people who watch.
struct ServerStats {
  std::string name;
  ServerRole role = ServerRole::kUnknown;
  uint32_t timeline = 0;
  uint64_t replayed = 0;
  std::optional<std::chrono::milliseconds> lag;  // of a replica
  size_t connections = 0;
  int failures = 0;  // in a row
  bool breaker_open = false;
  int standbys = 0;     // that are connected to it
  std::string problem;  // empty: none
};

class Servers {
 public:
  explicit Servers(const PostgresOptions& options);
  // Nothing is out any more. Waits for what is being asked: a probe_timeout at most, once names are resolved.
  ~Servers();
  Servers(const Servers&) = delete;
  Servers& operator=(const Servers&) = delete;

  struct Found {
    std::string target;
    int schema_version;  // 0: there is none
    bool all_answer;
    std::string servers;                 // each with what is known of it
    std::optional<Error> stranger = {};  // a server that is none of this shard
  };
  // Begins to ask, and waits for the primary; when there is no schema, for all others too. `unavailable` says what is
  // wrong with each server. Writes nothing.
  Result<Found> Start(Deadline deadline);

  // `unavailable` when there has been no primary for primary_patience, or is none until the deadline; `overloaded` when
  // all connections are in use until then, or now.
  Result<Pool::Lease> Primary(Use use, Deadline deadline, Pool::WhenFull when_full = Pool::WhenFull::kWait);
  // Replicas in turn. Empty when there is none such, so that the primary has to do it; `overloaded` as above.
  Result<Pool::Lease> Replica(Use use, const ReplicaNeed& need, Deadline deadline);

  bool HasPrimary() const;
  uint32_t highest_timeline() const {
    const std::lock_guard lock(mutex_);
    return state_.highest_timeline();
  }
  Durability strongest() const;
  std::vector<ServerStats> Stats() const;

 private:
  using Closing = std::vector<std::unique_ptr<Connection>>;

  struct Server {
    Server(Servers& owner, size_t number, const PostgresOptions& options);

    Pool& pool(Use use) { return *pools[static_cast<size_t>(use)]; }

    const size_t index;
    const std::string target;
    std::array<std::unique_ptr<Pool>, 4> pools;
    uint64_t generation = 0;  // of the state that the pools belong to
    bool silent = false;      // too often it did not answer
    bool ask_now = false;
    bool has_duty = false;
    std::jthread prober;
  };

  void ProbeLoop(Server& server);
  void Probe(Server& server, std::unique_ptr<Connection>& connection);
  Result<Observation> Ask(Server& server, std::unique_ptr<Connection>& connection, Deadline deadline);
  Status Do(const ShardState::Duty& duty, const Observation& seen, Connection& connection);
  // A connection to it broke, or could not be made.
  void Failed(Server& server, const Error& why);
  // Whatever follows from a change, under the lock; what is returned is closed without it.
  Closing Settle();
  void LogChanges(const Server& server) const;
  Result<Server*> AwaitPrimary(Deadline deadline);
  std::vector<Server*> Readable(const ReplicaNeed& need);

  const std::chrono::milliseconds probe_interval_;
  const std::chrono::milliseconds probe_timeout_;
  const std::chrono::milliseconds primary_patience_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;  // the state
  std::condition_variable ask_;      // for the probers
  bool stopping_ = false;
  ShardState state_;
  Deadline lost_since_;  // when there is no primary
  bool had_primary_ = false;
  size_t turn_ = 0;  // of replicas
  std::vector<std::unique_ptr<Server>> servers_;
};

}  // namespace kvarts::postgres
