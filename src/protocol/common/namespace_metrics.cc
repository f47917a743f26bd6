#include "protocol/common/namespace_metrics.h"

#include <algorithm>

namespace kvarts {

uint8_t NamespacePlaces::PlaceOf(std::string_view name) {
  std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end()) {
    if (names_.size() == kMaxNamed) return kOther;
    names_.emplace_back(name);
    return static_cast<uint8_t>(kFirstNamed + names_.size() - 1);
  }
  return static_cast<uint8_t>(kFirstNamed + (found - names_.begin()));
}

std::string NamespacePlaces::NameOf(uint8_t place) const {
  if (place == kUngoverned) return "(none)";
  if (place == kSeveral) return "(several)";
  if (place == kOther) return "(other)";
  std::lock_guard lock(mutex_);
  const size_t named = size_t{place} - kFirstNamed;
  return named < names_.size() ? names_[named] : "";
}

NamespaceMetrics::~NamespaceMetrics() {
  for (const auto& counts : counts_) delete counts.load(std::memory_order_relaxed);
}

uint8_t NamespaceMetrics::PlaceOf(const Namespace* space) {
  if (space == nullptr) return NamespacePlaces::kUngoverned;
  if (const auto known = known_.find(space); known != known_.end()) return known->second;
  if (known_.size() == kMaxKnown) known_.clear();
  return known_[space] = places_.PlaceOf(space->spec.name);
}

uint8_t NamespaceMetrics::PlaceWithTable(uint8_t place, std::string_view name) {
  if (place == NamespacePlaces::kSeveral) return place;
  auto known = tables_.find(name);
  if (known == tables_.end()) {
    if (tables_.size() == kMaxKnown) tables_.clear();
    known = tables_.emplace(name, places_.PlaceOf(name)).first;
  }
  const uint8_t its = known->second;
  return place == NamespacePlaces::kNowhere || place == its ? its : NamespacePlaces::kSeveral;
}

uint8_t NamespaceMetrics::PlaceWith(uint8_t place, const NamespaceTable& table, BytesView key) {
  if (table.entries().empty() || place == NamespacePlaces::kSeveral) return place;
  // A key that is refused belongs to the namespace whose grammar it follows furthest: that is where somebody will look.
  table.Read(key, &reading_);
  const uint8_t its = PlaceOf(reading_.space);
  return place == NamespacePlaces::kNowhere || place == its ? its : NamespacePlaces::kSeveral;
}

NamespaceCounts& NamespaceMetrics::At(uint8_t place) {
  std::atomic<NamespaceCounts*>& counts = counts_[place];
  if (NamespaceCounts* const known = counts.load(std::memory_order_relaxed)) return *known;
  counts.store(new NamespaceCounts, std::memory_order_release);
  return *counts.load(std::memory_order_relaxed);
}

}  // namespace kvarts
