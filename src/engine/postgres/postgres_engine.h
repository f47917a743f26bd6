// The postgres engine: the keyspace as a table of a PostgreSQL server, for any number of processes at once.
//
// - A commit is one round trip and one transaction (dialect.h, kvarts.commit): it locks every key that it reads or
//   writes, in one order, then checks, then writes. Commits that arrive together share both. One that lost a race is
//   run again under locks on what it touched (committer.h).
// - Reads of the newest go together: those that arrive while others are on their way share the next round trip
//   (reader.h), or, of an event loop, without another thread (read_channel.h). A view is a transaction of its own on a
//   connection of its own.
// - Reads that need not be the newest go to replicas, where there are some: to any that is not too far behind, or to
//   one that has replayed what the session has seen. What no replica can answer is asked of the primary.
// - Time and versions are the server's: a sequence that follows its clock and never goes back. Nothing else is shared
//   by the processes, and they know nothing of each other.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/engine.h"

namespace kvarts {

struct PostgresOptions {
  // What is run again holds up nobody here but those who want the same keys, and waits for the network with each read.
  static Limits UsualLimits() {
    Limits limits;
    limits.max_second_run_time = Duration::Seconds(2);
    return limits;
  }

  Limits limits = UsualLimits();
  // Where time comes from instead of the server's clock: for tests.
  std::shared_ptr<Clock> clock;
  // Make the schema if there is none.
  bool create_if_missing = true;
  // The servers of the shard, as libpq writes them: host=… port=… dbname=….
  std::vector<std::string> servers;
  size_t commit_connections = 3;
  size_t read_connections = 2;
  // For the reads of event loops, one for each that opens a channel (Engine::OpenReadChannel).
  size_t loop_connections = 64;
  // For views, and everything that is seldom done.
  size_t other_connections = 20;
  // How long a request may wait for a connection, and for an answer.
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds request_timeout{10'000};
  // What is dead is taken away in batches of so many rows, with a pause behind each; and how often it is looked for.
  size_t collect_batch = 1'000;
  std::chrono::milliseconds collect_pause{50};
  std::chrono::milliseconds collect_interval{5'000};
  // How often each server is asked about itself, and how long it may take to answer.
  std::chrono::milliseconds probe_interval{1'000};
  std::chrono::milliseconds probe_timeout{1'000};
  // Failures in a row after which a server is left alone until it answers again.
  int max_failures = 3;
  // How long after the loss of the primary requests wait for another; later ones fail at once until there is one.
  std::chrono::milliseconds primary_patience{2'000};
  // A replica that is further behind is not read from.
  std::chrono::milliseconds max_lag{10'000};
  // How long a read of a session waits for a replica that has what it must see, before the primary is asked.
  std::chrono::milliseconds session_wait{50};
  // How often a transaction that keeps losing its race is run again.
  int max_second_runs = 20;
};

// `unavailable` when the server is not to be reached, too old, or not ours to write to; `not_found` when there is no
// schema and none is to be made.
Result<std::unique_ptr<Engine>> OpenPostgresEngine(PostgresOptions options);

}  // namespace kvarts
