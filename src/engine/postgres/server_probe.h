// What a server says about itself when it is asked.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "engine/postgres/connection.h"
#include "engine/postgres/wal_position.h"

namespace kvarts::postgres {

constexpr int kOldestServer = 14'00'00;

struct Observation {
  Deadline at = {};  // just before it was asked
  std::string system_id;
  int64_t started_us = 0;  // when this run of the server began, by its clock
  bool in_recovery = false;
  // Of a replica, at least: it may have gone on to a later one and not yet be seen to have.
  uint32_t timeline = 0;
  uint64_t flushed = 0;   // what is on its disk
  uint64_t replayed = 0;  // what can be read on it
  // Of a replica: how long ago the last commit that it has replayed was made, by the clocks of the two servers.
  std::optional<std::chrono::milliseconds> replay_age;
  std::string synchronous_standbys;  // the setting
  int standbys = 0;                  // that are connected
  int waited_for = 0;                // of them, those whose answer a commit may count
  std::string database;
  uint32_t database_id = 0;  // on a replica as on its primary
  // Of the database: nothing before the schema is made, and nothing but the version of one that we do not know.
  int schema_version = 0;
  std::string store_id;
  uint32_t noted_timeline = 0;  // the last that a primary has noted in its data
  uint32_t fenced_by = 0;       // the timeline that took this server's place; 0: none

  WalPosition position() const { return {timeline, replayed}; }
};

// `unavailable` when it does not answer in time, is too old, or does not let us ask.
Result<Observation> Observe(Connection& connection, Deadline deadline);

// Writes to a server, without waiting for its replicas: there may be none.
// From now on it takes no commits.
Status Fence(Connection& connection, uint32_t timeline, Deadline deadline);
Status LiftFence(Connection& connection, Deadline deadline);
// So that who reads the data knows how far the timelines are.
Status NoteTimeline(Connection& connection, const Observation& primary, Deadline deadline);

// host:port of a target, for people: it has no password in it. `invalid_argument` when libpq cannot read the target, or
// when it names several servers.
Result<std::string> ServerName(const std::string& target);

}  // namespace kvarts::postgres
