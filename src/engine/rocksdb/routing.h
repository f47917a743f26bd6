// Which column family holds a key: the ranges that were given a profile, and `lookup` for everything else. Tables are
// immutable; an assignment makes a new one.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "engine/engine.h"

namespace rocksdb {
class ColumnFamilyHandle;
}

namespace kvarts {

constexpr size_t kProfiles = 3;

class Routing {
 public:
  struct Assignment {
    KeyRange range;
    Profile profile;
  };
  struct Segment {
    KeyRange range;
    Profile profile;
  };

  // Sorted and disjoint.
  explicit Routing(std::vector<Assignment> assignments) : assignments_(std::move(assignments)) {}

  Profile ProfileOf(BytesView key) const { return assignments_.empty() ? Profile::kLookup : Search(key); }
  // The range cut where profiles change, in key order.
  std::vector<Segment> Segments(const KeyRange& range) const;
  // This and one more; `invalid_argument` when it overlaps one that is there.
  Result<std::shared_ptr<const Routing>> With(const KeyRange& range, Profile profile) const;
  bool Has(const KeyRange& range, Profile profile) const;

  // As kept in the meta column family.
  Bytes Encode() const;
  static Result<std::shared_ptr<const Routing>> Decode(BytesView bytes);

 private:
  Profile Search(BytesView key) const;

  std::vector<Assignment> assignments_;
};

}  // namespace kvarts
