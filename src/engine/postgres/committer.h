// Takes submissions to the server, in groups, from a few threads.
//
// Submissions that arrive together stay together and in their order. Groups that only put keys share a connection, one
// behind the other; they do not wait for locks, and what cannot be had at once is asked for again, as all others are,
// on a connection of their own. Two groups that touch the same keys meet on the server, where the locks order them.
// What a commit decided is told to the listener and to the submitter when its transaction has ended, one at a time over
// all threads.
#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/postgres/commit_queue.h"
#include "engine/postgres/departures.h"
#include "engine/postgres/line.h"
#include "engine/postgres/servers.h"
#include "engine/postgres/shared.h"

namespace kvarts::postgres {

class Committer {
 public:
  using Submissions = CommitQueue::Submissions;

  Committer(Shared& shared, Servers& servers, size_t connections);
  // Ends what was taken on.
  ~Committer();

  void Submit(Submissions batch);
  // Tells the listener something, if there is one, while nobody else does.
  void Tell(const std::function<void(CommitListener&, Submissions* next)>& tell);

 private:
  // A moment is little beside the time that a commit takes to get to the disk.
  static constexpr std::chrono::microseconds kMoment{300};
  static constexpr std::chrono::microseconds kPatience{3'000};
  // One round trip holds so much; a commit that is larger goes alone.
  static constexpr size_t kMaxGroupCommits = 500;
  static constexpr size_t kMaxGroupOperations = 4000;
  static constexpr size_t kMaxGroupBytes = 4 << 20;

  class Turn;

  void Loop();
  size_t Takeable() const { return waiting_.takeable() + refused_.size(); }
  void RunNext(std::unique_lock<std::mutex>& lock);
  void RefuseNext(std::unique_lock<std::mutex>& lock);

  Shared& shared_;
  Servers& servers_;
  std::mutex mutex_;
  // One that the server works on, and one that it finds when it is done.
  static constexpr size_t kUnderWay = 2;
  Departures departures_{kUnderWay, kMoment, kPatience};
  CommitQueue waiting_;
  std::deque<Submissions> refused_;  // there were too many
  bool stopping_ = false;
  std::mutex delivery_;  // of everything that is told
  Line line_{[this] { return servers_.Primary(Use::kWriting, shared_.request_deadline()); }};
  std::vector<std::jthread> threads_;
};

}  // namespace kvarts::postgres
