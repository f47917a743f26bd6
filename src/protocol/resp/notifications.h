// Keyspace notifications: what happens to keys, published to channels, as notify-keyspace-events wants it.
//
// An event is told on __keyspace@0__:KEY, on __keyevent@0__:EVENT, or on both, in the order of commits. Safe from any
// thread; with nothing wanted nobody gathers any events (model/structure/key_events.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/structure/key_events.h"
#include "protocol/resp/channels.h"

namespace kvarts::resp {

class Notifications {
 public:
  // Both outlive it.
  Notifications(structure::KeyEvents& events, Channels& channels);

  // Of letters, as Redis has them; nothing when one of them is none of its own.
  static std::optional<uint32_t> FlagsOf(std::string_view letters);
  // In the order in which Redis shows them.
  static std::string LettersOf(uint32_t flags);

  uint32_t flags() const { return flags_.load(std::memory_order_relaxed); }
  void Set(uint32_t flags);

 private:
  void Publish(std::span<const structure::KeyEvent> events) const;

  structure::KeyEvents& events_;
  Channels& channels_;
  std::atomic<uint32_t> flags_{0};
};

}  // namespace kvarts::resp
