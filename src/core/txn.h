// Txn: what a model's code works on. It reads at one view and sees its own writes on top; nothing leaves it until
// Store commits it. What it read, scans included, becomes preconditions of the commit.
//
// A body may be run more than once, so it has no side effects: what must happen once the commit is there goes through
// AfterCommit. A Txn belongs to one thread and to one run.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "core/context.h"
#include "engine/engine.h"
#include "engine/overlay.h"

namespace kvarts {

struct PutOptions {
  Timestamp expiry = kNever;
  ValueKind kind = ValueKind::kBytes;
  bool owned = false;
  uint32_t schema = 0;
};

class Txn {
 public:
  // Opens its view when it first reads: a blind write needs none.
  Txn(Engine& engine, const Context& context);
  // Reads at the given view.
  Txn(Engine& engine, const Context& context, View& view);

  Result<std::optional<Record>> Get(BytesView key);
  Status GetMany(std::span<const BytesView> keys, std::span<std::optional<Record>> out);
  Result<ScanPage> Scan(ScanRequest request);
  // Reads that see expired values still stored; for the removal of owned ones.
  Result<std::optional<Record>> GetExpired(BytesView key);
  // The same for many, for who tells those that have expired from those that have not: what has not counts as read
  // until it does.
  Status GetManyStored(std::span<const BytesView> keys, std::span<std::optional<Record>> out);
  // Reads on which the commit does not rest: what they have shown may be different by then. For who looks through much
  // to find a little, and reads that again.
  Status PeekMany(std::span<const BytesView> keys, std::span<std::optional<Record>> out);
  Result<ScanPage> PeekScan(ScanRequest request);

  void Put(BytesView key, BytesView value, const PutOptions& options = {});
  void Erase(BytesView key);
  void EraseRange(const KeyRange& range);
  void Add(BytesView key, int64_t delta);
  // Any mutation, with all it can say.
  void Apply(Mutation mutation);
  // A condition of the caller's own: it is not run again when this fails, but answered with `precondition_failed`.
  void Require(Precondition precondition) {
    preconditions_.push_back(std::move(precondition));
    states_ = true;
  }

  // Whether looking something up costs no more than a read at a view that is there, or must be done since nothing may
  // change any more before the commit is decided. Else the body rests on what is known.
  bool MayLook() const;
  // Before the body waits for something that is not read through the transaction: fails as a read would that must not
  // wait.
  Status WillWait();
  // Something read earlier, outside of this transaction, that the body rests on: it counts as read here. `known` is of
  // a kind that reads leave, with the version at which it was seen.
  void RestOn(Precondition known) {
    if (!remembers_) return;
    known.from_read = true;
    known.implied = true;
    preconditions_.push_back(std::move(known));
  }

  // Everything written after a savepoint can be taken back; what was read stays read.
  struct Savepoint {
    size_t mutations;
    size_t effects;
  };
  Savepoint Save() const { return {mutations_.size(), effects_.size()}; }
  void RollBack(Savepoint savepoint);

  // The time of the transaction's view.
  Timestamp Now();
  // Bits that differ from run to run.
  uint64_t Random();
  // The commit is to be at least as durable, whatever the run was told: nobody sees it before it is. For a body that
  // finds out only by running what hangs on its commit.
  void MakeDurable(Durability at_least) { at_least_ = std::max(at_least_, at_least); }
  // Called once, after the commit is visible, in commit order, on the commit thread: it must be quick.
  void AfterCommit(std::function<void(Version)> effect) { effects_.push_back(std::move(effect)); }

  const Context& context() const { return context_; }
  Cost& cost() { return cost_; }
  const Limits& limits() const { return engine_.limits(); }

  // Nothing will be written, so what is read need not be remembered.
  void ForgetReads() { remembers_ = false; }

  // For Store.
  // A transaction that must not wait: the first read that would have to open a view fails, and `waits` says so.
  void ForbidWaiting() { may_wait_ = false; }
  bool waits() const { return waits_; }
  const std::vector<Mutation>& mutations() const { return mutations_; }
  // Whether there are conditions of the caller's own.
  bool states() const { return states_; }
  // What lies beneath the transaction's own writes; as with any read, it becomes preconditions.
  Status GetBeneath(std::span<const BytesView> keys, std::span<std::optional<Record>> out);
  bool has_effects() const { return !effects_.empty(); }
  std::vector<std::function<void(Version)>> TakeEffects() { return std::move(effects_); }
  // The version of the view, if one was opened.
  std::optional<Version> ViewVersion() const;
  // Leaves the transaction empty.
  Commit TakeCommit(Durability durability);

 private:
  Result<View*> Base();
  // The overlay with every write so far in it.
  const Overlay& Writes();
  bool Covered(BytesView key);
  // What a read does with values that have expired, and are still stored.
  enum class Expired : uint8_t {
    kHidden,
    kShown,
    kTold,  // shown, and the others are read only until they expire
  };
  void NoteRead(BytesView key, const std::optional<Record>& record, Expired expired);
  Status GetManyAs(std::span<const BytesView> keys, std::span<std::optional<Record>> out, Expired expired);
  Result<std::optional<Record>> Read(BytesView key, bool expired_too);

  Engine& engine_;
  const Context& context_;
  View* view_ = nullptr;
  std::unique_ptr<View> own_view_;
  std::vector<Mutation> mutations_;
  std::vector<Precondition> preconditions_;
  std::vector<std::function<void(Version)>> effects_;
  Overlay overlay_;
  Durability at_least_ = Durability::kNone;
  bool states_ = false;
  bool may_wait_ = true;
  bool remembers_ = true;  // what it has read
  bool waits_ = false;
  size_t in_overlay_ = 0;  // how many mutations the overlay knows
  std::optional<std::mt19937_64> random_;
  Cost cost_;
};

}  // namespace kvarts
