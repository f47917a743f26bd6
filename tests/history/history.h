// A history: what happened between the threads of a test and an engine, and when; and the check that it all could have
// happened one after the other, in the order of versions.
//
// Every commit and every read becomes an event with the instants between which it took place, on the steady clock. The
// check replays the commits in the order of their versions on a model of its own, and holds everything that was read
// against it. Histories have no expiring values.
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

// An acknowledged commit, with what it had read as preconditions.
struct CommitEvent {
  Interval when;
  Version version;
  std::vector<Precondition> preconditions;
  std::vector<Mutation> mutations;
};

// Something that was read. From a view, `when` is its opening.
struct ReadEvent {
  Interval when;
  std::optional<Version> at;  // the view's version; nothing: the newest state
  std::vector<std::pair<Bytes, std::optional<Record>>> found;
  std::optional<KeyRange> scanned;  // then `found` is all there is in this range
};

struct History {
  std::vector<CommitEvent> commits;
  std::vector<ReadEvent> reads;

  void Append(History other);
};

// What cannot have happened, in words; empty when the history is right:
// - no version is given twice, and replayed in version order every commit's preconditions hold;
// - what a view showed is the state at its version;
// - what a get showed is one state, no older than what was acknowledged or read before the get began;
// - a commit acknowledged, or a version read, before another commit was submitted has the smaller version.
std::vector<std::string> Check(const History& history);

}  // namespace kvarts::test
