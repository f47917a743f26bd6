// Steps: what a metamorphic run does, in terms that mean the same on every engine.
//
// Engines give different versions, so a step names a version by whose it is: the n-th last commit, a view, or whatever
// is under a key at that moment. All counts are taken modulo what there is, so that a sequence still means something
// after steps have been taken out of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "engine/commit.h"
#include "engine/engine.h"

namespace kvarts::test {

// Held views, by number.
constexpr int kSlots = 4;
constexpr int kNoSlot = -1;

struct KeyName {
  Bytes text;
  // Followed by the version of the so-many-th last commit, as a stamped key is; negative: by nothing.
  int stamped_by = -1;
};

struct VersionName {
  enum class Of { kCommit, kView, kCurrent };
  Of of = Of::kCommit;
  size_t number = 0;  // commits back, or the view's slot; kCurrent needs none
};

// A precondition that is stated outright.
struct PreconditionStep {
  Precondition::Kind kind = Precondition::Kind::kAbsent;
  KeyName key;
  KeyName end;
  VersionName version;
  bool from_read = false;
  bool expired_too = false;
  Duration lapses_in{-1};  // negative: never
};

struct MutationStep {
  Mutation what;  // without its keys
  KeyName key;
  KeyName end;
  Duration expires_in{-1};  // negative: never
};

// A range that a transaction reads as a whole.
struct RangeStep {
  KeyName start;
  KeyName end;
};

struct CommitStep {
  // What a transaction reads first, at a held view or a new one. It becomes preconditions.
  int slot = kNoSlot;
  std::vector<KeyName> reads;
  std::vector<RangeStep> scans;
  // Write down what was read, under this key.
  KeyName summary;
  // Reads again in the engine after a lost race; or only there.
  bool runs_again = false;
  bool run_first = false;

  std::vector<PreconditionStep> preconditions;
  std::vector<MutationStep> mutations;
  Durability durability = Durability::kNone;
};

struct Step {
  enum class Kind { kAdvance, kOpenView, kCloseView, kGet, kScan, kSubmit, kCompact, kReopen, kAssign };
  Kind kind = Kind::kAdvance;

  Duration by;                         // kAdvance
  int slot = kNoSlot;                  // the view; none: the newest state
  std::vector<KeyName> keys;           // kGet
  RangeStep range;                     // kScan, kCompact, kAssign
  ScanRequest request;                 // kScan, without its range
  bool expired_too = false;            // kGet, kScan
  std::vector<CommitStep> commits;     // kSubmit, together
  Profile profile = Profile::kLookup;  // kAssign
};

// A sequence of so many steps, always the same for a seed.
std::vector<Step> MakeSteps(uint64_t seed, size_t count);

// A line for people.
std::string Describe(const Step& step);

}  // namespace kvarts::test
