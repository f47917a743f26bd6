// A commit: one atomic mini-transaction. Its preconditions are checked against the state just before it and at the
// commit's own time; if all hold, its mutations are applied in their order, all with the commit's version. A commit
// without mutations issues no version: its outcome carries the version of the state that it was held against.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/durability.h"
#include "base/result.h"
#include "base/version.h"
#include "encoding/key_range.h"
#include "engine/record.h"
#include "engine/session_token.h"

namespace kvarts {

class View;

struct Precondition {
  enum class Kind : uint8_t {
    kAbsent,          // no value under key
    kPresent,         // a value under key
    kVersionIs,       // the value under key has this version
    kRangeUnchanged,  // nothing in [key, end) was written after this version; an empty end is no bound
  };
  Kind kind = Kind::kAbsent;
  Bytes key;
  Bytes end;
  Version version;

  // A precondition that stands for something the transaction read fails as `conflict`, and the transaction is run
  // again. One that the caller stated fails as `precondition_failed`.
  bool from_read = false;
  // Of what nobody asked for: a layer's own. It does not count as an operation of the commit.
  bool implied = false;
  // Look at values that have expired as if they had not: for the removal of owned values.
  bool expired_too = false;
  // What was read to arrive at this precondition, if anything: the version of the view, and the first instant at
  // which some of what it showed expires. An engine may then find the precondition true without reading again, and
  // fails it once that instant has come.
  Version seen_at = kNoVersion;
  Timestamp lapses = kNever;
};

struct Mutation {
  enum class Op : uint8_t {
    kPut,
    kErase,
    kEraseRange,  // [key, end); an empty end is no bound
    kAdd,         // adds delta to the counter under key; an absent or expired one counts as zero
  };
  // No part is stamped.
  static constexpr uint32_t kNoStamp = UINT32_MAX;

  Op op = Op::kPut;
  bool owned = false;
  ValueKind kind = ValueKind::kBytes;
  // For kEraseRange: the whole range goes for good, so its files may be dropped as soon as no view needs them.
  bool reclaim = false;
  uint32_t schema = 0;
  // Where the commit's version is written, as eight big-endian bytes, over what stands in key or value.
  uint32_t key_stamp = kNoStamp;
  uint32_t value_stamp = kNoStamp;
  int64_t delta = 0;
  Timestamp expiry = kNever;
  Bytes key;
  Bytes end;
  Bytes value;

  static Mutation Put(BytesView key, BytesView value, Timestamp expiry = kNever);
  static Mutation Erase(BytesView key);
  static Mutation EraseRange(BytesView start, BytesView end);

  // Whether it is about the key; a key that its version completes is not known before.
  bool Touches(BytesView other) const {
    return op == Op::kEraseRange ? other >= key && (end.empty() || other < end) : other == key;
  }
  static Mutation Add(BytesView key, int64_t delta);

  // Writes the version over the stamped places.
  void Stamp(Version version);
};

struct Commit {
  std::vector<Precondition> preconditions;
  std::vector<Mutation> mutations;
  Durability durability = Durability::kSync;
};

struct Committed {
  Version version;
  uint64_t sync_wait_us = 0;  // how long the log took to reach the disk, for the cost of the request
  SessionToken session = {};  // a read with it sees the commit, on engines with replicas
};

// A commit on its way through an engine. The engine owns it from Submit until it has called Done, exactly once.
// Everything here is called on the commit thread, one call at a time, must not block, and must not call the engine
// back. That is a thread of the engine's or one that submits, whichever is deciding.
class Submission {
 public:
  virtual ~Submission() = default;

  Commit commit;
  // There is no commit yet: the engine calls Run at the submission's turn.
  bool run_first = false;
  // Whoever submits it does nothing until it is answered, and may wait for the disk: an engine may do the work on that
  // thread, which saves handing it over.
  bool caller_waits = false;
  // Whoever submits it may do the work that nobody has to wait for: neither for the disk nor for the engine to catch
  // up. What comes to that is left to the commit thread.
  bool caller_lends = false;

  // The submission's turn has come. False when the submitter has given up: the engine drops it without Done. It may
  // still ask for run_first.
  virtual bool Claim() { return true; }
  // Called when the commit lost a race (and for run_first): makes `commit` anew from a view under which nothing can
  // change until it is decided. Without it a lost race is answered with `conflict`.
  virtual bool CanRun() const { return false; }
  virtual Status Run(View&) { return {}; }
  // Committed, or why not: conflict, precondition_failed, unknown_outcome, overloaded, unavailable, …
  virtual void Done(Result<Committed> outcome) = 0;
};

// Where it matters to a listener what is committed, also by other processes.
struct FollowedRanges {
  std::vector<KeyRange> touched;    // that something has changed
  std::vector<KeyRange> told;       // what has changed
  std::vector<KeyRange> beginning;  // those of `told` that have yet to begin
};

// Who is told of every commit, in commit order, on the commit thread; it must be quick.
class CommitListener {
 public:
  virtual ~CommitListener() = default;
  // Whether Decided might put anything into `next` for this commit: an engine that takes many commits to its server at
  // once then takes none behind it along. It may say yes in vain.
  virtual bool MayFollow(const Commit&) { return true; }
  // The commit is decided but neither durable nor visible. Submissions put into `next` take their turn right after
  // it, before everything submitted later.
  virtual void Decided(const Commit& commit, Version version, std::vector<std::unique_ptr<Submission>>* next) = 0;
  // The commit is as durable as it asked to be, and visible.
  virtual void Visible(const Commit& commit, Version version) = 0;
  // The rest is of an engine that other processes write to. It asks now and then in which ranges their changes matter;
  // one that was not among those of the last time is told of once, when they are noted from there on.
  virtual void Followed(FollowedRanges* ranges) = 0;
  // One of them may have changed something in the range, and it is not known what. Submissions put into `next` are
  // submitted.
  virtual void Elsewhere(const KeyRange& range, std::vector<std::unique_ptr<Submission>>* next) = 0;
  // What was told of in the range, by Elsewhere or by Visible, is settled (engine.h): for who reads in the order of
  // versions.
  virtual void Settled(const KeyRange&) {}
  // Ranges that are to be told of begin: what is not visible by now will be told.
  virtual void Begin(std::span<const KeyRange> ranges) = 0;
  // A change in such a range, by this process or another: each once, in the order of versions. There may be more than
  // was asked for.
  virtual void Changed(const Mutation& mutation, Version version) = 0;
  // Changes are missing from here on, in any of these ranges.
  virtual void Lost() = 0;
};

}  // namespace kvarts
