// The promises of the Engine interface, each with a test named for it, for every engine in
// tests/support/engines.h.
//
// Where the interface leaves room, this suite takes it to mean:
// - A precondition from a read that fails makes the outcome `conflict`, even if a stated one fails
// as well.
// - A body that is run in the engine is shown the time of the commit that will be made of it.
// - A view works up to and including max_view_age, and fails from the next microsecond on.
// - A scan's last page may be empty; no other is. Page ends may fall anywhere within the bounds
// that were asked for.
// - An erase of a key that is not there is a write for *range unchanged*; so is any range erase
// that overlaps.
// - A commit without mutations only asks: it is answered with the version it was checked at, and no listener is told.
// - What has expired and is not owned may or may not be stored any more: no test depends on it.
// - An add's owned flag, schema and expiry mean nothing. One on an expired base starts a new
// counter without them.
// - The submissions that a listener puts into `next` come right after the commit in question, in
// their order.
// - A failed point precondition names the key and the current version in fields `key` and `version`
// ("absent").
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "support/commits.h"
#include "support/engines.h"
#include "support/on_every_engine.h"
#include "support/printing.h"
#include "support/reads.h"

namespace kvarts::test {

class EngineTest : public OnEngineTest {
 protected:
  void SetUp() override { Open({}); }

  // A new, empty store with these limits, instead of the one there is.
  void Open(const Limits& limits) {
    engine_.reset();
    engine_ = GetParam().Make(limits);
  }
  void Reopen() { engine_->Reopen(); }
  // For good.
  void Close() { engine_.reset(); }

  Engine& engine() { return engine_->engine(); }
  ManualClock& clock() { return engine_->clock(); }
  void Wait(Duration by) { clock().Advance(by); }
  // The instant that lies so far ahead.
  Timestamp In(Duration ahead) { return {clock().Now().micros + static_cast<uint64_t>(ahead.micros)}; }

  Result<Committed> Try(std::vector<Mutation> mutations, std::vector<Precondition> preconditions = {}) {
    Commit commit = MakeCommit(std::move(mutations), std::move(preconditions));
    commit.durability = durability_;
    return CommitAndWait(engine(), std::move(commit));
  }
  // The version, or kNoVersion and a failed test.
  Version Must(std::vector<Mutation> mutations, std::vector<Precondition> preconditions = {}) {
    const auto outcome = Try(std::move(mutations), std::move(preconditions));
    EXPECT_TRUE(outcome) << outcome.error();
    return outcome ? outcome->version : kNoVersion;
  }
  // Whether a commit with these preconditions is made; it writes a key of its own.
  std::string Holds(std::vector<Precondition> preconditions) {
    return CodeOf(Try({Mutation::Put("~holds", "")}, std::move(preconditions)));
  }
  Version Put(BytesView key, BytesView value, Timestamp expiry = kNever) {
    return Must({Mutation::Put(key, value, expiry)});
  }
  Version Erase(BytesView key) { return Must({Mutation::Erase(key)}); }
  Version Add(BytesView key, int64_t delta) { return Must({Mutation::Add(key, delta)}); }

  std::unique_ptr<View> NewView() {
    auto view = engine().OpenView();
    EXPECT_TRUE(view) << view.error();
    return view ? *std::move(view) : nullptr;
  }
  std::optional<Record> Find(BytesView key, const ReadOptions& options = {}) {
    auto record = GetOne(engine(), key, options);
    EXPECT_TRUE(record) << record.error();
    return record ? *std::move(record) : std::nullopt;
  }
  static std::optional<Record> Find(View& view, BytesView key, const ReadOptions& options = {}) {
    auto record = view.GetOne(key, options);
    EXPECT_TRUE(record) << record.error();
    return record ? *std::move(record) : std::nullopt;
  }
  static std::string ValueOf(const std::optional<Record>& record) { return record ? record->value : "absent"; }
  std::string Value(BytesView key) { return ValueOf(Find(key)); }
  static std::string Value(View& view, BytesView key) { return ValueOf(Find(view, key)); }
  // A whole scan, page by page.
  static std::vector<Found> Entries(View& view, const ScanRequest& request = {}) {
    auto entries = ScanAll(view, request);
    EXPECT_TRUE(entries) << entries.error();
    return entries ? *std::move(entries) : std::vector<Found>();
  }
  // The number under a counter key; zero when there is none.
  int64_t Number(BytesView key) {
    const auto record = Find(key);
    return record ? CounterNumber(record->header, record->value) : 0;
  }
  // Of the commits made here. Tests that make very many have no time to wait for the disk.
  Durability durability_ = Durability::kSync;

  // Everything there is, as "a=1 b=2".
  std::string Contents() { return ShownScan(*NewView()); }

 private:
  std::unique_ptr<TestEngine> engine_;
};

}  // namespace kvarts::test

// For what holds only where all commits take their turns one after the other.
#define KVARTS_NEEDS_TURNS() \
  if (!engine().capabilities().total_order) GTEST_SKIP() << "several commits are decided at once on this engine"
