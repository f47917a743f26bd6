// How a database is opened. Every field has a default that suits a service on one machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kvarts/durability.h"
#include "kvarts/time.h"

namespace kvarts {

struct Options {
  // Make the data directory if it is not there; otherwise a missing one is `not_found`.
  bool create_if_missing = true;
  // Bring a directory of the previous format up to date instead of refusing it.
  bool upgrade = false;

  // Of writes that do not say otherwise.
  Durability durability = Durability::kSync;
  // How long after its acknowledgement an `interval` write may be lost with the machine.
  Duration sync_interval = Duration::Millis(100);

  // For hot values, blocks, indexes, filters and write buffers together.
  size_t memory_budget_bytes = 512 << 20;
  // Of that, for values that are read over and over.
  size_t hot_cache_bytes = 64 << 20;

  // Limits. What exceeds one is refused with an error that names it, and nothing is written.
  size_t max_key_bytes = 8 << 10;
  size_t max_value_bytes = 16 << 20;
  size_t max_commit_operations = 20'000;
  size_t max_commit_bytes = 64 << 20;
  size_t max_page_entries = 10'000;
  size_t max_page_bytes = 8 << 20;
  // Snapshots that are open, and scans and transactions under way: how many, and how old each may become.
  size_t max_views = 4096;
  Duration max_view_age = Duration::Seconds(60);
  Duration max_cursor_age = Duration::Seconds(3600);
  // Changes, and bytes of them, that a watch may be behind before it is cut off.
  size_t max_watch_backlog = 10'000;
  size_t max_watch_backlog_bytes = 64 << 20;
};

struct WriteOptions {
  // How long the value lives; for ever if not given. It is gone for every reader at its instant.
  std::optional<Duration> ttl = {};
  // Options::durability if not given.
  std::optional<Durability> durability = {};
};

}  // namespace kvarts
