// Pages and counts of keys: bounded, deterministic, and resumed exactly by cursors that fit only their query.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "engine/engine.h"

namespace kvarts::keys {

struct PageQuery {
  KeyRange range = {};  // of user keys
  bool reverse = false;
  bool values = true;
  size_t limit = 100;
  size_t max_bytes = 1 << 20;
  std::string cursor = {};  // of the page before
  // A page that has stepped over more tombstones and expired values than this ends with what it has found, and fails as
  // `overloaded` when that is nothing. So does a count.
  uint64_t max_skipped = UINT64_MAX;
  Freshness freshness = {};
};

// What cursors are made with.
struct CursorSetting {
  Bytes secret;
  Duration max_age = Duration::Seconds(3600);
};

struct KeyPage {
  ScanPage scanned;  // of physical keys: UserKeyOf gives the user's
  std::optional<std::string> cursor;
  ReadCost cost;
};

Result<KeyPage> ReadPage(Engine& engine, const PageQuery& query, const CursorSetting& setting);

struct Count {
  uint64_t keys = 0;
  // Where to go on counting, when a call has looked at as many as it may.
  std::optional<std::string> cursor;
  ReadCost cost;
};
// Counts what is there, at most `at_most` keys in one call, and no further page once stop is requested.
Result<Count> CountKeys(Engine& engine, const PageQuery& query, const CursorSetting& setting, uint64_t at_most,
                        const std::stop_token& stop = {});

}  // namespace kvarts::keys
