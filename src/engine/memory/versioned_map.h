// VersionedMap: every key with what was written under it, as far back as an open view can look.
//
// Simple on purpose, because the other engines are compared with it: a key has a list of entries,
// oldest first, and an erasure is an entry without a record. Entries that no reader can reach go
// away when their key is written again, or in Sweep. Not safe from several threads: MemoryEngine
// holds its lock around every call.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/version.h"
#include "encoding/key_range.h"
#include "engine/commit.h"
#include "engine/record.h"
#include "engine/view.h"

namespace kvarts {

// Where a reader stands: it sees commits up to a version, and of their values those that live at a
// time.
struct ReadPoint {
  Version version;
  Timestamp time;
};

class VersionedMap {
 public:
  // Beyond this many remembered erasures the old ones are forgotten (see ChangedSince).
  explicit VersionedMap(size_t max_erasures) : max_erasures_(max_erasures) {}

  // The record under `key`, or null. Borrowed until the next change.
  const Record* Find(BytesView key, const ReadPoint& at, bool expired_too) const;
  void Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out, const ReadPoint& at,
           const ReadOptions& options) const;
  // `overloaded` when it steps over more than it may.
  Result<ScanPage> Scan(const ScanRequest& request, const ReadPoint& at) const;

  // Whether anything in the range was written after `version`. Always true for a version so old
  // that erasures after it have been forgotten.
  bool ChangedSince(const KeyRange& range, Version version) const;

  // Mutations of one commit come in their order, all with its version. Nobody reads before `oldest`
  // any more.
  void Apply(const Mutation& mutation, Version version, const ReadPoint& oldest);

  // Lets go of what nobody can read from `oldest` on; owned values stay even when they have
  // expired.
  void Sweep(const KeyRange& range, const ReadPoint& oldest);

  size_t keys() const { return keys_.size(); }
  size_t entries() const;
  // Of the newest records' keys and values.
  size_t LiveBytes() const;
  // The newest records of a range, and the bytes of their keys and values.
  void CountRange(const KeyRange& range, uint64_t* records, uint64_t* bytes) const;

 private:
  struct Entry {
    Version version;
    std::optional<Record> record;  // nothing: erased
  };
  using Entries = std::vector<Entry>;
  using Keys = std::map<Bytes, Entries, std::less<>>;

  static const Entry* EntryAt(const Entries& entries, Version version);
  static void DropUnreachable(Entries* entries, const ReadPoint& oldest);
  std::pair<Keys::const_iterator, Keys::const_iterator> Slice(const KeyRange& range) const;
  void Write(BytesView key, std::optional<Record> record, Version version, const ReadPoint& oldest);
  void EraseRange(const KeyRange& range, Version version, const ReadPoint& oldest);
  void ForgetErasures(const ReadPoint& oldest);

  size_t max_erasures_;
  size_t erasures_ = 0;   // written since the last ForgetErasures
  Version forgotten_to_;  // erasures up to this version may have been forgotten
  Keys keys_;
  std::vector<std::pair<Version, KeyRange>> erased_ranges_;
};

}  // namespace kvarts
