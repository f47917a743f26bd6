// The records that the engine keeps for itself, in a column family of their own. FORMAT.md has their bytes.
#pragma once

#include <string_view>

#include "base/bytes.h"
#include "base/version.h"
#include "encoding/key_range.h"

namespace kvarts {

// The identity of the store, as its stamp has it.
constexpr std::string_view kMetaIdentity = "identity";
// No version at or above this was issued before the record was synced.
constexpr std::string_view kMetaCeiling = "ceiling";
// Bytes written and commits made since the store was created.
constexpr std::string_view kMetaTotals = "totals";
// Which ranges have a profile of their own.
constexpr std::string_view kMetaProfiles = "profiles";
// Large values with an expiry were written: compaction must look into blobs.
constexpr std::string_view kMetaExpiringBlobs = "expiring-blobs";
// No add was made at or after this version and left as an operand.
constexpr std::string_view kMetaAdded = "added";
// "reclaim/", a version and a range: a range whose files may be dropped.
constexpr std::string_view kMetaReclaim = "reclaim/";

Bytes ReclaimKey(Version version, const KeyRange& range);
Bytes EncodeRange(const KeyRange& range);
Result<KeyRange> DecodeRange(BytesView bytes);

struct Totals {
  uint64_t user_bytes = 0;
  uint64_t storage_bytes = 0;
  uint64_t commits = 0;

  Bytes Encode() const;
  static Result<Totals> Decode(BytesView bytes);
};

// In the log with every group, where only log_check.h reads it: what tells a torn end of the log from damage.
struct LogMark {
  Version synced;     // everything up to here was on disk before this group was written
  Version log_start;  // everything up to here is in an older log
  Version last;       // the version of this group
  uint64_t salt = 0;  // of the stamp; zero in stores of before there were any

  Bytes Encode() const;
  static bool Decode(BytesView blob, LogMark* mark);
};

}  // namespace kvarts
