// A view: a consistent read point. It shows every commit up to its version, and nothing that has expired by its time.
// A view is used by one thread at a time. It must be closed (destroyed) before its engine, and soon: after
// Limits::max_view_age every call fails as `unavailable`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/consistency.h"
#include "base/result.h"
#include "base/version.h"
#include "encoding/key_range.h"
#include "engine/record.h"
#include "engine/session_token.h"

namespace kvarts {

// What reading cost, added up over calls.
struct ReadCost {
  uint64_t keys = 0;   // keys looked up or returned by scans
  uint64_t bytes = 0;  // of keys and values returned
  // Tombstones and expired values that scans had to step over; of tombstones that stand alone, one before each key may
  // be left out.
  uint64_t skipped = 0;

  ReadCost& operator+=(const ReadCost& other);
};

// How new what is read must be. Engines without replicas are always strong.
struct Freshness {
  Consistency consistency = Consistency::kStrong;
  // Of kSession: what must be seen. Without it kSession is kEventual.
  SessionToken session = {};
};

struct ReadOptions {
  bool expired_too = false;  // show values that have expired but are still stored
  ReadCost* cost = nullptr;  // added to, if given
  // A page that has stepped over more tombstones and expired values than this ends with what it has found so far; its
  // rest begins where it stopped. When it has found nothing it is given up as `overloaded`, with the fields `limit`
  // (max_skipped), `at_most`, `skipped` and `reached`: the key, escaped, with which a caller goes on who wants what
  // lies behind. Without `reached` nothing does.
  uint64_t max_skipped = UINT64_MAX;
  // Of reads of the newest; a view has its own.
  Freshness freshness = {};
};

// That error, for engines.
Error TooManySkipped(const ReadOptions& options, uint64_t skipped, std::optional<BytesView> reached);

struct ScanRequest {
  KeyRange range;
  bool reverse = false;
  bool keys_only = false;  // values stay empty; headers are there
  size_t max_entries = 1000;
  size_t max_bytes = 1 << 20;
  ReadOptions options;
};

// A page of a scan, in scan order. All keys and values lie in one buffer, so a page costs no allocation per entry.
class ScanPage {
 public:
  struct Entry {
    BytesView key;
    BytesView value;
    ValueHeader header;
  };

  size_t size() const { return places_.size(); }
  bool empty() const { return places_.empty(); }
  // Borrowed from the page.
  Entry operator[](size_t i) const {
    const Place& place = places_[i];
    const char* at = buffer_.data() + place.at;
    return {{at, place.key_size}, {at + place.key_size, place.value_size}, place.header};
  }
  // What is left of the range, in the same direction; nothing when the page reached the end.
  const std::optional<KeyRange>& rest() const { return rest_; }
  size_t bytes() const { return buffer_.size(); }

  // For engines.
  void Reserve(size_t entries, size_t bytes);
  void Append(BytesView key, BytesView value, const ValueHeader& header) {
    const size_t at = buffer_.size();
    buffer_.append(key).append(value);
    places_.push_back({at, static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size()), header});
  }
  void set_rest(KeyRange rest) { rest_ = std::move(rest); }
  // Sets the rest behind the last entry of this page.
  void StopAfterLast(const KeyRange& range, bool reverse);
  // Sets the rest so that it begins with `reached`.
  void StopAt(BytesView reached, const KeyRange& range, bool reverse);

 private:
  struct Place {
    size_t at;
    uint32_t key_size;
    uint32_t value_size;
    ValueHeader header;
  };
  Bytes buffer_;
  std::vector<Place> places_;
  std::optional<KeyRange> rest_;
};

class View {
 public:
  virtual ~View() = default;
  virtual Version version() const = 0;  // that of the newest commit it shows, or more
  virtual Timestamp time() const = 0;
  // out[i] is the record under keys[i], or nothing. Both spans have the same size.
  virtual Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
                     const ReadOptions& options) = 0;
  virtual Result<ScanPage> Scan(const ScanRequest& request) = 0;

  Result<std::optional<Record>> GetOne(BytesView key, const ReadOptions& options = {});
};

}  // namespace kvarts
