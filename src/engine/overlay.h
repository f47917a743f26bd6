// Overlay: writes that are not in the engine yet, and a view that shows them on top of another view.
//
// A transaction reads its own writes through one, and an engine that decides several commits before it writes them
// shows the earlier ones to the later ones through another. Mutations are applied in order; the newest wins. Not safe
// for use by several threads.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/commit.h"
#include "engine/view.h"

namespace kvarts {

class Overlay {
 public:
  // What the overlay knows about a key.
  struct Change {
    // The record under the key, or nothing if it was erased. Unless adds_to_base: then only `deltas` are known.
    std::optional<Record> record;
    std::vector<int64_t> deltas;  // adds to whatever lies beneath, in order
    Version version;              // of the newest change
    bool adds_to_base = false;
  };

  bool empty() const { return changes_.empty() && erased_.empty(); }
  void Clear();
  // `now` is the commit's time: what an add meets may have expired by it.
  void Apply(const Mutation& mutation, Version version, Timestamp now);

  // Nothing when the overlay does not touch the key.
  const Change* Find(BytesView key) const;
  // Whether the key lies in a range that was erased; a newer Change of the key wins over this.
  bool InErasedRange(BytesView key) const;
  // The record that results from a change on top of what lies beneath, at time `now`.
  static std::optional<Record> Resolve(const Change& change, std::optional<Record> beneath, Timestamp now);

  const std::map<Bytes, Change, std::less<>>& changes() const { return changes_; }

 private:
  void EraseRange(const Mutation& mutation, Version version);

  std::map<Bytes, Change, std::less<>> changes_;
  std::map<Bytes, Bytes> erased_;  // disjoint ranges, start to end; an empty end is no bound
};

// `base` as it looks with the overlay's changes. Both must outlive it.
class OverlayView final : public View {
 public:
  // `version` is what version() says: the newest commit in the overlay, or the base's.
  OverlayView(View& base, const Overlay& overlay, Version version, Timestamp time)
      : base_(base), overlay_(overlay), version_(version), time_(time) {}

  Version version() const override { return version_; }
  Timestamp time() const override { return time_; }
  Status Get(std::span<const BytesView> keys, std::span<std::optional<Record>> out,
             const ReadOptions& options) override;
  Result<ScanPage> Scan(const ScanRequest& request) override;

 private:
  class Merge;

  View& base_;
  const Overlay& overlay_;
  Version version_;
  Timestamp time_;
};

// What an add makes of the record beneath it (nothing: absent), for a commit at `version`.
Record AddToRecord(std::optional<Record> beneath, int64_t delta, Version version);

}  // namespace kvarts
