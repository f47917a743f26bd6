#include "api/open.h"

namespace kvarts {

Limits LimitsOf(const Options& options) {
  Limits limits;
  limits.max_key_bytes = options.max_key_bytes;
  limits.max_value_bytes = options.max_value_bytes;
  limits.max_commit_operations = options.max_commit_operations;
  limits.max_commit_bytes = options.max_commit_bytes;
  limits.max_page_entries = options.max_page_entries;
  limits.max_page_bytes = options.max_page_bytes;
  limits.max_views = options.max_views;
  limits.max_view_age = options.max_view_age;
  return limits;
}

RocksOptions RocksOptionsOf(const Options& options) {
  RocksOptions rocks;
  rocks.limits = LimitsOf(options);
  rocks.create_if_missing = options.create_if_missing;
  rocks.upgrade = options.upgrade;
  rocks.memory_budget = options.memory_budget_bytes;
  rocks.hot_cache_bytes = options.hot_cache_bytes;
  rocks.sync_interval = options.sync_interval;
  return rocks;
}

}  // namespace kvarts
