// A line of an export, as a change that can be committed.
//
//   {"key": "user:1", "value": "Ada", "version": "…", "expiry": "2026-07-05T10:15:30.000000Z"}
//   {"key_base64": "AP8=", "value": {"a": 1}, "ttl": 30}
//   {"key": "hits", "value": 17, "counter": true, "expiry": null}
//   {"end": true, "count": 2}
//
// Versions are the writer's own and are not taken over. An expiry is an instant, so what is left of it counts; what has
// expired meanwhile is not written. What says that it never expires never does, whatever the default of its namespace.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/result.h"

namespace kvarts::cli {

struct ImportLine {
  enum class Kind : unsigned char { kBlank, kItem, kExpired, kEnd };

  Kind kind = Kind::kBlank;
  std::string mutation = {};  // of an item: a put, as POST /commit has it
  bool exported = false;      // it has a version, as no line has that was made by hand
  uint64_t count = 0;         // of the end: the items before it
};

// `invalid_argument` says what is wrong with it.
Result<ImportLine> ParseImportLine(std::string_view line, Timestamp now);

}  // namespace kvarts::cli
