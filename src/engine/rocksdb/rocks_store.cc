#include "engine/rocksdb/rocks_store.h"

#include <rocksdb/perf_level.h>

#include "engine/rocksdb/in_rocks.h"
#include "engine/rocksdb/key_hash.h"
#include "engine/rocksdb/tuning.h"
#include "engine/rocksdb/value_codec.h"

namespace kvarts {
namespace {

Error DamagedValue(BytesView key) {
  return Error(ErrorCode::kCorruption, "a stored value has a damaged header", {{"key", Escaped(key)}});
}

// Keys whose memory is asked for together: as many as wait for it at once, and not so many that it is gone again.
constexpr size_t kTogether = 16;

void Charge(BytesView key, const std::optional<Record>& record, const ReadOptions& read) {
  if (read.cost == nullptr) return;
  read.cost->keys += 1;
  if (record) read.cost->bytes += key.size() + record->value.size();
}

}  // namespace

void CountNothing() {
  static thread_local bool done = false;
  if (!std::exchange(done, true)) rocksdb::SetPerfLevel(rocksdb::kDisable);
}

Error FromRocks(const rocksdb::Status& status) {
  const std::string cause = status.ToString();
  if (status.IsCorruption()) return Error(ErrorCode::kCorruption, "stored data is damaged", {{"cause", cause}});
  if (status.IsPathNotFound())
    return Error(ErrorCode::kCorruption, "a file of the store is missing", {{"cause", cause}});
  if (status.IsNoSpace()) return Error(ErrorCode::kUnavailable, "the disk is full", {{"cause", cause}});
  if (status.IsIOError()) return Error(ErrorCode::kUnavailable, "a file cannot be read or written", {{"cause", cause}});
  if (status.IsIncomplete() || status.IsBusy() || status.IsTryAgain() || status.IsTimedOut()) {
    return Error(ErrorCode::kOverloaded, "the store is busy", {{"cause", cause}});
  }
  return Error(ErrorCode::kInternal, "RocksDB refused", {{"cause", cause}});
}

const char* WriteStateText(WriteState state) {
  switch (state) {
    case WriteState::kWritable:
      return "";
    case WriteState::kDiskLow:
      return "the disk is almost full";
    case WriteState::kDiskFull:
      return "the disk is full";
    case WriteState::kFailed:
      return "a write to the disk failed; the store must be reopened";
    case WriteState::kDamaged:
      return "stored data is damaged; the store must be checked";
  }
  return "";
}

bool ViewRegistry::Add(const std::function<Entry()>& make, size_t at_most, Handle* handle) {
  std::lock_guard lock(mutex_);
  if (entries_.size() >= at_most) return false;
  *handle = entries_.insert(entries_.end(), make());
  return true;
}

void ViewRegistry::Remove(Handle handle, bool* registered) {
  std::lock_guard lock(mutex_);
  if (*registered) entries_.erase(handle);
}

Timestamp ViewRegistry::Horizon(const std::function<Timestamp()>& now) const {
  std::lock_guard lock(mutex_);
  const Timestamp time = now();
  return entries_.empty() ? time : std::min(time, entries_.front().time);
}

std::optional<Timestamp> ViewRegistry::OldestTime() const {
  std::lock_guard lock(mutex_);
  if (entries_.empty()) return std::nullopt;
  return entries_.front().time;
}

size_t ViewRegistry::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

void ViewRegistry::CloseOlderThan(Timestamp time) {
  std::lock_guard lock(mutex_);
  for (auto it = entries_.begin(); it != entries_.end() && it->time < time;) {
    it = it->view->Close() ? entries_.erase(it) : std::next(it);
  }
}

RocksStore::RocksStore(RocksOptions given, std::string directory)
    : options(std::move(given)),
      dir(std::move(directory)),
      clock(options.clock ? options.clock : std::make_shared<SystemClock>()),
      cache(MemoryPlan(options).hot_values, options.hot_cache_max_value) {}

Timestamp RocksStore::Now() const { return std::max(clock->Now(), visible().time()); }

std::shared_ptr<const ReadPoint> RocksStore::CurrentPoint() const {
  std::lock_guard lock(point_lock);
  return point;
}

void RocksStore::Publish(std::shared_ptr<const ReadPoint> next) {
  const Version version = next ? next->version : visible();
  {
    std::lock_guard lock(point_lock);
    point.swap(next);
  }
  visible_version.store(version, std::memory_order_release);
}

void RocksStore::RaiseWriteState(WriteState state) {
  WriteState old = write_state.load();
  while (old < state && !write_state.compare_exchange_weak(old, state)) {
  }
}

Timestamp RocksStore::ExpiryHorizon() const {
  return views.Horizon([this] { return visible().time(); });
}

Status RocksStore::Read(const ReadPlace& place, Timestamp time, std::span<const BytesView> keys,
                        std::span<std::optional<Record>> out, const ReadOptions& read) {
  CountNothing();
  if (keys.size() == 1) {
    const uint64_t hash = KeyHash(keys[0]);
    if (!FindHot(hash, keys[0], place.version, time, &out[0], read)) {
      KVARTS_CHECK_OK(ReadStored(place, hash, time, keys[0], &out[0], read));
    }
  } else {
    KVARTS_CHECK_OK(ReadMany(place, time, keys, out, read));
  }
  for (size_t i = 0; i < keys.size(); ++i) Charge(keys[i], out[i], read);
  return {};
}

Status RocksStore::ReadNewest(BytesView key, std::optional<Record>* out, const ReadOptions& read) {
  const uint64_t hash = KeyHash(key);
  const Timestamp time = Now();
  if (!FindHot(hash, key, visible(), time, out, read)) {
    CountNothing();
    const auto newest = CurrentPoint();
    KVARTS_CHECK_OK(ReadStored(*newest, hash, time, key, out, read));
  }
  Charge(key, *out, read);
  return {};
}

bool RocksStore::FindHot(uint64_t hash, BytesView key, Version version, Timestamp time, std::optional<Record>* out,
                         const ReadOptions& read) {
  if (!*out) out->emplace();
  if (!cache.Find(hash, key, version, &**out)) return false;
  if (!read.expired_too && (*out)->header.ExpiredAt(time)) out->reset();
  return true;
}

Status RocksStore::ReadStored(const ReadPlace& place, uint64_t hash, Timestamp time, BytesView key,
                              std::optional<Record>* out, const ReadOptions& read) {
  rocksdb::ReadOptions how;
  how.snapshot = place.snapshot;
  rocksdb::PinnableSlice stored;
  const ReadSample sample(activity.reads);
  const rocksdb::Status status =
      InRocks([&] { return db->Get(how, FamilyOf(place.routing, key), ToSlice(key), &stored); });
  if (status.IsNotFound()) {
    out->reset();
    return {};
  }
  if (!status.ok()) return FromRocks(status);
  return Take(hash, key, stored.ToStringView(), place.version, time, out, read);
}

Status RocksStore::Take(uint64_t hash, BytesView key, BytesView stored, Version version, Timestamp time,
                        std::optional<Record>* out, const ReadOptions& read) {
  ValueHeader header;
  BytesView value;
  if (!DecodeStored(stored, &header, &value)) return DamagedValue(key);
  if (header.ExpiredAt(time) && !read.expired_too) {
    out->reset();
    return {};
  }
  cache.Fill(hash, key, header, value, version);
  if (!*out) out->emplace();
  (*out)->header = header;
  (*out)->value.assign(value);
  return {};
}

Status RocksStore::ReadMany(const ReadPlace& place, Timestamp time, std::span<const BytesView> keys,
                            std::span<std::optional<Record>> out, const ReadOptions& read) {
  std::vector<size_t> places;
  std::vector<uint64_t> hashes;
  std::vector<rocksdb::Slice> slices;
  std::vector<rocksdb::ColumnFamilyHandle*> where;
  std::array<uint64_t, kTogether> some;
  for (size_t from = 0; from < keys.size(); from += kTogether) {
    const size_t to = std::min(from + kTogether, keys.size());
    for (size_t i = from; i < to; ++i) cache.FetchSet(some[i - from] = KeyHash(keys[i]));
    for (size_t i = from; i < to; ++i) cache.FetchEntry(some[i - from]);
    for (size_t i = from; i < to; ++i) {
      const uint64_t hash = some[i - from];
      if (FindHot(hash, keys[i], place.version, time, &out[i], read)) continue;
      places.push_back(i);
      hashes.push_back(hash);
      slices.push_back(ToSlice(keys[i]));
      where.push_back(FamilyOf(place.routing, keys[i]));
    }
  }
  if (places.empty()) return {};
  rocksdb::ReadOptions how;
  how.snapshot = place.snapshot;
  std::vector<rocksdb::PinnableSlice> stored(places.size());
  std::vector<rocksdb::Status> statuses(places.size());
  const ReadSample sample(activity.reads);
  InRocks([&] { db->MultiGet(how, places.size(), where.data(), slices.data(), stored.data(), statuses.data()); });
  for (size_t i = 0; i < places.size(); ++i) {
    std::optional<Record>& record = out[places[i]];
    if (statuses[i].IsNotFound()) {
      record.reset();
      continue;
    }
    if (!statuses[i].ok()) return FromRocks(statuses[i]);
    KVARTS_CHECK_OK(Take(hashes[i], keys[places[i]], stored[i].ToStringView(), place.version, time, &record, read));
  }
  return {};
}

}  // namespace kvarts
