#include "engine/rocksdb/rocks_engine.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "engine/rocksdb/background_listener.h"
#include "engine/rocksdb/committer.h"
#include "engine/rocksdb/directory.h"
#include "engine/rocksdb/expiry_filter.h"
#include "engine/rocksdb/in_rocks.h"
#include "engine/rocksdb/keeper.h"
#include "engine/rocksdb/log_check.h"
#include "engine/rocksdb/meta.h"
#include "engine/rocksdb/rocks_stats.h"
#include "engine/rocksdb/rocks_store.h"
#include "engine/rocksdb/rocks_verify.h"
#include "engine/rocksdb/tuning.h"
#include "engine/rocksdb/upgrade.h"

namespace kvarts {
namespace {

class RocksEngine final : public Engine {
 public:
  RocksEngine(DataDirectory directory, RocksOptions options)
      : directory_(std::move(directory)), store_(std::move(options), directory_.path()) {
    capabilities_ = {.name = "rocksdb", .persistent = true, .total_order = true, .reads_may_wait = false};
  }
  ~RocksEngine() override;

  Status Open();

  const Capabilities& capabilities() const override { return capabilities_; }
  const Limits& limits() const override { return store_.options.limits; }
  Result<std::unique_ptr<View>> OpenView(const Freshness&) override { return RocksView::Open(store_); }
  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override;
  void Submit(std::span<std::unique_ptr<Submission>> submissions) override { committer_->Submit(submissions); }
  void SetListener(CommitListener* listener) override { committer_->SetListener(listener); }
  Timestamp Now() const override { return store_.Now(); }
  Version LastVersion() const override { return store_.visible(); }
  Status Sync() override {
    return committer_->Exclusively([this] { return committer_->SyncLog(); });
  }
  Status AssignProfile(const KeyRange& range, Profile profile) override;
  Status Compact(const KeyRange& range, const std::stop_token& stop) override;
  std::vector<Error> VerifyFiles() override { return VerifyStored(store_, directory_.data_path(), kMaxFoundInFiles); }
  Result<RangeEstimate> Estimate(const KeyRange& range) override { return EstimateRange(store_, range); }
  Result<EngineStats> Stats() override;
  Health health() const override;
  double pressure() const override {
    return store_.stalled.load(std::memory_order_relaxed) ? 1 : store_.pressure.value();
  }

 private:
  Status OpenDatabase();
  Status StampClosed();
  rocksdb::Status TryOpen(const rocksdb::DBOptions& options,
                          const std::vector<rocksdb::ColumnFamilyDescriptor>& families);
  Status LoadMeta(Version* ceiling);
  Status LoadReclaims();
  Status AssignOnCommitThread(const KeyRange& range, Profile profile);
  Result<std::optional<Bytes>> ReadMeta(std::string_view key);

  DataDirectory directory_;
  RocksStore store_;
  Capabilities capabilities_;
  std::optional<MemoryPlan> plan_;
  std::shared_ptr<rocksdb::Cache> block_cache_;
  std::unique_ptr<rocksdb::Env> env_;                 // when a file system was given
  std::vector<std::pair<KeyRange, Bytes>> reclaims_;  // with the key of each one's record
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<Keeper> keeper_;
};

RocksEngine::~RocksEngine() {
  if (keeper_ != nullptr) keeper_->Stop();
  const bool all_on_disk = committer_ != nullptr && committer_->Close();
  committer_.reset();
  if (store_.db == nullptr) return;
  store_.Publish(nullptr);
  rocksdb::CancelAllBackgroundWork(store_.db.get(), true);
  for (rocksdb::ColumnFamilyHandle* family : store_.families) {
    if (family != nullptr) store_.db->DestroyColumnFamilyHandle(family).PermitUncheckedError();
  }
  if (store_.meta != nullptr) store_.db->DestroyColumnFamilyHandle(store_.meta).PermitUncheckedError();
  store_.db->Close().PermitUncheckedError();
  store_.db.reset();  // before env_, which it uses to the end
  // Without it the log's end counts as what a crash may leave.
  if (all_on_disk && !directory_.stamp().unfinished) IgnoreError(StampClosed());
}

Status RocksEngine::StampClosed() {
  Stamp stamp = directory_.stamp();
  KVARTS_TRY(stamp.closed, NewestLog(directory_.data_path()));
  return directory_.Restamp(stamp);
}

Status RocksEngine::Open() {
  KVARTS_CHECK_OK(CheckFormat(directory_, store_.options.upgrade));
  const Stamp stamp = directory_.stamp();
  if (stamp.unfinished) std::filesystem::remove_all(directory_.data_path());
  if (!stamp.unfinished && !std::filesystem::exists(directory_.data_path() + "/CURRENT")) {
    return Error(ErrorCode::kCorruption, "the data directory has a stamp but no data", {{"path", directory_.path()}});
  }
  KVARTS_CHECK_OK(OpenDatabase());
  KVARTS_CHECK_OK(stamp.unfinished ? WriteIdentity(stamp, store_) : UpgradeFormat(directory_, store_));
  KVARTS_CHECK_OK(CheckIdentity(directory_, store_));
  Version ceiling;
  KVARTS_CHECK_OK(LoadMeta(&ceiling));
  // After a crash, versions up to the ceiling may have been seen. Their time is about to come: it is waited for, so
  // that nothing expires early.
  const auto give_up =
      std::chrono::steady_clock::now() + std::chrono::microseconds(store_.options.version_reserve.micros);
  while (store_.clock->Now() < ceiling.time() && std::chrono::steady_clock::now() < give_up) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  store_.Publish(std::make_shared<const ReadPoint>(store_.db.get(), store_.routing, ceiling));
  committer_ = std::make_unique<Committer>(store_, ceiling, stamp.salt, [this](const KeyRange& range, Version version) {
    keeper_->Reclaim(range, ReclaimKey(version, range));
  });
  keeper_ = std::make_unique<Keeper>(
      store_, Keeper::CommitThread{
                  .run = [this](const std::function<Status()>& task) { return committer_->Exclusively(task); },
                  .may_have_changed = [this](const KeyRange& range,
                                             Version since) { return committer_->RangeMayHaveChanged(range, since); }});
  store_.keeper.store(keeper_.get(), std::memory_order_release);
  for (const auto& [range, record] : reclaims_) keeper_->Reclaim(range, record);
  if (!stamp.unfinished) return {};
  Stamp finished = stamp;
  finished.unfinished = false;
  finished.closed.reset();
  return directory_.Restamp(finished);
}

rocksdb::Status RocksEngine::TryOpen(const rocksdb::DBOptions& options,
                                     const std::vector<rocksdb::ColumnFamilyDescriptor>& families) {
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  rocksdb::Status status = rocksdb::DB::Open(options, directory_.data_path(), families, &handles, &db);
  if (!status.ok()) return status;
  store_.db.reset(db);
  store_.families = {handles[0], handles[1], handles[2]};
  store_.meta = handles[3];
  return status;
}

Status RocksEngine::OpenDatabase() {
  plan_.emplace(store_.options);
  block_cache_ = rocksdb::NewLRUCache(plan_->blocks_and_buffers);
  SharedTuning shared;
  shared.block_cache = block_cache_;
  shared.expiry_filter = MakeExpiryFilterFactory({.horizon = [this] { return store_.ExpiryHorizon(); },
                                                  .added = &store_.added,
                                                  .expired_counters = &store_.expired_counters,
                                                  .expiring_blobs = &store_.expiring_blobs,
                                                  .dropped = &store_.dropped_expired});
  rocksdb::DBOptions options = DatabaseOptions(store_.options, *plan_, shared);
  if (store_.options.file_system != nullptr) {
    env_ = rocksdb::NewCompositeEnv(store_.options.file_system);
    options.env = env_.get();
  }
  options.env->SetBackgroundThreads(store_.options.background_threads, rocksdb::Env::Priority::LOW);
  options.env->SetBackgroundThreads(1, rocksdb::Env::Priority::HIGH);
  // Compaction gives way to requests when both want the processor.
  options.env->LowerThreadPoolCPUPriority(rocksdb::Env::Priority::LOW);
  options.listeners.push_back(MakeBackgroundListener(store_));
  const auto family = [&](const char* name, Profile profile) {
    return rocksdb::ColumnFamilyDescriptor(name, FamilyOptions(profile, store_.options, *plan_, shared));
  };
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      family(kFamilyNames[0], Profile::kLookup), family(kFamilyNames[1], Profile::kIngest),
      family(kFamilyNames[2], Profile::kWindow), rocksdb::ColumnFamilyDescriptor("meta", MetaFamilyOptions(shared))};
  if (std::filesystem::exists(directory_.data_path() + "/CURRENT")) {
    KVARTS_TRY(const LiveLogs live, FindLiveLogs(directory_.data_path(), options.env));
    KVARTS_TRY(const LogCheck check, CheckLogs(directory_.data_path(), live, directory_.stamp()));
    if (check.torn) KVARTS_CHECK_OK(TrimLogs(check));
  }
  const rocksdb::Status status = TryOpen(options, families);
  return status.ok() ? Status{} : FromRocks(status);
}

Result<std::optional<Bytes>> RocksEngine::ReadMeta(std::string_view key) {
  Bytes value;
  const rocksdb::Status status = InRocks([&] { return store_.db->Get({}, store_.meta, ToSlice(key), &value); });
  if (status.IsNotFound()) return std::optional<Bytes>();
  if (!status.ok()) return FromRocks(status);
  return std::optional<Bytes>(std::move(value));
}

Status RocksEngine::LoadMeta(Version* ceiling) {
  KVARTS_TRY(const std::optional<Bytes> stored_ceiling, ReadMeta(kMetaCeiling));
  if (stored_ceiling) {
    if (stored_ceiling->size() != sizeof(uint64_t))
      return Error(ErrorCode::kCorruption, "the version ceiling is damaged");
    *ceiling = {LoadLittle<uint64_t>(stored_ceiling->data())};
  }
  KVARTS_TRY(const std::optional<Bytes> stored_totals, ReadMeta(kMetaTotals));
  if (stored_totals) {
    KVARTS_TRY(const Totals totals, Totals::Decode(*stored_totals));
    store_.user_bytes += totals.user_bytes;
    store_.storage_bytes += totals.storage_bytes;
    store_.commits += totals.commits;
  }
  KVARTS_TRY(const std::optional<Bytes> added, ReadMeta(kMetaAdded));
  if (added && added->size() == sizeof(uint64_t)) store_.added.StartAt({LoadLittle<uint64_t>(added->data())});
  KVARTS_TRY(const std::optional<Bytes> blobs, ReadMeta(kMetaExpiringBlobs));
  if (blobs) store_.expiring_blobs = true;
  KVARTS_TRY(const std::optional<Bytes> profiles, ReadMeta(kMetaProfiles));
  auto routing = std::make_shared<const Routing>(std::vector<Routing::Assignment>());
  if (profiles) {
    KVARTS_TRY(routing, Routing::Decode(*profiles));
  }
  store_.routing = routing;
  return InRocks([this] { return LoadReclaims(); });
}

Status RocksEngine::LoadReclaims() {
  const std::unique_ptr<rocksdb::Iterator> it(store_.db->NewIterator({}, store_.meta));
  for (it->Seek(ToSlice(kMetaReclaim)); it->Valid(); it->Next()) {
    const BytesView key = it->key().ToStringView();
    if (!key.starts_with(kMetaReclaim)) break;
    KVARTS_TRY(KeyRange range, DecodeRange(it->value().ToStringView()));
    reclaims_.emplace_back(std::move(range), key);
  }
  return it->status().ok() ? Status{} : FromRocks(it->status());
}

Status RocksEngine::Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
                        const ReadOptions& options) {
  if (keys.size() == 1) return store_.ReadNewest(keys[0], &out[0], options);
  KVARTS_TRY(const std::unique_ptr<View> view, OpenView({}));
  return view->Get(keys, out, options);
}

Status RocksEngine::AssignProfile(const KeyRange& range, Profile profile) {
  if (range.IsEmpty()) return Error(ErrorCode::kInvalidArgument, "a range must start before it ends");
  return committer_->Exclusively([&] { return AssignOnCommitThread(range, profile); });
}

Status RocksEngine::AssignOnCommitThread(const KeyRange& range, Profile profile) {
  const Routing& current = *store_.routing;
  if (current.Has(range, profile)) return {};
  KVARTS_TRY(std::shared_ptr<const Routing> next, current.With(range, profile));
  ScanRequest request;
  request.range = range;
  request.max_entries = 1;
  request.options.expired_too = true;
  KVARTS_TRY(const ScanPage page, store_.Scan(store_.Latest(), store_.Now(), request));
  if (!page.empty()) {
    return Error(ErrorCode::kPreconditionFailed, "a range with keys in it cannot be given a profile",
                 {{"range", range.ToString()}, {"key", Escaped(page[0].key)}});
  }
  rocksdb::WriteOptions how;
  how.sync = true;
  how.no_slowdown = true;
  const Bytes encoded = next->Encode();
  const rocksdb::Status status =
      InRocks([&] { return store_.db->Put(how, store_.meta, ToSlice(kMetaProfiles), encoded); });
  if (!status.ok()) return FromRocks(status);
  store_.routing = std::move(next);
  store_.Publish(std::make_shared<const ReadPoint>(store_.db.get(), store_.routing, store_.visible()));
  return {};
}

Status RocksEngine::Compact(const KeyRange& range, const std::stop_token& stop) {
  std::atomic<bool> stopped = false;
  const std::stop_callback stops(stop, [&stopped] { stopped = true; });
  rocksdb::CompactRangeOptions how;
  how.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  how.canceled = &stopped;
  const std::shared_lock compacting(store_.compacting);
  for (const Routing::Segment& segment : store_.CurrentPoint()->routing->Segments(range)) {
    const rocksdb::Slice start(segment.range.start);
    const rocksdb::Slice end(segment.range.end);
    rocksdb::ColumnFamilyHandle* family = store_.families[static_cast<size_t>(segment.profile)];
    const rocksdb::Status status =
        InRocks([&] { return store_.db->CompactRange(how, family, &start, segment.range.HasEnd() ? &end : nullptr); });
    // Not by `stopped`: what else went wrong is told also when nobody wants the compaction any more.
    if (status.IsManualCompactionPaused()) return CompactionStopped();
    if (!status.ok()) return FromRocks(status);
  }
  return {};
}

Result<EngineStats> RocksEngine::Stats() {
  KVARTS_TRY(EngineStats stats, CollectStats(store_, *block_cache_));
  const Committer::Waiting waiting = committer_->waiting();
  stats.commit_path.queued = waiting.commits;
  stats.commit_path.queued_bytes = waiting.bytes;
  const Health now = health();
  stats.writable = now.writable;
  stats.not_writable_because = now.reason;
  stats.pressure = pressure();
  return stats;
}

Health RocksEngine::health() const {
  const WriteState state = store_.write_state.load();
  if (state != WriteState::kWritable) return {false, WriteStateText(state)};
  if (store_.stalled.load()) return {false, "compaction cannot keep up with the writes"};
  return {};
}

}  // namespace

Result<std::unique_ptr<Engine>> OpenRocksEngine(const std::string& dir, RocksOptions options) {
  const Timestamp now = options.clock ? options.clock->Now() : SystemClock().Now();
  KVARTS_TRY(DataDirectory directory, DataDirectory::Open(dir, options.create_if_missing, now));
  auto engine = std::make_unique<RocksEngine>(std::move(directory), std::move(options));
  KVARTS_CHECK_OK(engine->Open());
  return engine;
}

}  // namespace kvarts
