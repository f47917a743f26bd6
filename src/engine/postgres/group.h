// A group: commits that are decided together, by one call.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/version.h"
#include "encoding/key_range.h"
#include "engine/commit.h"
#include "engine/postgres/connection.h"

namespace kvarts::postgres {

// What a view saw, by the version it has: ranges that it read are held against it. Safe from any thread.
class Snapshots {
 public:
  // What is not found here is looked for among `others`, if given.
  explicit Snapshots(const Snapshots* others = nullptr) : others_(others) {}

  // Of two views with one version the older one counts: what it did not see, the other may have.
  void Add(Version version, std::string snapshot);
  // Nothing when it is not known, or no longer.
  std::optional<std::string> Find(Version version) const;

 private:
  static constexpr size_t kKept = 100'000;

  const Snapshots* const others_;
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, std::string> by_version_;
  std::deque<uint64_t> oldest_first_;
};

// What all processes follow, as far as this one knows. Safe from any thread.
class KnownFollowed {
 public:
  struct Known {
    int64_t epoch = -1;             // none yet
    std::vector<KeyRange> touched;  // somebody wants to know that something changes there
    std::vector<KeyRange> told;     // somebody wants to know what

    static bool Concerns(const Mutation& mutation, const std::vector<KeyRange>& ranges);
  };

  std::shared_ptr<const Known> Get() const {
    const std::lock_guard lock(mutex_);
    return known_;
  }
  void Set(Known known) {
    auto next = std::make_shared<const Known>(std::move(known));
    const std::lock_guard lock(mutex_);
    known_ = std::move(next);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Known> known_ = std::make_shared<const Known>();
};

// What has to be locked before a commit is decided: keys, and areas, which are all keys with the same first bytes. Who
// writes a key shares its areas with other writers; who decides by a range has the smallest area around it alone, until
// its commit is seen. Otherwise others could see a write into the range and not yet the commit that came before it.
struct Locks {
  static constexpr int kAllWriters = 1;  // nobody else may write: a range is erased, or one without an area was read
  static constexpr int kTryOnly = 2;

  int modes = 0;
  // Ascending, each once. The lowest bit is set where others may have it, too.
  std::vector<int64_t> keys;

  void Add(const Commit& commit);
  void Add(const Locks& other);
  void AddTo(Params* params) const;
  // Instead of so many locks a single one, which nobody else can have.
  void KeepAllOut();
  // The server's table of locks is finite, and all commits share it: beyond so many, all others are kept out.
  static constexpr size_t kMaxKeys = 2000;

 private:
  static constexpr int64_t kShared = 1;
  // Bytes, the smallest area first: the space that a key is in, and a little of what it is called there.
  static constexpr std::array<size_t, 2> kAreas = {10, 2};

  void AddRead(const KeyRange& range);
  void AddWritten(const Mutation& mutation);
  // The first so many are sorted already.
  void Sort(size_t sorted);
};

// The commits must stay where they are as long as the group is used.
class Group {
 public:
  Group(const Snapshots& snapshots, const KnownFollowed& followed) : snapshots_(snapshots), followed_(followed) {}

  void Add(const Commit& commit);
  void Add(const Locks& more) { locks_.Add(more); }
  void KeepAllOut() { locks_.KeepAllOut(); }
  size_t size() const { return commits_.size(); }
  bool empty() const { return commits_.empty(); }
  size_t operations() const { return operations_; }
  size_t bytes() const { return bytes_; }
  const Locks& locks() const { return locks_; }

  // The call of kCommit.
  Call Commits(std::optional<uint64_t> now, int modes) const;
  // The call of kPutAll, if all that the commits do is to put keys, under conditions that none of them changes, and
  // nobody wants to be told of each: the server then has one statement for all, and one answer.
  std::optional<Call> Puts(std::optional<uint64_t> now) const;

 private:
  class Arrays;
  class PutArrays;
  using LastPuts = std::unordered_map<BytesView, const Mutation*>;  // by their keys
  // Nothing when the commits do more than that.
  std::optional<LastPuts> PutsAlone(const KnownFollowed::Known& followed) const;
  void AddConditions(Params* params) const;

  const Snapshots& snapshots_;
  const KnownFollowed& followed_;
  Locks locks_;
  std::vector<const Commit*> commits_;
  size_t operations_ = 0;
  size_t bytes_ = 0;
};

// What kvarts.commit calls by this number.
Mutation::Op MutationOf(int16_t op);

// What became of one commit of a group.
struct Verdict {
  enum class Kind { kCommitted, kReadChanged, kStatedFails, kNoLock };
  Kind kind;
  size_t operation;  // of the group, from 1, that failed
  Version version;   // of the commit, or of what a failed precondition met
};
// By a row of kCommit.
Verdict VerdictOf(const Rows& rows, int row);
// The version of the first by the answer of kPutAll, unless it has none.
std::optional<Version> FirstVersionOf(const Rows& rows);

// The error of a commit whose n-th precondition failed.
Error FailedPrecondition(const Precondition& precondition, Version met);

std::string_view SynchronousCommit(Durability durability);

}  // namespace kvarts::postgres
