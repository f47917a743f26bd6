// Wide partitions: the largest of those that are written to.
//
// Nobody keeps the size of every partition. What is known at any time are the hottest written prefixes
// (base/top_keys.h), and what a range holds can be estimated; so those are estimated, and the largest that were ever
// seen are remembered and estimated again. A prefix here ends where the partition does that the key's namespace
// declares, or, where there is none, behind a delimiter.
#pragma once

#include <vector>

#include "base/top_keys.h"
#include "engine/engine.h"
#include "model/catalog/catalog.h"

namespace kvarts::http {

// The prefixes of a key, for the sketch of hot keys: up to its partition, if a namespace governs it.
size_t CutAtPartition(const NamespaceTable& table, BytesView key, PrefixEnds* ends);

// The name of the namespace that a key is counted for: its own, or of a key that is refused the nearest. "(none)" when
// there is none, and nothing while there are no namespaces at all. It lies in the table, or is a constant.
BytesView NamespaceOf(const NamespaceTable& table, BytesView key);

struct Partition {
  Bytes prefix;
  RangeEstimate holds;
};

// Of prefixes those that are no prefix of another: where one stands for what is in it, the parts tell more.
std::vector<HotKey> Innermost(std::vector<HotKey> prefixes);

// Belongs to one thread at a time.
class WidestPartitions {
 public:
  static constexpr size_t kShown = 8;
  static constexpr size_t kLookedAt = 32;  // of those that are hot

  // Estimates again, the largest first. What cannot be estimated is left out.
  const std::vector<Partition>& Update(Engine& engine, const HotKeys& hot);

 private:
  std::vector<Partition> widest_;
};

}  // namespace kvarts::http
