// NameScan: goes through the names of a database that match a pattern, in pages. It looks only where names lie that
// begin as the pattern does, and where those with hash tags lie.
#pragma once

#include <functional>

#include "model/structure/structures.h"

namespace kvarts::structure {

class NameScan {
 public:
  // Names looked at in one call.
  static constexpr uint64_t kMaxPage = 1000;

  // The pattern is borrowed.
  NameScan(Structures& keys, uint32_t database, BytesView pattern)
      : keys_(keys), database_(database), pattern_(pattern) {}

  // Where an earlier scan of the same has stopped; any other place has no effect.
  void GoOnFrom(Bytes place) { place_ = std::move(place); }
  // Looks at so many more names, and visits those that match.
  Status Next(uint64_t count, const std::function<void(BytesView name, Type type)>& visit);
  bool done() const { return done_; }
  const Bytes& place() const { return place_; }

 private:
  Structures& keys_;
  const uint32_t database_;
  const BytesView pattern_;
  Bytes place_;
  bool done_ = false;
};

}  // namespace kvarts::structure
