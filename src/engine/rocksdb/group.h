// A group: commits that are decided one after the other and written as one batch.
//
// Each commit is checked against the database and the commits before it in the group. Most need no reading: a
// precondition that was true at a view is still true if the memory of recent writes does not know better. When
// something must be read, what the group has decided so far is laid over the database. For the commit thread alone.
#pragma once

#include <rocksdb/write_batch.h>

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "engine/commit.h"
#include "engine/overlay.h"
#include "engine/rocksdb/recent_writes.h"
#include "engine/rocksdb/rocks_store.h"

namespace kvarts {

class Group {
 public:
  struct Decision {
    std::unique_ptr<Submission> submission;
    Version version;             // of the commit, if there is no error
    std::optional<Error> error;  // why it is not committed
    bool writes = false;         // it has mutations
  };

  Group(RocksStore& store, Version last);

  void SetListener(CommitListener* listener) { listener_ = listener; }

  // Reads the clock for the commits to come.
  void Begin() { now_ = store_.clock->Now(); }
  // Everything decided is written or given up, and answered.
  void Clear();
  // Decides a submission whose turn has come. What must have its turn next is put into `next`.
  void Decide(std::unique_ptr<Submission> submission, std::vector<std::unique_ptr<Submission>>* next);
  bool Full() const { return operations_ >= kMaxOperations || bytes_ >= kMaxBytes; }

  bool RangeMayHaveChanged(const KeyRange& range, Version since) const {
    return recent_.RangeMayHaveChanged(range, since);
  }
  rocksdb::WriteBatch& batch() { return batch_; }
  std::vector<Decision>& decisions() { return decisions_; }
  bool writes() const { return writes_; }
  bool needs_sync() const { return needs_sync_; }
  Version last_version() const { return last_; }
  size_t bytes() const { return bytes_; }

  // The batch is in the LSM tree: brings the hot-value cache up to date.
  void Written();

 private:
  static constexpr size_t kMaxOperations = 4096;
  static constexpr size_t kMaxBytes = 8 << 20;
  // Adds in a row, by key hash, before the sum is written out: what a read of a counter may have to add up.
  static constexpr uint8_t kMaxAdds = 128;
  static constexpr size_t kAddSlots = 1 << 16;
  static constexpr size_t kNotedBits = 1 << 16;
  // Preconditions between two looks at the clock.
  static constexpr size_t kCheckedAtOnce = 256;
  // How many notes ahead the cache is asked for memory: about as many as it takes for the memory to arrive.
  static constexpr size_t kLookAhead = 8;

  // What the cache must be told after the write.
  struct Note {
    uint64_t hash;
    const Mutation* mutation;
    Version version;
    const Record* sum;  // of an add, when it is known
  };

  // Those that stand for reads, or those that the caller stated.
  Status CheckPreconditions(const Commit& commit, Version version, bool from_read);
  Result<bool> Holds(const Precondition& precondition, Version version, std::string* found);
  Result<std::optional<Record>> Current(BytesView key, uint64_t hash, Timestamp time, bool expired_too);
  Status RunAgain(Submission& submission, Version version);
  void Accept(Decision& decision, Version version, std::vector<std::unique_ptr<Submission>>* next);
  void Write(const Mutation& mutation, Version version);
  void WritePut(const Mutation& put, uint64_t hash, Version version);
  void WriteAdd(const Mutation& add, uint64_t hash, Version version);
  void WriteEraseRange(const Mutation& erase, Version version);
  const Record* TrySum(const Mutation& add, uint64_t hash, Version version);
  // Whether a commit of this group may have written the key: by the memory of recent writes, and by the bits of
  // what it has noted. Either is blurred by itself, and all that was decided is laid out to look a key up in it.
  bool MayBePending(uint64_t hash) const;
  // Other bits than those by which recent writes are remembered.
  static size_t NotedAt(uint64_t hash) { return (hash >> 32) % kNotedBits; }
  const Overlay& Decided();

  RocksStore& store_;
  CommitListener* listener_ = nullptr;
  RecentWrites recent_;
  Version last_;
  std::vector<uint8_t> adds_;

  Timestamp now_;
  rocksdb::WriteBatch batch_;
  std::vector<Decision> decisions_;
  std::vector<Note> notes_;
  std::vector<bool> noted_;    // by the hashes of the notes
  bool erases_range_ = false;  // one of the notes is of a range
  std::deque<Record> sums_;
  Overlay overlay_;  // what was decided; built when first needed
  bool overlay_ready_ = false;
  const Decision* accepting_ = nullptr;  // whose mutations are being written
  size_t accepted_ = 0;                  // how many of them already are
  bool writes_ = false;
  bool needs_sync_ = false;
  bool first_expiring_blob_ = false;  // of the store is in this group
  size_t operations_ = 0;
  size_t bytes_ = 0;
};

}  // namespace kvarts
