#include "engine/rocksdb/expiry_filter.h"

#include <rocksdb/compaction_filter.h>

#include <utility>

#include "engine/rocksdb/key_hash.h"
#include "engine/rocksdb/value_codec.h"

namespace kvarts {

void ExpiredCounters::Offer(BytesView key) {
  std::lock_guard lock(mutex_);
  if (keys_.size() >= kMost) return;
  keys_.emplace_back(key);
  count_.store(keys_.size(), std::memory_order_relaxed);
}

std::vector<Bytes> ExpiredCounters::Take() {
  std::lock_guard lock(mutex_);
  count_.store(0, std::memory_order_relaxed);
  return std::exchange(keys_, {});
}

namespace {

class ExpiryFilter final : public rocksdb::CompactionFilter {
 public:
  ExpiryFilter(Timestamp horizon, const ExpiryFilterOptions& options) : horizon_(horizon), options_(options) {}

  const char* Name() const override { return "kvarts.expiry"; }

  Decision FilterV2(int, const rocksdb::Slice& key, ValueType type, const rocksdb::Slice& stored, std::string*,
                    std::string*) const override {
    if (type != ValueType::kValue) return Decision::kKeep;
    ValueHeader header;
    BytesView value;
    if (!DecodeStored(stored.ToStringView(), &header, &value)) return Decision::kKeep;
    if (header.owned || !header.ExpiredAt(horizon_)) return Decision::kKeep;
    if (options_.added->MayHave(KeyHash(key.ToStringView()), header.version)) {
      options_.expired_counters->Offer(key.ToStringView());
      return Decision::kKeep;
    }
    options_.dropped->fetch_add(1, std::memory_order_relaxed);
    return Decision::kRemove;
  }

  Decision FilterBlobByKey(int, const rocksdb::Slice&, std::string*, std::string*) const override {
    return options_.expiring_blobs->load(std::memory_order_relaxed) ? Decision::kUndetermined : Decision::kKeep;
  }

 private:
  const Timestamp horizon_;
  const ExpiryFilterOptions& options_;
};

class ExpiryFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  explicit ExpiryFilterFactory(ExpiryFilterOptions options) : options_(std::move(options)) {}

  const char* Name() const override { return "kvarts.expiry"; }

  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    return std::make_unique<ExpiryFilter>(options_.horizon(), options_);
  }

 private:
  const ExpiryFilterOptions options_;
};

}  // namespace

std::shared_ptr<rocksdb::CompactionFilterFactory> MakeExpiryFilterFactory(ExpiryFilterOptions options) {
  return std::make_shared<ExpiryFilterFactory>(std::move(options));
}

}  // namespace kvarts
