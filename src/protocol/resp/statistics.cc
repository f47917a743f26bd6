#include "protocol/resp/statistics.h"

namespace kvarts::resp {

std::string_view KindOfError(std::string_view error) { return error.substr(0, error.find_first_of(" \r\n")); }

Statistics::Statistics() = default;

Statistics::~Statistics() {
  for (const Part& part : parts_) {
    for (const std::atomic<Counts*>& counts : part.counts) delete counts.load();
  }
}

Statistics::Part& Statistics::PartHere() {
  static std::atomic<size_t> next{0};
  thread_local const size_t here = next.fetch_add(1, std::memory_order_relaxed) % kParts;
  return parts_[here];
}

Statistics::Counts& Statistics::CountsOf(Part& part, const Command& command) {
  std::atomic<Counts*>& place = part.counts[NumberOf(command)];
  Counts* counts = place.load(std::memory_order_acquire);
  if (counts != nullptr) return *counts;
  auto made = std::make_unique<Counts>();
  if (place.compare_exchange_strong(counts, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *counts;
}

void Statistics::Ran(const Command& command, uint64_t nanos, bool failed) {
  Part& part = PartHere();
  Counts& counts = CountsOf(part, command);
  counts.latency.Record(nanos);
  if (failed) counts.failed.fetch_add(1, std::memory_order_relaxed);
  part.commands.fetch_add(1, std::memory_order_relaxed);
}

void Statistics::Rejected(const Command& command) {
  CountsOf(PartHere(), command).rejected.fetch_add(1, std::memory_order_relaxed);
}

uint64_t Statistics::commands() const {
  uint64_t sum = 0;
  for (const Part& part : parts_) sum += part.commands.load(std::memory_order_relaxed);
  return sum;
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
  Figures figures;
  for (const Part& part : parts_) {
    const Counts* counts = part.counts[number].load(std::memory_order_acquire);
    if (counts == nullptr) continue;
    figures.latency += counts->latency.Take();
    figures.rejected += counts->rejected.load();
    figures.failed += counts->failed.load();
  }
  return figures;
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
  for (size_t number = 0; number < CommandCount(); ++number) {
    Figures figures = Taken(number);
    if (figures.latency.Count() + figures.rejected + figures.failed != 0) forgotten_[number] = std::move(figures);
  }
  errors_.clear();
  for (Part& part : parts_) part.commands = 0;
}

}  // namespace kvarts::resp
