// What the parts of the engine share: the open database, the caches, and the read point that readers start from.
#pragma once

#include <rocksdb/db.h>

#include <array>
#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <shared_mutex>

#include "base/spin_lock.h"
#include "engine/engine.h"
#include "engine/rocksdb/activity.h"
#include "engine/rocksdb/expiry_filter.h"
#include "engine/rocksdb/hot_cache.h"
#include "engine/rocksdb/pressure.h"
#include "engine/rocksdb/rocks_engine.h"
#include "engine/rocksdb/routing.h"

namespace kvarts {

inline rocksdb::Slice ToSlice(BytesView bytes) { return {bytes.data(), bytes.size()}; }

// RocksDB counts what a thread does with it unless the thread has told it not to; only scans use its counts.
void CountNothing();

// The column families of the profiles, in their order.
inline constexpr std::array<const char*, kProfiles> kFamilyNames = {"default", "ingest", "window"};

// A RocksDB error, as ours. Reads never see `unknown_outcome`: that is said by the committer alone.
Error FromRocks(const rocksdb::Status& status);

// A state of the database that readers may look at: everything up to `version`, and nothing else. The routing belongs
// to it: a range that is given a profile later was empty by then, but may not have been at this state.
struct ReadPoint {
  ReadPoint(rocksdb::DB* database, std::shared_ptr<const Routing> routes, Version at)
      : db(database), snapshot(database->GetSnapshot()), routing(std::move(routes)), version(at) {}
  ~ReadPoint() { db->ReleaseSnapshot(snapshot); }
  ReadPoint(const ReadPoint&) = delete;
  ReadPoint& operator=(const ReadPoint&) = delete;

  rocksdb::DB* const db;
  const rocksdb::Snapshot* const snapshot;
  const std::shared_ptr<const Routing> routing;
  const Version version;
};

// Where to read: a read point, or what the commit thread has in hand.
struct ReadPlace {
  const rocksdb::Snapshot* snapshot;  // null: the database as it is
  const Routing& routing;
  Version version;  // the newest that may be seen

  ReadPlace(const ReadPoint& point) : snapshot(point.snapshot), routing(*point.routing), version(point.version) {}
  ReadPlace(const Routing& now, Version newest) : snapshot(nullptr), routing(now), version(newest) {}
};

// Why writes are refused, if they are. The text is constant, for people.
enum class WriteState : uint8_t {
  kWritable,
  kDiskLow,   // clears by itself
  kDiskFull,  // clears by itself
  kFailed,    // until reopened
  kDamaged,   // until reopened
};
const char* WriteStateText(WriteState state);

class Keeper;
class RocksView;

// The views that are open, oldest first.
class ViewRegistry {
 public:
  struct Entry {
    Timestamp time;
    RocksView* view;
  };
  using Handle = std::list<Entry>::iterator;

  // Adds what `make` returns, unless there are too many. `make` takes its time under the registry's lock, so that a
  // horizon computed before it is no later than that time, and one computed after it knows the view.
  bool Add(const std::function<Entry()>& make, size_t at_most, Handle* handle);
  // Removes the view, unless CloseOlderThan has done it: `registered` says so.
  void Remove(Handle handle, bool* registered);
  // The earlier of what `now` returns and the time of the oldest view.
  Timestamp Horizon(const std::function<Timestamp()>& now) const;
  // The time of the oldest view, if any is open.
  std::optional<Timestamp> OldestTime() const;
  size_t size() const;
  // Takes the read points away from views opened before `time`, except from those in the middle of a call, and removes
  // them: whoever forgets to close one keeps neither old data nor others from their views.
  void CloseOlderThan(Timestamp time);

 private:
  mutable std::mutex mutex_;
  std::list<Entry> entries_;
};

struct RocksStore {
  RocksStore(RocksOptions given, std::string directory);

  Timestamp Now() const;
  Version visible() const { return visible_version.load(std::memory_order_acquire); }
  std::shared_ptr<const ReadPoint> CurrentPoint() const;
  void Publish(std::shared_ptr<const ReadPoint> point);
  // What expired by then is gone for every view there is or will be, also after a restart.
  Timestamp ExpiryHorizon() const;

  rocksdb::ColumnFamilyHandle* FamilyOf(const Routing& routes, BytesView key) const {
    return families[static_cast<size_t>(routes.ProfileOf(key))];
  }
  Status Read(const ReadPlace& place, Timestamp time, std::span<const BytesView> keys,
              std::span<std::optional<Record>> out, const ReadOptions& read);
  Result<ScanPage> Scan(const ReadPlace& place, Timestamp time, const ScanRequest& request);
  // The database as it is; for the commit thread.
  ReadPlace Latest() const { return ReadPlace(*routing, visible()); }
  // The newest record under one key. The cache answers most of these, and needs no read point to do it.
  Status ReadNewest(BytesView key, std::optional<Record>* out, const ReadOptions& read);

  // Never to a better one.
  void RaiseWriteState(WriteState state);

  const RocksOptions options;
  const std::string dir;
  std::shared_ptr<Clock> clock;
  HotCache cache;
  ViewRegistry views;

  std::atomic<WriteState> write_state{WriteState::kWritable};
  std::atomic<bool> stalled{false};
  // Shared by compactions that were asked for: nobody may drop files beside them.
  std::shared_mutex compacting;
  // RocksDB's number of the last thing that was written before the current log.
  std::atomic<uint64_t> log_began{0};
  AddedKeys added;
  ExpiredCounters expired_counters;
  std::atomic<bool> expiring_blobs{false};
  std::atomic<uint64_t> dropped_expired{0};
  std::atomic<uint64_t> user_bytes{0};
  std::atomic<uint64_t> storage_bytes{0};
  std::atomic<uint64_t> commits{0};
  Activity activity;
  PressureGauge pressure;
  std::atomic<Keeper*> keeper{nullptr};  // once there is one; it outlives the database

  std::shared_ptr<const Routing> routing;  // for the commit thread; readers have that of their read point

  std::unique_ptr<rocksdb::DB> db;
  std::array<rocksdb::ColumnFamilyHandle*, kProfiles> families{};
  rocksdb::ColumnFamilyHandle* meta = nullptr;

 private:
  // Looks into the cache only; true when it had the key, expired or not.
  bool FindHot(uint64_t hash, BytesView key, Version version, Timestamp time, std::optional<Record>* out,
               const ReadOptions& read);
  // Looks into the LSM tree only.
  Status ReadStored(const ReadPlace& place, uint64_t hash, Timestamp time, BytesView key, std::optional<Record>* out,
                    const ReadOptions& read);
  Status ReadMany(const ReadPlace& place, Timestamp time, std::span<const BytesView> keys,
                  std::span<std::optional<Record>> out, const ReadOptions& read);
  Status Take(uint64_t hash, BytesView key, BytesView stored, Version version, Timestamp time,
              std::optional<Record>* out, const ReadOptions& read);

  std::atomic<Version> visible_version{kNoVersion};
  mutable SpinLock point_lock;
  std::shared_ptr<const ReadPoint> point;
};

// A view of the engine. The keeper may take its read point away once it is too old, so every call holds a lock.
class RocksView final : public View {
 public:
  static Result<std::unique_ptr<View>> Open(RocksStore& store);
  ~RocksView() override;

  Version version() const override { return version_; }
  Timestamp time() const override { return time_; }
  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override;
  Result<ScanPage> Scan(const ScanRequest& request) override;

  // For the registry, under its lock: lets go of the read point, unless a call is using it.
  bool Close();

 private:
  explicit RocksView(RocksStore& store) : store_(store) {}
  Status CheckAge() const;

  RocksStore& store_;
  Version version_;
  Timestamp time_;
  ViewRegistry::Handle handle_;
  bool registered_ = false;  // under the registry's lock
  std::mutex in_use_;
  std::shared_ptr<const ReadPoint> point_;
};

}  // namespace kvarts
