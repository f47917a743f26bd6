// Who waits for a key or a range, and is told of commits in commit order.
//
// A watcher is told of every change in its range once it is visible. A waiter is a transaction that could do nothing
// yet: it takes its turn again right after a commit that touches its range, before anything submitted later, so nobody
// can take what it waited for from under it. A commit costs what it concerns: those who wait elsewhere are not looked
// at. Calls of the engine come from one thread at a time; the rest is safe from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/range_index.h"
#include "encoding/key_range.h"
#include "engine/commit.h"

namespace kvarts {

class Subscriptions final : public CommitListener {
 public:
  using Id = uint64_t;
  using WatchCallback = std::function<void(const Mutation& mutation, Version version)>;
  using WakeCallback = std::function<std::unique_ptr<Submission>()>;

  // Told on the commit thread, from the next commit on; it must be quick, and of all this it may only call Cancel.
  // Watchers of the same change are told in the order in which they began to watch.
  Id Watch(KeyRange range, WatchCallback callback);
  // Once: at the first commit that touches the range, `wake` makes the submission that takes its turn next. Waiters
  // that are woken together take their turns in the order of their tickets, so one that waits again keeps its place.
  void Wait(Id ticket, KeyRange range, WakeCallback wake);
  // For a new waiter.
  Id NextTicket() { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  // No call is made for the watch or the waiter after this returns, unless this is called from within it.
  void Cancel(Id id);

  void Decided(const Commit& commit, Version version, std::vector<std::unique_ptr<Submission>>* next) override;
  void Visible(const Commit& commit, Version version) override;

 private:
  template <class Callback>
  class Group {
   public:
    struct Member {
      KeyRange range;
      std::shared_ptr<const Callback> callback;  // shared, so that it may be cancelled while it is called
    };

    void Add(Id id, KeyRange range, Callback callback);
    void Remove(Id id);
    // Those whom a change concerns, appended in no particular order.
    void Find(const Mutation& mutation, std::vector<Id>* found) const;
    // Null when it has been removed.
    std::shared_ptr<const Callback> CallbackOf(Id id) const;
    // Whether there is none; for any thread.
    bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

   private:
    RangeIndex ranges_;
    std::map<Id, Member> members_;
    // How many there are, so that a commit that concerns nobody pays for one load.
    std::atomic<size_t> size_{0};
  };

  std::atomic<Id> next_id_{1};
  std::recursive_mutex mutex_;
  Group<WatchCallback> watchers_;
  Group<WakeCallback> waiters_;
};

}  // namespace kvarts
