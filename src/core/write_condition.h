// What a write asks of what it meets: that there is something, or nothing, or a certain version. The same in every
// model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/record.h"

namespace kvarts {

struct WriteCondition {
  enum class Kind : uint8_t { kNone, kAbsent, kPresent, kVersionIn };
  Kind kind = Kind::kNone;
  std::vector<Version> versions = {};  // one of these

  bool HoldsFor(const std::optional<Record>& found) const;
};

// The version of what was found, for an error; "absent" if there is nothing.
std::string VersionText(const std::optional<Record>& found);

}  // namespace kvarts
