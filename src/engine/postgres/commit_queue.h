// Submissions that wait for a thread of the committer, in the order of their coming.
//
// Those that will wait for replicas may do so for long, as when there are none: one thread is always left to the
// others, if there are several. Used with the committer's lock held.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/limits.h"

namespace kvarts::postgres {

inline bool WaitsForReplicas(Durability durability) { return durability >= Durability::kQuorum; }

class CommitQueue {
 public:
  using Submissions = std::vector<std::unique_ptr<Submission>>;
  // What one round trip holds; a commit that is larger goes alone.
  struct Room {
    size_t commits;
    size_t operations;
    size_t bytes;
  };

  explicit CommitQueue(size_t threads) : most_await_replicas_(std::max<size_t>(threads, 2) - 1) {}

  size_t size() const { return size_; }
  size_t bytes() const { return bytes_; }
  // How many submissions a thread could take now.
  size_t takeable() const { return await_replicas_ < most_await_replicas_ ? size_ : size_ - for_replicas_.size; }

  // `bytes` is what its commits have together.
  void Add(Submissions batch, size_t bytes) {
    const bool waits =
        std::ranges::any_of(batch, [](const auto& one) { return WaitsForReplicas(one->commit.durability); });
    Kind& kind = waits ? for_replicas_ : others_;
    size_ += batch.size();
    bytes_ += bytes;
    kind.size += batch.size();
    kind.batches.emplace_back(++added_, std::move(batch));
  }

  struct Taken {
    Submissions batch;
    bool for_replicas;
  };
  // The oldest that can be taken, and with it, while there is room, those behind it that ask for the same. Some can be.
  Taken Take(const Room& room) {
    Kind& kind = Next();
    Taken taken{{}, &kind == &for_replicas_};
    size_t bytes = 0;
    size_t operations = 0;
    do {
      for (auto& submission : kind.batches.front().second) {
        const Commit& commit = submission->commit;
        bytes += CommitBytes(commit);
        operations += commit.preconditions.size() + commit.mutations.size();
        taken.batch.push_back(std::move(submission));
      }
      kind.batches.pop_front();
    } while (!kind.batches.empty() && taken.batch.size() + kind.first().size() <= room.commits && bytes < room.bytes &&
             operations < room.operations &&
             taken.batch.front()->commit.durability == kind.first().front()->commit.durability);
    size_ -= taken.batch.size();
    bytes_ -= bytes;
    kind.size -= taken.batch.size();
    if (taken.for_replicas) ++await_replicas_;
    return taken;
  }
  // The thread is done with them.
  void Done(const Taken& taken) {
    if (taken.for_replicas) --await_replicas_;
  }

 private:
  struct Kind {
    const Submissions& first() const { return batches.front().second; }

    std::deque<std::pair<uint64_t, Submissions>> batches;  // with their numbers
    size_t size = 0;                                       // submissions
  };

  Kind& Next() {
    if (for_replicas_.batches.empty() || await_replicas_ == most_await_replicas_) return others_;
    if (others_.batches.empty()) return for_replicas_;
    return others_.batches.front().first < for_replicas_.batches.front().first ? others_ : for_replicas_;
  }

  const size_t most_await_replicas_;  // threads
  size_t await_replicas_ = 0;
  Kind for_replicas_;
  Kind others_;
  uint64_t added_ = 0;  // batches, ever
  size_t size_ = 0;
  size_t bytes_ = 0;
};

}  // namespace kvarts::postgres
