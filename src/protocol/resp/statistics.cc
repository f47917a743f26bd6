#include "protocol/resp/statistics.h"

#include "protocol/resp/command_table.h"

namespace kvarts::resp {

std::string_view KindOfError(std::string_view error) { return error.substr(0, error.find_first_of(" \r\n")); }

Statistics::Statistics() : counts_(CommandCount()) {}

Statistics::~Statistics() {
  for (const std::atomic<Counts*>& counts : counts_) delete counts.load();
}

Statistics::Counts& Statistics::CountsOf(const Command& command) {
  std::atomic<Counts*>& place = counts_[NumberOf(command)];
  Counts* counts = place.load(std::memory_order_acquire);
  if (counts != nullptr) return *counts;
  auto made = std::make_unique<Counts>();
  if (place.compare_exchange_strong(counts, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *counts;
}

void Statistics::Ran(const Command& command, uint64_t nanos, bool failed) {
  Counts& counts = CountsOf(command);
  counts.latency.Record(nanos);
  if (failed) counts.failed.fetch_add(1, std::memory_order_relaxed);
  commands_.fetch_add(1, std::memory_order_relaxed);
}

void Statistics::Rejected(const Command& command) {
  CountsOf(command).rejected.fetch_add(1, std::memory_order_relaxed);
}

void Statistics::Failed(std::string_view error) {
  const std::string_view kind = KindOfError(error);
  std::lock_guard lock(mutex_);
  auto found = errors_.find(kind);
  if (found == errors_.end()) {
    found = errors_.try_emplace(std::string(errors_.size() < kMaxKinds ? kind : kOtherKinds), 0).first;
  }
  ++found->second;
}

Statistics::Figures Statistics::Taken(size_t number) const {
  const Counts* counts = counts_[number].load(std::memory_order_acquire);
  if (counts == nullptr) return {};
  return {counts->latency.Take(), counts->rejected.load(), counts->failed.load()};
}

Statistics::Figures Statistics::Of(const Command& command) const {
  const size_t number = NumberOf(command);
  Figures figures = Taken(number);
  std::lock_guard lock(mutex_);
  const auto forgotten = forgotten_.find(number);
  if (forgotten == forgotten_.end()) return figures;
  figures.latency = figures.latency.Since(forgotten->second.latency);
  figures.rejected -= forgotten->second.rejected;
  figures.failed -= forgotten->second.failed;
  return figures;
}

std::map<std::string, uint64_t, std::less<>> Statistics::Errors() const {
  std::lock_guard lock(mutex_);
  return errors_;
}

void Statistics::Reset() {
  std::lock_guard lock(mutex_);
  for (size_t number = 0; number < counts_.size(); ++number) {
    if (counts_[number].load(std::memory_order_acquire) != nullptr) forgotten_[number] = Taken(number);
  }
  errors_.clear();
  commands_ = 0;
}

}  // namespace kvarts::resp
