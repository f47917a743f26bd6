#include "api/table_service.h"

#include "base/log.h"

namespace kvarts {
namespace {

// How often is looked for rows whose time has come, and for buckets that are not kept any more.
constexpr std::chrono::seconds kKeeperInterval(1);
constexpr int kRoundsUntilRetention = 3600;

}  // namespace

TableService::~TableService() {
  keeper_ = {};
  if (jobs_ != nullptr) jobs_->Stop();
}

Result<Tables*> TableService::Open() {
  const std::unique_lock lock(mutex_);
  if (tables_ != nullptr) return tables_.get();
  KVARTS_TRY(tables_, Tables::Open(store_));
  jobs_ = std::make_unique<JobRunner>(store_, tables_->JobKinds());
  jobs_->Start();
  keeper_ = std::jthread([this](const std::stop_token& stop) { Keep(stop); });
  return tables_.get();
}

RunOptions TableService::RunOptionsOf(std::optional<Durability> durability) const {
  RunOptions run;
  run.durability = durability.value_or(options_.durability);
  return run;
}

void TableService::Keep(const std::stop_token& stop) {
  std::mutex alone;
  std::unique_lock lock(alone);
  for (int round = 0; !stop.stop_requested(); ++round) {
    // What cannot be started now is tried again.
    IgnoreError(tables_->StartExpiry());
    if (round % kRoundsUntilRetention == 0) IgnoreError(tables_->StartRetention());
    wake_.wait_for(lock, stop, kKeeperInterval, [] { return false; });
  }
}

}  // namespace kvarts
