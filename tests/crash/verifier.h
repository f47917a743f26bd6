// Holds what is stored after a crash against what the writers recorded, over any number of rounds on one directory.
//
// A writer's operations are committed in the order of their numbers, so what is there of them is the first so many; how
// many, its own keys say exactly, because every operation leaves a trace in them (workload.h). An operation whose trace
// was undone by a later one is counted neither as there nor as lost. From that follows everything else: what was lost,
// whether something earlier was lost than something that is there, what the shared keys must hold.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "ack_log.h"
#include "engine/engine.h"
#include "workload.h"

namespace kvarts::test {

// Everything in a store.
struct StoredState {
  std::map<Bytes, Record> stored;  // what has expired but is still there, too
  std::set<Bytes> shown;           // what a reader is shown
  Timestamp time;                  // of that reader
  Version last;

  static Result<StoredState> Read(Engine& engine);
};

struct Finding {
  enum class What : uint8_t {
    kLostSync,       // an acknowledged `sync` commit, or one that a reader saw
    kLostAcked,      // an acknowledged commit, though the machine went on
    kTorn,           // a part of a commit
    kHole,           // a commit is there that was made after one that is lost
    kVersionTwice,   // one version for two commits
    kVersionShrank,  // not larger than one given out before the crash
    kWrongVersion,   // a record has another version than its commit
    kWrongState,     // a writer's keys are in a state that its operations never made
    kWrongShared,    // a shared key, counter or number is not what the commits that are there make it
    kWrongOutcome,   // refused without cause, or committed against its precondition
    kWrongExpiry,    // expired and shown, or the reverse
  };
  What what;
  std::string text;
};
std::string_view FindingName(Finding::What what);
std::ostream& operator<<(std::ostream& out, const Finding& finding);

enum class CrashKind : uint8_t {
  kKilled,     // the process ended, the machine went on: everything acknowledged is there
  kPowerLoss,  // what was not synced may be lost
};

class CrashVerifier {
 public:
  CrashVerifier() : own_(kWriters) {}

  // The records of one round and the state after it. Takes the state as given for the next round.
  std::vector<Finding> Verify(CrashKind crash, const std::vector<AckRecord>& records, const StoredState& state);
  // What the operations of the next round are numbered from.
  uint64_t next_number() const { return next_number_; }
  // How many acknowledged commits were lost in the last round.
  uint64_t lost() const { return lost_; }

 private:
  // What is known of one operation.
  struct Fate {
    Op op;
    AckRecord::Kind said = AckRecord::Kind::kIntent;
    Version version;  // when known
    bool seen = false;
  };
  // One writer in one round.
  struct Course {
    std::vector<Fate> fates;  // by number, without gaps
    OwnKeys actual;
    // Of the fates, so many are there for certain, and no more than so many.
    size_t at_least = 0;
    size_t at_most = 0;
    bool matched = false;
  };

  void Find(Finding::What what, std::string text) { findings_.push_back({what, std::move(text)}); }
  void Collect(const std::vector<AckRecord>& records);
  void CheckOutcome(const Fate& fate);
  void NoteVersion(const Op& op, Version version);
  void CheckVersions();
  void ReadOwnKeys(const StoredState& state);
  Fate* FateOf(uint32_t writer, uint64_t number);
  void Match(uint32_t writer);
  void ExplainMismatch(uint32_t writer);
  void CheckLost(uint32_t writer);
  void CheckHoles();
  void CheckSharedPuts(const StoredState& state);
  void CheckSharedSums(const StoredState& state);
  static void CheckExpiry(const StoredState& state, std::vector<Finding>* findings);
  // Calls `visit` with every fate of this round that is there.
  template <class Visit>
  void ForEachThere(const Visit& visit) const;

  // Kept from round to round.
  std::vector<OwnKeys> own_;
  std::map<Bytes, Record> shared_;
  std::map<Version, Op> issued_;
  Version floor_;  // the largest version of the rounds before
  uint64_t next_number_ = 1;

  // Of the current round.
  CrashKind crash_ = CrashKind::kKilled;
  std::vector<Course> courses_;
  std::vector<Finding> findings_;
  uint64_t lost_ = 0;
};

}  // namespace kvarts::test
