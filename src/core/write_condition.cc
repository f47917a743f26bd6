#include "core/write_condition.h"

#include <algorithm>

namespace kvarts {

bool WriteCondition::HoldsFor(const std::optional<Record>& found) const {
  switch (kind) {
    case Kind::kNone:
      return true;
    case Kind::kAbsent:
      return !found;
    case Kind::kPresent:
      return found.has_value();
    case Kind::kVersionIn:
      return found && std::ranges::find(versions, found->header.version) != versions.end();
  }
  return false;
}

std::string VersionText(const std::optional<Record>& found) {
  return found ? found->header.version.ToString() : "absent";
}

}  // namespace kvarts
