// Engine: where the keyspace lives. An ordered map of bytes to records, with consistent views and atomic commits.
//
// The interface is as narrow as its real engines allow, and takes many keys per call, because on one of them a call
// is a round trip. What an engine cannot do it says in Capabilities. All errors of what lies beneath stop here and
// become ours. Every engine passes the suite in tests/conformance, which names each promise made below.
//
// Safe from any thread. Promises that hold on every engine:
// - An expired value does not exist: for a view from its expiry on by the view's time, for a precondition by the
//   commit's time. Neither time ever goes back.
// - A commit is whole: a view shows all of it or nothing. Versions grow per key, and no version is issued twice.
// - `Get` is linearizable, unless it asks for less: it sees every commit acknowledged before it began.
// - What survives a crash is a prefix of commit order that holds every acknowledged `sync` commit; a reader never saw
//   a `sync` commit that was not yet on disk.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "encoding/key_range.h"
#include "engine/commit.h"
#include "engine/limits.h"
#include "engine/read_channel.h"
#include "engine/stats.h"
#include "engine/view.h"

namespace kvarts {

// How a range of keys is mostly used; chosen while it is empty.
enum class Profile : uint8_t {
  kLookup = 0,  // point reads and updates; keeps reads and space cheap
  kIngest = 1,  // mostly written, seldom read; keeps writes cheap
  kWindow = 2,  // written in time order and dropped by range; keeps dropping cheap
};
std::string_view ProfileName(Profile profile);
std::optional<Profile> ParseProfile(std::string_view name);

struct Capabilities {
  std::string name;             // as in --engine
  bool persistent = false;      // survives its process
  bool total_order = false;     // versions grow in commit order over all keys
  bool reads_may_wait = false;  // a read may wait for a network: run bodies on worker threads
  bool shared = false;          // other processes write to it, too
  bool replicas = false;        // freshness is heeded, and commits have session tokens
};

struct Health {
  bool writable = true;
  // Constant text for people: "the disk is full". Empty when writable.
  std::string reason;
};

// What a range of keys holds, by estimate.
struct RangeEstimate {
  uint64_t bytes = 0;    // as stored: compressed, on engines that compress
  uint64_t entries = 0;  // keys; those that have expired and are still stored among them
};

inline Error CompactionStopped() { return Error(ErrorCode::kUnavailable, "the compaction was stopped"); }

class Engine {
 public:
  virtual ~Engine() = default;

  virtual const Capabilities& capabilities() const = 0;
  virtual const Limits& limits() const = 0;
  // What is stronger is refused. With replicas it may change at any time.
  virtual Durability strongest() const { return Durability::kSync; }

  // `overloaded` beyond Limits::max_views. What a transaction rests on is read at a strong one.
  virtual Result<std::unique_ptr<View>> OpenView(const Freshness& freshness) = 0;
  Result<std::unique_ptr<View>> OpenView() { return OpenView(Freshness()); }
  // The newest records; consistent among themselves, without the cost of keeping a view.
  virtual Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
                     const ReadOptions& options) = 0;
  // The same without waiting, on an engine whose reads may wait: those that come together are read together. Others
  // answer at once.
  virtual void GetLater(PendingGet& read);
  // A way for the reads of an event loop, whose thread serves it and which outlives it. Null: there is none, and reads
  // are asked for as above.
  virtual std::unique_ptr<ReadChannel> OpenReadChannel(ReadChannel::Host&) { return nullptr; }
  // Takes over the submissions, in order. Their Done is called on some thread, possibly before Submit returns.
  virtual void Submit(std::span<std::unique_ptr<Submission>> submissions) = 0;
  // At most one, set before the first Submit. It outlives the engine.
  virtual void SetListener(CommitListener* listener) = 0;
  // The listener follows more than before: an engine that asks it now and then asks at once.
  virtual void FollowNow() {}

  // Time as views and commits see it.
  virtual Timestamp Now() const = 0;
  // A version up to which everything is visible to a view that is opened after this, and at least that of the last
  // commit of this process unless others take very long. Where versions follow the order of commits that is the last
  // one.
  virtual Result<Version> Settle() { return LastVersion(); }
  // The same without waiting: as far as is known.
  virtual Version Settled() const { return LastVersion(); }
  // The version of the newest visible commit.
  virtual Version LastVersion() const = 0;
  // Returns when everything acknowledged so far is on disk.
  virtual Status Sync() = 0;

  // Durable. `precondition_failed` when the range holds a key, or one that has expired and is still stored;
  // `invalid_argument` when it overlaps another profile's.
  virtual Status AssignProfile(const KeyRange& range, Profile profile) = 0;
  // Rewrites the range so that what is dead in it goes away. `unavailable` when it was stopped on the way.
  virtual Status Compact(const KeyRange& range, const std::stop_token& stop) = 0;
  Status Compact(const KeyRange& range) { return Compact(range, {}); }
  // Reads back everything that is stored and holds it against its checksums and headers. Each thing that is wrong, as
  // `corruption` with the place (or as what kept it from being read); the first kMaxFoundInFiles of them.
  virtual std::vector<Error> VerifyFiles() = 0;
  static constexpr size_t kMaxFoundInFiles = 100;
  // At a cost that does not grow with the number of keys. Exact for a few hundred small entries, within a factor of two
  // where there are many thousands, unless most of what is stored in the range is dead. Of what is still in a write
  // buffer, a small part may be taken for up to all of it.
  virtual Result<RangeEstimate> Estimate(const KeyRange& range) = 0;
  virtual Result<EngineStats> Stats() = 0;
  virtual Health health() const = 0;
  // How near the engine is to refusing writes because it cannot keep up: 0 is far, 1 is there. A good writer slows down
  // in between. Costs nothing to ask, and may be a keeper_interval old.
  virtual double pressure() const = 0;
};

// Submits one commit and waits for its outcome.
Result<Committed> CommitAndWait(Engine& engine, Commit commit);

// The newest record under one key.
Result<std::optional<Record>> GetOne(Engine& engine, BytesView key, const ReadOptions& options = {});

}  // namespace kvarts
