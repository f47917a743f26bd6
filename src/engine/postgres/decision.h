// What became of commits that were sent to a server together: how they are sent, and what its answer means for all of
// them. What it means for each is in group.h.
#pragma once

#include <expected>
#include <optional>
#include <vector>

#include "base/durability.h"
#include "engine/postgres/connection.h"
#include "engine/postgres/group.h"

namespace kvarts::postgres {

// A read with it goes to the primary: there is no telling which replica would do.
constexpr SessionToken kBeyondReplicas{UINT32_MAX, UINT64_MAX};

// What became of a group, and behind what in the log it stands.
struct Decision {
  Rows rows;  // of kCommit
  SessionToken session = {};
  bool waited = true;                 // for as much as was asked for
  std::optional<Version> first = {};  // instead of rows: all are committed, with this version and those behind it
};

// By a flight whose n-th call, from 0, are the commits, and whose last is the position, if that is asked for.
std::expected<Decision, Failure> DecisionBy(std::expected<std::vector<Rows>, Failure> flown, size_t at,
                                            Durability durability, bool with_session);

// One flight: what must hold of the server, the commits, and behind their Sync the position. Whether replicas are
// waited for is asked there, and not of what is known of the primary, which may have changed since; and again behind
// them, since a server whose setting is emptied lets go who waits, without a word.
std::expected<Decision, Failure> FlyCommits(Connection& connection, Call commits, Durability durability,
                                            bool with_session, Deadline deadline);

// What is not waited for is not on disk yet, but it is written.
Call PositionCall(Durability durability);
SessionToken TokenOf(const Rows& rows);

// The server's table of locks is full, of those of many commits at once. One that keeps all others out has room.
bool IsOutOfLocks(const Failure& failure);

// The answer to commits whose transaction did not end as it should have; and to those who did not wait as long as they
// wanted to.
Error OutcomeOf(const Failure& failure);
Error WaitBrokenOff();

// Of the n-th, from 0, of those that have operations.
Verdict VerdictOf(const Decision& decision, int number);

}  // namespace kvarts::postgres
