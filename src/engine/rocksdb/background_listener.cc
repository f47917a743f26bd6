#include "engine/rocksdb/background_listener.h"

#include "base/stopwatch.h"
#include "engine/rocksdb/keeper.h"

namespace kvarts {
namespace {

// The family of the engine's own records belongs to no profile.
std::optional<Profile> ProfileOfFamily(const std::string& name) {
  if (name == kFamilyNames[0]) return Profile::kLookup;
  if (name == kFamilyNames[1]) return Profile::kIngest;
  if (name == kFamilyNames[2]) return Profile::kWindow;
  return std::nullopt;
}

class BackgroundListener final : public rocksdb::EventListener {
 public:
  explicit BackgroundListener(RocksStore& store) : store_(store) {}

  void OnFlushBegin(rocksdb::DB*, const rocksdb::FlushJobInfo&) override { flushing_.emplace(); }
  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo& info) override {
    WorkStats flush{.count = 1, .bytes_written = info.table_properties.data_size};
    for (const rocksdb::BlobFileAdditionInfo& blobs : info.blob_file_addition_infos) {
      flush.bytes_written += blobs.total_blob_bytes;
    }
    if (flushing_) flush.micros = static_cast<uint64_t>(flushing_->Elapsed().micros);
    flushing_.reset();
    store_.storage_bytes.fetch_add(flush.bytes_written, std::memory_order_relaxed);
    if (const auto profile = ProfileOfFamily(info.cf_name)) store_.activity.background.AddFlush(*profile, flush);
    HurryKeeper();
  }
  void OnCompactionCompleted(rocksdb::DB*, const rocksdb::CompactionJobInfo& info) override {
    const WorkStats compaction{.count = 1,
                               .bytes_read = info.stats.total_input_bytes + info.stats.total_blob_bytes_read,
                               .bytes_written = info.stats.total_output_bytes + info.stats.total_output_bytes_blob,
                               .micros = info.stats.elapsed_micros};
    store_.storage_bytes.fetch_add(compaction.bytes_written, std::memory_order_relaxed);
    if (const auto profile = ProfileOfFamily(info.cf_name)) {
      store_.activity.background.AddCompaction(*profile, compaction);
    }
  }
  // Whoever begins a new log does it here, at the head of the queue of writers.
  void OnMemTableSealed(const rocksdb::MemTableInfo&) override {
    if (store_.db != nullptr) store_.log_began.store(store_.db->GetLatestSequenceNumber(), std::memory_order_release);
    HurryKeeper();
  }
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) override {
    WriteState state = WriteState::kFailed;
    if (error->IsNoSpace()) state = WriteState::kDiskFull;
    if (error->IsCorruption()) state = WriteState::kDamaged;
    store_.RaiseWriteState(state);
  }

 private:
  // What has changed may have changed the pressure.
  void HurryKeeper() {
    if (Keeper* const keeper = store_.keeper.load(std::memory_order_acquire)) keeper->Hurry();
  }

  // A flush begins and ends on one thread.
  static inline thread_local std::optional<Stopwatch> flushing_;

  RocksStore& store_;
};

}  // namespace

std::shared_ptr<rocksdb::EventListener> MakeBackgroundListener(RocksStore& store) {
  return std::make_shared<BackgroundListener>(store);
}

}  // namespace kvarts
