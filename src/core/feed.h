// Feeds: what changed in a range, in commit order, kept in the same commit as the change itself.
//
// A feed is declared for a range and from then on has an entry for every change in it: what was there, what is there
// now, and in whose name. Its position is a version and a number within the commit, so a reader resumes exactly. Values
// that simply expire leave no entry; the removal of an owned value does.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/context.h"
#include "core/txn.h"
#include "engine/engine.h"

namespace kvarts {

struct FeedId {
  uint64_t number = 0;
  friend auto operator<=>(FeedId, FeedId) = default;
};

struct FeedPosition {
  Version version;
  uint64_t index = 0;  // within the commit, from zero
  friend auto operator<=>(const FeedPosition&, const FeedPosition&) = default;
};

struct FeedEntry {
  FeedPosition position;
  Mutation::Op op = Mutation::Op::kPut;
  Bytes key;
  Bytes end;                     // of an erased range
  std::optional<Record> before;  // not for an erased range
  std::optional<Record> after;
  Context context;

  Bytes EncodeValue() const;
  static Result<FeedEntry> Decode(BytesView key, BytesView value);
};

struct FeedPage {
  std::vector<FeedEntry> entries;
  // Where the next page begins: behind the last entry, or at the view if there was nothing more.
  FeedPosition next;
};

// The feeds of a store. Declarations are kept in the settings space and are few; looking one up costs a load when there
// are none.
class FeedTable {
 public:
  explicit FeedTable(Engine& engine) : engine_(engine) {}

  Status Load();
  // From the next commit on. The same range twice is the same feed; ranges of different feeds may overlap.
  Result<FeedId> Declare(const KeyRange& range);
  // Adds the entries for everything that the transaction changes.
  Status Record(Txn& txn);
  // Changes whenever a feed is declared, in commit order: who ran at another value must run again.
  const void* current() const { return feeds_.load(std::memory_order_acquire); }

  // Entries at or after `from`, in order. Reads at a view of its own.
  Result<FeedPage> Read(FeedId feed, FeedPosition from, size_t limit);
  // Forgets entries before `before`.
  Status Trim(FeedId feed, Version before);

 private:
  struct Feed {
    FeedId id;
    KeyRange range;
  };
  using Feeds = std::vector<Feed>;

  Engine& engine_;
  std::mutex declaring_;
  std::atomic<const Feeds*> feeds_{nullptr};  // null when there are none
  std::vector<std::unique_ptr<Feeds>> all_;   // every table there ever was: readers may hold one
};

}  // namespace kvarts
