// Who waits for a key or a range, and is told of commits in commit order.
//
// A watcher is told of every change in its range once it is visible: by this process, and that another may have made
// one. A live watcher is told of every change of all processes, in the order of versions. A waiter is a transaction
// that could do nothing yet: it takes its turn again right after a commit that touches its range, before anything
// submitted later, so nobody can take what it waited for from under it. A commit costs what it concerns: those who wait
// elsewhere are not looked at. Calls of the engine come from one thread at a time; the rest is safe from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/range_index.h"
#include "encoding/key_range.h"
#include "engine/engine.h"

namespace kvarts {

class Subscriptions final : public CommitListener {
 public:
  using Id = uint64_t;
  // Without a mutation: another process may have changed something in the range.
  using WatchCallback = std::function<void(const Mutation* mutation, Version version)>;
  using WakeCallback = std::function<std::unique_ptr<Submission>()>;
  // What a live watcher is told: first that it begins, from when on no change goes untold; and should any be lost,
  // that.
  struct News {
    enum class Kind : uint8_t { kBegins, kChange, kLost };
    Kind kind;
    const Mutation* mutation = nullptr;  // of a change
    Version version = kNoVersion;
  };
  using LiveCallback = std::function<void(const News& news)>;

  // `shared`: the engine, if other processes write to it, too.
  explicit Subscriptions(Engine* shared = nullptr) : shared_(shared) {}

  // Told on the commit thread, from the next commit on; it must be quick, and of all this it may only call Cancel.
  // Watchers of the same change are told in the order in which they began to watch.
  Id Watch(KeyRange range, WatchCallback callback);
  // The same for who reads up to what is settled (engine.h): once it is, and without a mutation where other processes
  // write, too.
  Id WatchSettled(KeyRange range, WatchCallback callback);
  // The same for a live watcher. It begins before this returns, unless other processes have to hear of it first.
  Id WatchLive(KeyRange range, LiveCallback callback);
  // Once: at the next commit that touches one of the ranges, `wake` makes the submission that takes its turn next.
  // Waiters that are woken together take their turns in the order of their tickets, so one that waits again keeps its
  // place. One that `stays` is woken by every such commit until it is cancelled.
  void Wait(Id ticket, std::vector<KeyRange> ranges, WakeCallback wake, bool stays = false);
  // For a new waiter.
  Id NextTicket() { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  // No call is made for the watch or the waiter after this returns, unless this is called from within it.
  void Cancel(Id id);

  // How many commits of this process were told of so far.
  uint64_t heard() const { return heard_.load(std::memory_order_relaxed); }

  bool MayFollow(const Commit& commit) override;
  void Decided(const Commit& commit, Version version, std::vector<std::unique_ptr<Submission>>* next) override;
  void Visible(const Commit& commit, Version version) override;
  void Followed(FollowedRanges* ranges) override;
  void Elsewhere(const KeyRange& range, std::vector<std::unique_ptr<Submission>>* next) override;
  void Settled(const KeyRange& range) override;
  void Begin(std::span<const KeyRange> ranges) override;
  void Changed(const Mutation& mutation, Version version) override;
  void Lost() override;

 private:
  template <class Callback>
  class Group {
   public:
    struct Member {
      std::vector<KeyRange> ranges;
      std::shared_ptr<const Callback> callback;  // shared, so that it may be cancelled while it is called
      bool stays = false;
    };

    void Add(Id id, std::vector<KeyRange> ranges, Callback callback, bool stays = false);
    void Remove(Id id);
    // Removes those who have just one of these ranges.
    std::map<Id, Member> Take(std::span<const KeyRange> ranges);
    // Those whom a change concerns, appended in no particular order, and more than once if several ranges meet it.
    void Find(const Mutation& mutation, std::vector<Id>* found) const;
    void Find(const KeyRange& range, std::vector<Id>* found) const { ranges_.FindMeeting(range, found); }
    void AddRanges(std::vector<KeyRange>* ranges) const;
    // Null when it has been removed.
    std::shared_ptr<const Callback> CallbackOf(Id id) const;
    // Of one that is there.
    bool Stays(Id id) const { return members_.at(id).stays; }
    // Whether there is none; for any thread.
    bool empty() const { return size_.load(std::memory_order_acquire) == 0; }

   private:
    RangeIndex ranges_;
    std::map<Id, Member> members_;
    // How many there are, so that a commit that concerns nobody pays for one load.
    std::atomic<size_t> size_{0};
  };

  void Wake(std::vector<Id> woken, std::vector<std::unique_ptr<Submission>>* next);
  void TellLive(std::vector<Id> told, const News& news);

  Engine* const shared_;
  std::atomic<Id> next_id_{1};
  std::atomic<uint64_t> heard_{0};
  std::recursive_mutex mutex_;
  Group<WatchCallback> watchers_;
  Group<WakeCallback> waiters_;
  // Of a shared engine; elsewhere these are among the other watchers.
  Group<WatchCallback> settled_;
  Group<LiveCallback> beginning_;
  Group<LiveCallback> live_;
};

}  // namespace kvarts
