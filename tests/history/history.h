// A history: what happened between the threads of a test and engines, and when; and the check that it all could have
// happened one after the other.
//
// Every commit and every read becomes an event with the instants between which it took place, on the steady clock.
// Where versions follow the order of commits, the check replays the commits in the order of their versions on a model
// of its own, and holds everything that was read against it. Elsewhere only the commits of one key are in that order,
// and the check looks for any order of all that explains what was read (any_order.cc). Histories have no expiring
// values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/version.h"
#include "encoding/key_range.h"
#include "engine/commit.h"
#include "engine/record.h"

namespace kvarts::test {

// Nanoseconds of the steady clock: before the call, and after its answer.
struct Interval {
  int64_t began = 0;
  int64_t ended = 0;
};

// All there was in a range.
struct ScanResult {
  KeyRange range;
  std::vector<std::pair<Bytes, Record>> found;
};

// An acknowledged commit, with what it had read as preconditions, and ranges also as what was found.
struct CommitEvent {
  Interval when;
  Version version;
  std::vector<Precondition> preconditions;
  std::vector<Mutation> mutations;
  std::vector<ScanResult> scans;
};

// Something that was read. From a view, `when` is its opening.
struct ReadEvent {
  Interval when;
  std::optional<Version> at;  // the view's version; nothing: the newest state
  std::vector<std::pair<Bytes, std::optional<Record>>> found;
  std::vector<ScanResult> scans;
};

std::string Describe(const ReadEvent& read);

struct History {
  std::vector<CommitEvent> commits;
  std::vector<ReadEvent> reads;
  // Where servers fail: commits of which nobody said what became of them, and those that were answered with an error.
  std::vector<CommitEvent> unknown;
  std::vector<CommitEvent> refused;

  void Append(History other);
};

// What cannot have happened, in words; empty when the history is right:
// - no version is given twice, and replayed in version order every commit's preconditions hold;
// - what a view showed is the state at its version;
// - what a get showed is one state, no older than what was acknowledged or read before the get began;
// - a commit acknowledged, or a version read, before another commit was submitted has the smaller version.
std::vector<std::string> Check(const History& history);

// The same for engines whose versions are in order per key only. There is an order of all commits and reads in which
// - each takes place between its instants, and the commits of a key are in the order of their versions;
// - a commit finds its preconditions true, and in the ranges that it scanned what it had found;
// - a read, also one from a view, shows the state at its place.
// What a range precondition says of versions is not looked at. The first thing that has no place is told.
std::vector<std::string> CheckInAnyOrder(const History& history);

}  // namespace kvarts::test
