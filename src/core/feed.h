// Feeds: what changed in a range, in commit order, kept in the same commit as the change itself.
//
// A feed is declared for a range and from then on has an entry for every change in it: what was there, what is there
// now, and in whose name. Its position is a version and a number within the commit, so a reader resumes exactly. Values
// that simply expire leave no entry; the removal of an owned value does. Erasing a range is one entry, without what was
// in it. An entry holds what was and what is, and must fit Limits::max_value_bytes like any value.
//
// The table of feeds changes at the declaring commit's turn, on the commit thread. Whoever ran with another table is
// run again when its own turn comes (Store), so no commit after the declaration goes unrecorded. On an engine that
// other processes write to there is no such turn: each commit rests on a stamp that every declaration writes, and who
// ran with another table is run again because of that. Reading and trimming are safe from any thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/feed_codec.h"
#include "core/txn.h"
#include "engine/engine.h"

namespace kvarts {

struct FeedPage {
  std::vector<FeedEntry> entries;
  // Where the next page begins: behind the last entry, or behind everything there was if that was all.
  FeedPosition next;
  bool more = false;  // whether the limit cut the page off
};

// The feeds of a store. Declarations are kept in the settings space and are few; looking one up costs a load when there
// are none.
class FeedTable {
 public:
  static constexpr size_t kMaxFeeds = 1000;

  explicit FeedTable(Engine& engine) : engine_(engine), shared_(engine.capabilities().shared) {}

  Status Load();
  // From the next commit on. The same range twice is the same feed; ranges of different feeds may overlap.
  Result<FeedId> Declare(const KeyRange& range);
  // Adds the entries for everything that the transaction changes. What was there before is read for it.
  Status Record(Txn& txn);
  // Changes whenever a feed is declared, in commit order: who ran at another value must run again.
  const void* current() const { return feeds_.load(std::memory_order_acquire); }

  // Entries at or after `from`, in order, at most `limit` and about `max_bytes` of them, but one; the zero position
  // means the oldest there is. Reads at a view of its own. `not_found` for a feed that was never declared, and for a
  // position whose entries have been trimmed. What it cost is added to `cost`, if given.
  //
  // It is read up to what is settled; who does not say what that is, as the engine knew before, may wait for it.
  Result<FeedPage> Read(FeedId feed, FeedPosition from, size_t limit, size_t max_bytes = SIZE_MAX,
                        ReadCost* cost = nullptr, std::optional<Version> settled = std::nullopt);
  // Forgets entries before `before`.
  Status Trim(FeedId feed, Version before);

 private:
  struct Feed {
    FeedId id;
    KeyRange range;
  };
  struct Feeds {
    std::vector<Feed> all;
    Version stamp = kNoVersion;  // of the newest declaration; of an engine that others write to
  };
  using Scan = std::function<Result<ScanPage>(const ScanRequest&)>;
  class Turn;
  class Recorder;

  Result<std::vector<Feed>> ReadDeclarations(const Scan& scan) const;
  // Makes the commit of a declaration: `feeds` are those there are then.
  Result<FeedId> DeclareAt(View& view, const KeyRange& range, Commit* commit, std::vector<Feed>* feeds) const;
  Result<FeedId> DeclareShared(const KeyRange& range);
  Result<FeedId> DeclareInTurn(const KeyRange& range);
  // The table that the transaction is held to.
  Result<const Feeds*> Certain(Txn& txn, const Feeds* known);
  // The one that everybody goes by from now on.
  const Feeds* Publish(Feeds feeds);

  Engine& engine_;
  const bool shared_;
  std::mutex declaring_;
  std::mutex publishing_;
  std::atomic<const Feeds*> feeds_{nullptr};  // null when there are none, and nobody else may declare one
  std::vector<std::unique_ptr<Feeds>> all_;   // every table there ever was: readers may hold one
};

}  // namespace kvarts
