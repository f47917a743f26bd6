// What the acknowledgement of a commit promises. One scale for every engine and protocol.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kvarts {

enum class Durability : uint8_t {
  kNone,      // logged; a crash of the machine may lose it
  kInterval,  // logged, synced within the sync interval
  kSync,      // on disk
  kQuorum,    // on the disks of enough replicas
  kApplied,   // readable on the replicas
};

std::string_view DurabilityName(Durability durability);
std::optional<Durability> ParseDurability(std::string_view name);

}  // namespace kvarts
