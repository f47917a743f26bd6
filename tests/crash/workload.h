// What the writers of the crash tests do, as a function of who writes and of a running number, so that the process that
// writes and the one that verifies need not tell each other.
//
// Each writer has keys of its own, "t07/…", which nobody else touches, and in which every operation but the refused one
// leaves a trace: the state of a writer's own keys says how many of its operations are there. Some operations also
// write keys that all writers share, "s/…". A writer's keys lie in all three profiles, and many commits span them:
//
//   a/ put, erase    c/ counters      m/ n/ w/m/ one commit, three profiles   r/ read-modify-write  x/ with expiry
//   b/ large values  h/ i/ j/ filled and erased as one range, two profiles    o/ owned, expired     v/ conditional
//   w/s/ keys stamped with their version, trimmed from the front by range erases, some of which reclaim
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "engine/commit.h"
#include "engine/engine.h"
#include "engine/rocksdb/rocks_engine.h"

namespace kvarts::test {

constexpr uint32_t kWriters = 10;
// What crash_writer exits with when it has played a power failure.
constexpr int kPowerOffExit = 3;

// Small buffers and short intervals, so that much happens in a second.
RocksOptions CrashOptions();
// Gives the writers' keys their profiles.
Status AssignProfiles(Engine& engine);

enum class OpKind : uint8_t {
  kPut,
  kPutExpiring,  // far in the future; and another key that expires at once
  kErase,
  kFill,  // the range that kEraseRange erases
  kEraseRange,
  kAdd,
  kConditional,  // on the version of what it replaces
  kRefused,      // its precondition is false
  kMulti,        // three profiles, a shared key and a shared counter
  kStamped,
  kTrim,  // erases stamped keys before a given one
  kRun,   // adds one to a shared number, read in the engine
  kRace,  // the same, read before: run again in the engine if it lost a race
  kOwned,
  kBlob,
};
constexpr uint32_t kOpKinds = 15;
std::string_view OpKindName(OpKind kind);

// An operation. `aux` is what its writer chose: the expiry in microseconds, or the number before which kTrim trims.
struct Op {
  uint32_t writer = 0;
  uint64_t number = 0;
  uint64_t aux = 0;

  OpKind kind() const;
  Durability durability() const;
  friend auto operator<=>(const Op&, const Op&) = default;
  std::string ToString() const;
};

std::string OwnPrefix(uint32_t writer);

// The own keys of a writer without their prefix, and what is under them, as one text: the value, then "|owned" and
// "|expires …". A counter is its number; the version in a stamped key is replaced by its operation's number.
using OwnKeys = std::map<std::string, std::string>;
// What the operation changes in its writer's own keys.
void ApplyTo(OwnKeys* keys, const Op& op);
// One stored record in that form; nothing for those that may or may not be there. False when it contradicts itself.
bool AddRecord(OwnKeys* keys, BytesView key, const Record& record);
// The operation's number in a text of OwnKeys; zero for counters.
uint64_t NumberIn(const std::string& text);

// The own key from which the version of an operation on shared keys can be read.
std::string WitnessKey(const Op& op);
// The shared key that the operation puts, and the value; nothing for most.
std::optional<std::pair<std::string, std::string>> SharedPut(const Op& op);
// The shared counter that it adds to, and the delta.
std::optional<std::pair<std::string, int64_t>> SharedAdd(const Op& op);
// The shared number that it reads and writes.
std::optional<std::string> SharedNumber(const Op& op);

// The mutations of all kinds but kRun, kRace, kConditional's precondition and kTrim's bound.
Commit MakeOpCommit(const Op& op);
// kTrim: up to the key stamped with `bound`.
Mutation TrimBefore(const Op& op, Version bound);
// kRun and kRace: makes the commit from what the view shows.
Status ReadAndAdd(const Op& op, View& view, Commit* commit);

}  // namespace kvarts::test
