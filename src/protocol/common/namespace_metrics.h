// What a loop counts by namespace, in a bounded number of places. Tables and their indexes count as namespaces whose
// names have slashes in them, which no other has: "acme/shop/orders", "acme/shop/orders/by_state".
//
// The first kMaxNamed namespaces that are used get a place each, for as long as the process lives; what comes after
// them shares one. Requests with keys that no namespace governs share one too, and so do requests whose keys are of
// several. The names of those are in brackets, which no namespace can have. While there are no namespaces nothing is
// counted: then all there is to know is in LoopMetrics.
//
// A NamespaceMetrics belongs to one loop, which finds the place of a key (the match of a grammar) and counts there;
// anybody may read it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/catalog/namespace_table.h"
#include "protocol/common/loop_metrics.h"

namespace kvarts {

// Which namespace has which place; shared by all loops.
class NamespacePlaces {
 public:
  static constexpr size_t kMaxNamed = 64;
  static constexpr uint8_t kUngoverned = 0;
  static constexpr uint8_t kSeveral = 1;
  static constexpr uint8_t kOther = 2;
  static constexpr uint8_t kFirstNamed = 3;
  static constexpr size_t kCount = kFirstNamed + kMaxNamed;
  // Of a request without keys.
  static constexpr uint8_t kNowhere = 255;

  // The place of a namespace, which it gets if there is one left.
  uint8_t PlaceOf(std::string_view name);
  // "(none)", "(several)", "(other)", and those of namespaces; empty when the place is not taken.
  std::string NameOf(uint8_t place) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> names_;
};

// Of what happened in one place.
struct NamespaceCounts {
  std::array<LatencyHistogram, kOperations> latency;
  std::array<LoopCounter, 6> answers;  // by the first digit of their status
  LoopCounter keys_read;
  LoopCounter bytes_read;
  LoopCounter keys_written;
  LoopCounter bytes_written;
  LoopCounter tombstones_skipped;
};

class NamespaceMetrics {
 public:
  explicit NamespaceMetrics(NamespacePlaces& places) : places_(places) {}
  ~NamespaceMetrics();
  NamespaceMetrics(const NamespaceMetrics&) = delete;
  NamespaceMetrics& operator=(const NamespaceMetrics&) = delete;

  // Where a request is counted that has a key more: at `place` were those that it had before.
  uint8_t PlaceWith(uint8_t place, const NamespaceTable& table, BytesView key);
  // The same for a table or an index, which is there.
  uint8_t PlaceWithTable(uint8_t place, std::string_view name);
  // For the loop to count in; `place` is one of places.
  NamespaceCounts& At(uint8_t place);
  // From any thread; null when nothing was counted there.
  const NamespaceCounts* Find(uint8_t place) const { return counts_[place].load(std::memory_order_acquire); }

 private:
  // Tables are kept as long as the catalog, so a pointer stands for the same namespace for ever.
  static constexpr size_t kMaxKnown = 4096;

  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };

  uint8_t PlaceOf(const Namespace* space);

  NamespacePlaces& places_;
  std::unordered_map<const Namespace*, uint8_t> known_;
  std::unordered_map<std::string, uint8_t, NameHash, std::equal_to<>> tables_;
  NamespaceTable::Reading reading_;
  std::array<std::atomic<NamespaceCounts*>, NamespacePlaces::kCount> counts_{};
};

}  // namespace kvarts
