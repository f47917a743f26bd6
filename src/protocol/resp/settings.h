// Settings: the parameters that clients may change while the server runs (CONFIG SET), as whoever goes by them reads
// them: from any thread. Which parameter is which is told by the table of parameters (parameters.h).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/durability.h"
#include "protocol/resp/output_limits.h"

namespace kvarts::resp {

// Numbers, truths among them as 0 and 1.
enum class Number : uint8_t {
  kMaxBulkBytes,
  kIdleSeconds,  // 0: a connection may rest for ever
  kSlowMicros,   // less than zero: no command is slow
  kMaxSlow,
  kLatencyMillis,  // 0: nothing is listened for
  kCountLatency,
  // What OBJECT ENCODING goes by; how things are stored does not depend on them.
  kHashEntries,
  kHashValue,
  kSetEntries,
  kSortedSetEntries,
  kSortedSetValue,
  kListSize,
  kMaxAclLog,
  kMaxTrackedKeys,  // 0: any number
  kCount_,
};

class Settings {
 public:
  // As the table of parameters has them.
  Settings();

  int64_t operator[](Number number) const { return At(number).load(std::memory_order_relaxed); }
  void Set(Number number, int64_t value) { At(number).store(value, std::memory_order_relaxed); }

  Durability durability() const { return durability_.load(std::memory_order_relaxed); }
  void SetDurability(Durability durability) { durability_ = durability; }

  OutputLimits output{};

 private:
  std::atomic<int64_t>& At(Number number) { return numbers_[static_cast<size_t>(number)]; }
  const std::atomic<int64_t>& At(Number number) const { return numbers_[static_cast<size_t>(number)]; }

  std::array<std::atomic<int64_t>, static_cast<size_t>(Number::kCount_)> numbers_{};
  std::atomic<Durability> durability_{Durability::kSync};
};

}  // namespace kvarts::resp
