#include "engine/rocksdb/keeper.h"

#include <rocksdb/convenience.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "engine/rocksdb/in_rocks.h"
#include "engine/rocksdb/meta.h"

namespace kvarts {
namespace {

constexpr int kDropTries = 20;
constexpr auto kReadersPause = std::chrono::milliseconds(1);

// The files that can be dropped, which are those below level 0.
class FileExtents {
 public:
  FileExtents(rocksdb::DB& db, std::span<rocksdb::ColumnFamilyHandle* const> families) {
    for (rocksdb::ColumnFamilyHandle* family : families) {
      rocksdb::ColumnFamilyMetaData all;
      db.GetColumnFamilyMetaData(family, &all);
      for (const rocksdb::LevelMetaData& level : all.levels) {
        if (level.level == 0) continue;
        for (const rocksdb::SstFileMetaData& file : level.files) {
          files_.push_back({file.smallestkey, file.largestkey, file.being_compacted});
        }
      }
    }
    std::ranges::sort(files_, {}, &Extent::first);
  }

  bool AnyWithin(const KeyRange& range) const {
    return AnyWithin(range, [](const Extent&) { return true; });
  }
  // Whether a compaction under way reads one of them: such a file is not dropped.
  bool AnyInUseWithin(const KeyRange& range) const { return AnyWithin(range, &Extent::in_use); }

 private:
  struct Extent {
    std::string first;
    std::string last;
    bool in_use;
  };

  template <typename Matches>
  bool AnyWithin(const KeyRange& range, Matches matches) const {
    auto file = std::ranges::lower_bound(files_, range.start, {}, &Extent::first);
    for (; file != files_.end() && range.Contains(file->first); ++file) {
      if (range.Contains(file->last) && std::invoke(matches, *file)) return true;
    }
    return false;
  }

  std::vector<Extent> files_;
};

}  // namespace

Keeper::Keeper(RocksStore& store, CommitThread commit_thread)
    : store_(store), commit_thread_(std::move(commit_thread)), thread_([this] { Loop(); }) {}

Keeper::~Keeper() { Stop(); }

void Keeper::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Keeper::Hurry() {
  {
    std::lock_guard lock(mutex_);
    hurry_ = true;
  }
  wake_.notify_one();
}

void Keeper::Reclaim(const KeyRange& range, Bytes record) {
  std::lock_guard lock(mutex_);
  erased_.push_back({range, std::move(record), store_.db->GetLatestSequenceNumber()});
}

void Keeper::Loop() {
  std::unique_lock lock(mutex_);
  const auto interval = std::chrono::microseconds(store_.options.keeper_interval.micros);
  auto next = std::chrono::steady_clock::now() + interval;
  while (!stopping_) {
    const bool woken = wake_.wait_until(lock, next, [this] { return stopping_ || hurry_; });
    if (stopping_) return;
    hurry_ = false;
    lock.unlock();
    store_.pressure.Measure(*store_.db, store_.families);
    if (!woken) {
      LookAround();
      next = std::chrono::steady_clock::now() + interval;
    }
    lock.lock();
  }
}

void Keeper::LookAround() {
  const Timestamp now = store_.Now();
  const auto max_age = static_cast<uint64_t>(store_.options.limits.max_view_age.micros);
  if (now.micros > max_age) store_.views.CloseOlderThan({now.micros - max_age});
  WatchDisk();
  DropFiles();
  if (!store_.expired_counters.empty()) {
    IgnoreError(
        commit_thread_.run([this] { return EraseExpiredCounters(); }));  // what fails comes up again in compaction
  }
}

void Keeper::WatchDisk() {
  struct statvfs disk {};
  if (statvfs(store_.dir.c_str(), &disk) != 0) return;
  const uint64_t free_bytes = uint64_t{disk.f_bavail} * disk.f_frsize;
  const bool low = free_bytes < store_.options.min_free_disk_bytes;
  WriteState state = store_.write_state.load();
  // RocksDB begins to get itself going when it has told of the error. It does not survive that somebody else has begun
  // by then, and refuses who comes later.
  const bool was_full = std::exchange(full_, state == WriteState::kDiskFull);
  if (low && state == WriteState::kWritable) {
    store_.write_state.compare_exchange_strong(state, WriteState::kDiskLow);
  } else if (!low && state == WriteState::kDiskLow) {
    store_.write_state.compare_exchange_strong(state, WriteState::kWritable);
  } else if (!low && state == WriteState::kDiskFull && was_full) {
    const rocksdb::Status resumed = store_.db->Resume();
    // RocksDB gives up for good when there is no room even for a new log.
    const bool given_up = resumed.severity() >= rocksdb::Status::Severity::kFatalError;
    if (given_up) store_.write_state.compare_exchange_strong(state, WriteState::kFailed);
    full_ = !resumed.ok();
    if (resumed.ok()) store_.write_state.compare_exchange_strong(state, WriteState::kWritable);
  }
}

// Every reader holds a snapshot, so the oldest of them says whether one still sees what was erased.
bool Keeper::IsDue(const Erased& erased) const {
  uint64_t oldest = 0;
  store_.db->GetIntProperty(rocksdb::DB::Properties::kOldestSnapshotSequence, &oldest);
  return oldest >= erased.sequence;
}

void Keeper::DropFiles() {
  std::vector<Erased> pending;
  {
    std::lock_guard lock(mutex_);
    pending.swap(erased_);
  }
  if (pending.empty()) return;
  ForgetThoseWithoutFiles(&pending);
  for (Erased& erased : pending) {
    bool done = false;
    // Readers are quick, as a rule, and so are compactions: those from before are gone a moment later.
    for (int tries = 0; tries < kDropTries && !done && !Stopping(); ++tries) {
      if (tries > 0) std::this_thread::sleep_for(kReadersPause);
      if (!IsDue(erased)) {
        if (tries == 0) break;  // a view is open
        continue;
      }
      const Status tried = commit_thread_.run([&]() -> Status {
        KVARTS_TRY(done, DropFilesOf(&erased));
        return {};
      });
      if (!tried.has_value()) break;
    }
    if (done) continue;
    std::lock_guard lock(mutex_);
    erased_.push_back(std::move(erased));
  }
}

bool Keeper::Stopping() {
  std::lock_guard lock(mutex_);
  return stopping_;
}

// What lies in files that reach beyond a range is compaction's work, and dropping is none for nothing: it keeps the
// commit thread, and changes options twice. Retention erases thousands of ranges that are smaller than a file.
void Keeper::ForgetThoseWithoutFiles(std::vector<Erased>* pending) {
  const FileExtents files(*store_.db, store_.families);
  const auto without =
      std::ranges::stable_partition(*pending, [&](const Erased& erased) { return files.AnyWithin(erased.range); });
  if (without.empty()) return;
  rocksdb::WriteBatch records;
  for (const Erased& erased : without) records.Delete(store_.meta, ToSlice(erased.record));
  const Status forgotten = commit_thread_.run([&]() -> Status {
    rocksdb::WriteOptions how;
    how.no_slowdown = true;
    const rocksdb::Status status = InRocks([&] { return store_.db->Write(how, &records); });
    return status.ok() ? Status{} : FromRocks(status);
  });
  // Else they come up again.
  if (forgotten.has_value()) pending->erase(without.begin(), without.end());
}

// On the commit thread nothing can be added to a counter between the look at it and its erasure.
Status Keeper::EraseExpiredCounters() {
  rocksdb::WriteBatch batch;
  for (const Bytes& key : store_.expired_counters.Take()) {
    const BytesView view = key;
    std::optional<Record> record;
    const ReadOptions options{.expired_too = true, .cost = nullptr};
    KVARTS_CHECK_OK(store_.Read(store_.Latest(), store_.Now(), {&view, 1}, {&record, 1}, options));
    if (!record || record->header.owned || !record->header.ExpiredAt(store_.visible().time())) continue;
    batch.Delete(store_.FamilyOf(*store_.routing, key), ToSlice(key));
  }
  rocksdb::WriteOptions how;
  how.no_slowdown = true;
  const rocksdb::Status status = InRocks([&] { return store_.db->Write(how, &batch); });
  return status.ok() ? Status{} : FromRocks(status);
}

bool Keeper::HoldsAnything(const KeyRange& range) {
  ScanRequest request;
  request.range = range;
  request.max_entries = 1;
  request.options.expired_too = true;
  const Result<ScanPage> page = store_.Scan(store_.Latest(), store_.Now(), request);
  return !page.has_value() || !page->empty();
}

Result<bool> Keeper::DropFilesOf(Erased* erased) {
  // A compaction that was asked for could take the new tombstone down to where files are dropped.
  const std::unique_lock alone(store_.compacting, std::try_to_lock);
  if (!alone) return Error(ErrorCode::kOverloaded, "a compaction is under way");
  // Somebody has written into the range since: compaction will do the work.
  const bool empty = !HoldsAnything(erased->range);
  if (empty && commit_thread_.may_have_changed(erased->range, erased->empty_at)) {
    // It may have been written and erased again, and a view opened in between: there must be no reader from before now.
    erased->empty_at = store_.visible();
    erased->sequence = store_.db->GetLatestSequenceNumber();
    store_.Publish(std::make_shared<const ReadPoint>(store_.db.get(), store_.routing, store_.visible()));
    return false;
  }
  if (empty) {
    KVARTS_TRY(const bool dropped, DropFilesIn(erased->range));
    if (!dropped) return false;
  }
  rocksdb::WriteOptions how;
  how.no_slowdown = true;
  const rocksdb::Status forgotten =
      InRocks([&] { return store_.db->Delete(how, store_.meta, ToSlice(erased->record)); });
  if (!forgotten.ok()) return FromRocks(forgotten);
  return true;
}

// Dropping a file drops tombstones with it, and what they hid in files that are only partly in the range would come
// back. So the range is erased once more, while no compaction can start: the new tombstone is in the write buffer or in
// level 0, whose files are never dropped this way. What follows is safe to repeat, and is repeated after a crash.
// RocksDB leaves out the files that a compaction reads, without a word, and what it makes of them would stay.
Result<bool> Keeper::DropFilesIn(const KeyRange& range) {
  for (const Routing::Segment& segment : store_.routing->Segments(range)) {
    rocksdb::ColumnFamilyHandle* family = store_.families[static_cast<size_t>(segment.profile)];
    const auto in_use = [&] { return FileExtents(*store_.db, {&family, 1}).AnyInUseWithin(segment.range); };
    if (in_use()) return false;  // known without changing options
    rocksdb::Status status = store_.db->SetOptions(family, {{"disable_auto_compactions", "true"}});
    if (!status.ok()) return FromRocks(status);
    const bool too_early = in_use();
    if (!too_early) status = DropFilesIn(family, segment.range);
    const rocksdb::Status again = store_.db->SetOptions(family, {{"disable_auto_compactions", "false"}});
    if (!status.ok()) return FromRocks(status);
    if (!again.ok()) return FromRocks(again);
    if (too_early) return false;
  }
  return true;
}

rocksdb::Status Keeper::DropFilesIn(rocksdb::ColumnFamilyHandle* family, const KeyRange& range) {
  const rocksdb::Slice start = ToSlice(range.start);
  const Bytes last(store_.options.limits.max_key_bytes + Limits::kKeyAllowance + 1, '\xff');
  const rocksdb::Slice end = range.HasEnd() ? ToSlice(range.end) : ToSlice(last);
  rocksdb::WriteOptions how;
  how.sync = true;
  how.no_slowdown = true;
  const rocksdb::Status erased = InRocks([&] { return store_.db->DeleteRange(how, family, start, end); });
  if (!erased.ok()) return erased;
  return rocksdb::DeleteFilesInRange(store_.db.get(), family, &start, &end, false);
}

}  // namespace kvarts
